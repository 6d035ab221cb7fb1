import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from coprime.catalog import choose_calls, family_named
from coprime.cli import parser as build_parser
from coprime.device.accelerator import Accelerator
from coprime.device.serial import SerialDevice
from coprime.flow.board import Board, BoardResult
from coprime.flow.boards import BOARDS
from coprime.flow.files import write_file
from coprime.flow.targets import FLOWS
from coprime.flow.tool_errors import ToolError
from coprime.rsa import keys
from coprime.soc import board_design, board_files
from coprime.soc.board_design import board_bench, board_verilog
from coprime.soc.board_files import BoardProject, build_board
from coprime.soc.simulated_board import SimulatedBoard, SimulatedPort

COMPACT = family_named("compact").choose({"max_bits": "2048"})


def test_project(tmp_path, monkeypatch):
    """For Vivado: part, pins, clock generator, and who makes the bitstream. That it fits is seen by
    mapping it, which here takes long."""
    board = BOARDS["arty-a7-35"]
    checked = []
    monkeypatch.setattr(board_files, "check_mapped", lambda *given: checked.append(given[1:]))
    result = build_board(COMPACT, board, tmp_path)
    assert isinstance(result, BoardProject)
    assert result.clock_mhz == 50
    name = "coprime_compact_on_arty_a7_35"
    assert [path.name for path in result.files] == [
        *(f"{name}.tcl", f"{name}.v", f"{name}.xdc", "README.md"),
    ]
    script = (tmp_path / f"{name}.tcl").read_text()
    assert f"-part {board.device.title}\n" in script
    assert f"set_property top {name} " in script
    assert checked == [(name, board)]
    verilog = (tmp_path / f"{name}.v").read_text()
    assert re.search(r"CLKIN1_PERIOD\(10\.0\),\s*\.DIVCLK_DIVIDE\(1\)", verilog)
    assert re.search(r"CLKFBOUT_MULT\(12\),\s*\.CLKOUT0_DIVIDE\(24\)", verilog)
    constraints = (tmp_path / f"{name}.xdc").read_text()
    assert "{PACKAGE_PIN E3 IOSTANDARD LVCMOS33} [get_ports clk]" in constraints
    assert "-period 10.000 [get_ports clk]" in constraints
    readme = (tmp_path / "README.md").read_text()
    assert f"vivado -mode batch -source {name}.tcl" in readme
    assert "clock 50 MHz, made from the board's 100 MHz." in readme
    assert "No bitstream of Coprime has been loaded on this board yet." in readme


def test_every_target_but_none_has_a_board():
    assert {board.target for board in BOARDS.values()} == set(FLOWS)


@pytest.mark.route
def test_project_that_does_not_fit(tmp_path):
    """Mapping shows it, before anything is written."""
    board = replace(BOARDS["arty-a7-35"], device=replace(BOARDS["arty-a7-35"].device, luts=1000))
    with pytest.raises(ToolError, match=r"does not fit xc7a35.*, and it has 1,000"):
        build_board(COMPACT, board, tmp_path)
    assert not list(tmp_path.iterdir())


# --- The clock ------------------------------------------------------------------------------------


@pytest.fixture
def light(monkeypatch):
    """Boards with a small design, without routing: each design as it was to be routed."""
    routed = []

    def route(text, name, board):
        routed.append(text)
        return 83.65

    def write(text, name, board, folder, setting):
        routed.append(text)
        bitstream = folder / f"{name}.bit"
        write_file(bitstream, "")
        return BoardResult(
            board=board.name,
            device="",
            clock_mhz=float(board.design_mhz(setting)),
            fmax_mhz=78.5,
            utilisation={},
            bitstream=bitstream,
            size=0,
            sha256="",
            files=(bitstream,),
            tools={},
        )

    monkeypatch.setattr(board_files, "routed_mhz", route)
    monkeypatch.setattr(board_files, "write_bitstream", write)
    monkeypatch.setattr(
        board_files, "board_verilog", lambda choice, board, **given: (board.name, given)
    )
    return routed


def test_default_clock(light, tmp_path):
    """Routed once at the oscillator's clock, and again at 0.8 of what this allows."""
    board = BOARDS["ulx3s"]
    result = build_board(COMPACT, board, tmp_path)
    (_, first), (_, second) = light
    assert first["setting"] is None
    assert second["setting"].mhz == Fraction(200, 3) <= Fraction("0.8") * Fraction("83.65")
    assert result.clock_mhz == pytest.approx(66.6667)
    assert (
        "66.6666666667 MHz, made from the board's 25 MHz." in (tmp_path / "README.md").read_text()
    )
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["command"].endswith("--board ulx3s -o DIR")


