import pytest

from coprime.catalog import family_named
from coprime.device.accelerator import Accelerator
from coprime.device.serial import SerialDevice
from coprime.flow.board import Board
from coprime.flow.boards import BOARDS
from coprime.flow.targets import FLOWS
from coprime.rsa import keys
from coprime.soc.board_design import board_bench
from coprime.soc.board_files import BoardProject, build_board
from coprime.soc.simulated_board import SimulatedBoard, SimulatedPort

COMPACT = family_named("compact").choose({"max_bits": "2048"})


def test_project(tmp_path):
    """For Vivado: part, pins, clock generator, and who makes the bitstream."""
    board = BOARDS["arty-a7-35"]
    result = build_board(COMPACT, board, tmp_path)
    assert isinstance(result, BoardProject)
    name = "coprime_compact_on_arty_a7_35"
    assert [path.name for path in result.files] == [
        *(f"{name}.tcl", f"{name}.v", f"{name}.xdc", "README.md"),
    ]
    script = (tmp_path / f"{name}.tcl").read_text()
    assert f"-part {board.device.title}\n" in script
    assert f"set_property top {name}_clocked" in script
    verilog = (tmp_path / f"{name}.v").read_text()
    assert ".CLKFBOUT_MULT_F(10.000), .CLKOUT0_DIVIDE_F(20.000)" in verilog
    constraints = (tmp_path / f"{name}.xdc").read_text()
    assert "{PACKAGE_PIN E3 IOSTANDARD LVCMOS33} [get_ports clk]" in constraints
    assert "-period 10.000 [get_ports clk]" in constraints
    readme = (tmp_path / "README.md").read_text()
    assert f"vivado -mode batch -source {name}.tcl" in readme
    assert "No bitstream of Coprime has been loaded on this board yet." in readme


def test_every_target_but_none_has_a_board():
    assert {board.target for board in BOARDS.values()} == set(FLOWS)


def simulated(board: Board, baud: int) -> SimulatedPort:
    top, verilog = board_bench(COMPACT, board, baud=baud)
    clock = round(board.clock_mhz * 1e6)
    return SimulatedPort(SimulatedBoard(verilog, top, clock=clock, baud=baud))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, baud",
    [("icebreaker", 3_000_000), ("icebreaker", 115_200), ("ulx3s", 3_000_000)],
)
def test_board_decrypts(name, baud):
    """A ciphertext of 2048 bits, after the self-test has been interrupted by the session."""
    key = keys.generate(2048, seed=1)
    with SerialDevice(simulated(BOARDS[name], baud)) as device:
        accelerator = Accelerator(device)
        cipher = pow(5, key.e, key.n)
        accelerator.load_private(key)
        assert accelerator.private(cipher).value == 5