@pytest.mark.parametrize(
    ("family", "settings", "commands"),
    [
        ("lattice", {}, 5),
        ("lattice", {"secrets": "stay"}, 2),
        ("lattice", {"sets": "ml-kem-768"}, 2),
        ("shake", {}, 2),
    ],
)
def test_engines_of_byte_strings(light, tmp_path, family, settings, commands):
    """Of ML-KEM's the README leads to a shared secret, if that can be read."""
    build_board(choose_calls(family, settings), BOARDS["ulx3s"], tmp_path)
    text = (tmp_path / "README.md").read_text()
    shown = [line for line in text.splitlines() if line.startswith("    coprime ")]
    assert len(shown) == commands and "TEST KEYS" in text
    assert shown[0].startswith(f"    coprime synth {family} -p slices=8")
    for line in shown[2:]:
        assert line.startswith("    coprime ml-kem ")
        _, *words = line.split()
        build_parser(["ml-kem"], words).parse_args(words)


@pytest.mark.parametrize(
    "clock, made", [("50", "50"), ("66.67", "66.66666666666667"), ("25", "25")]
)
def test_asked_clock(light, tmp_path, clock, made):
    """Routed once. The oscillator's own is without a generator."""
    board = BOARDS["ulx3s"]
    result = build_board(COMPACT, board, tmp_path, clock=Fraction(clock))
    ((_, only),) = light
    assert (only["setting"] is None) == (clock == "25")
    assert result.clock_mhz == float(made)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["command"].endswith(f"--board ulx3s --clock {clock} -o DIR")


def test_clock_that_cannot_be_made(light, tmp_path):
    """Before anything is routed."""
    with pytest.raises(ValueError, match=r"^icebreaker cannot make .*: 19\.875 and 20\.25$"):
        build_board(COMPACT, BOARDS["icebreaker"], tmp_path, clock=Fraction(20))
    with pytest.raises(ValueError, match=r"is its oscillator's, 12 MHz, not 50"):
        build_board(COMPACT, BOARDS["crosslink-nx-evn"], tmp_path, clock=Fraction(50))
    assert not light


@pytest.mark.parametrize(
    "name, fmax, mhz",
    [
        ("ulx3s", 83.65, "66.6667"),
        ("ulx3s", 30, "25"),  # slower than 0.8 of it, and allowed
        ("ulx3s", 24.9, "19.8"),
        ("icebreaker", 25.8, "20.625"),
        ("crosslink-nx-evn", 134.8, "12"),  # there is no generator
        ("orangecrab", 112.9, "90"),
    ],
)
def test_default_setting(name, fmax, mhz):
    board = BOARDS[name]
    setting = board.default_setting(fmax)
    assert float(board.design_mhz(setting)) == pytest.approx(float(mhz), rel=0.005)
    assert board.design_mhz(setting) <= fmax or setting is None


def test_baud_follows_the_clock(monkeypatch):
    """62.5 MHz by 115,200 baud are 542.5 cycles in steps of an eighth, 25 MHz are 217."""
    made = []
    monkeypatch.setattr(board_design, "to_verilog", lambda design, name, **_: made.append(design))
    board = BOARDS["ulx3s"]
    choice = family_named("fdfm").choose({"max_bits": "64"})
    for mhz in ("62.5", "25"):
        board_verilog(choice, board, baud=115_200, setting=board.clock_setting(Fraction(mhz)))
    assert [design.accelerator.bridge.receiver.divisor for design in made] == [542.5, 217]
    assert [design.generator.setting and design.generator.setting.mhz for design in made] == [
        62.5,
        None,
    ]
    with pytest.raises(ValueError, match="baud must be at most 6250000 with a clock of 25000000"):
        board_verilog(choice, board, baud=9_000_000)
    board_verilog(choice, board, baud=9_000_000, setting=board.clock_setting(Fraction("62.5")))


def simulated(board: Board, baud: int, clock: Fraction | None = None) -> SimulatedPort:
    setting = None if clock is None else board.clock_setting(clock)
    top, verilog = board_bench(COMPACT, board, baud=baud, setting=setting)
    hertz = int(board.design_mhz(setting) * 10**6)
    return SimulatedPort(SimulatedBoard(verilog, top, clock=hertz, baud=baud))


@pytest.mark.route
@pytest.mark.parametrize(
    "name, baud, clock",
    [
        ("icebreaker", 3_000_000, None),
        ("icebreaker", 115_200, None),
        ("ulx3s", 3_000_000, Fraction(200, 3)),
    ],
)
def test_board_decrypts(name, baud, clock):
    """A ciphertext of 2048 bits, after the self-test has been interrupted by the session."""
    key = keys.generate(2048, seed=1)
    with SerialDevice(simulated(BOARDS[name], baud, clock)) as device:
        accelerator = Accelerator(device)
        cipher = pow(5, key.e, key.n)
        accelerator.load_private(key)
        assert accelerator.private(cipher).value == 5
