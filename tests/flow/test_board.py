import hashlib
import json
import re
from dataclasses import replace

import pytest
from amaranth_boards.ulx3s import ULX3S_25F_Platform

from coprime.catalog import family_named
from coprime.flow import board as flow
from coprime.flow import mapping, routing
from coprime.flow.board import write_bitstream
from coprime.flow.boards import BOARDS, board_named
from coprime.flow.tool_errors import ToolError
from coprime.soc.board_files import build_board

# Which device a bitstream is for (FPGA-TN-02039, table of IDCODEs).
IDCODES = {"ulx3s": 0x41111043, "ulx3s-12f": 0x21111043, "ulx3s-85f": 0x41113043}
VERIFY_ID = 0xE2

LIGHT = """
module coprime_light(
  input clk, input button, input rx, output tx,
  output led_busy, led_passed, led_failed, led_session, led_clock
);
  reg [5:0] count = 6'h25;
  always @(posedge clk) if (button) count <= count + 1;
  assign {tx, led_busy, led_passed, led_failed, led_session, led_clock} = count ^ {rx, 5'b0};
endmodule
"""


def idcode(bitstream):
    """What the VERIFY_ID command in a bitstream names."""
    data = bitstream.read_bytes()
    start = data.index(b"\xff\xff\xbd\xb3") + 4  # the preamble
    at = data.index(bytes([VERIFY_ID, 0, 0, 0]), start)
    return int.from_bytes(data[at + 4 : at + 8])


@pytest.mark.route
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.route] if name != "ulx3s" else []) for name in IDCODES],
)
def test_bitstream(tmp_path, name):
    result = write_bitstream(LIGHT, "coprime_light", BOARDS[name], tmp_path / "new")
    assert [path.name for path in result.files] == [
        "coprime_light.bit",
        "coprime_light.v",
        "coprime_light.lpf",
    ]
    assert idcode(result.bitstream) == IDCODES[name]
    assert result.clock_mhz == 25
    assert result.fmax_mhz > 100
    assert result.utilisation["TRELLIS_FF"] == 6
    assert result.utilisation["TRELLIS_IO"] == len(BOARDS[name].pins) == 9
    assert result.size == result.bitstream.stat().st_size
    assert result.sha256 == hashlib.sha256(result.bitstream.read_bytes()).hexdigest()
    assert result.device == BOARDS[name].device.title
    assert (tmp_path / "new" / "coprime_light.v").read_text() == LIGHT
    assert json.loads(json.dumps(result.record()))["board"] == name
    assert set(result.tools) == {"amaranth", "yosys", "nextpnr-ecp5"}


@pytest.mark.route
def test_same_every_time(monkeypatch, tmp_path):
    first = write_bitstream(LIGHT, "coprime_light", BOARDS["ulx3s"], tmp_path / "first")
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path / "cache"))
    second = write_bitstream(LIGHT, "coprime_light", BOARDS["ulx3s"], tmp_path / "second")
    assert first.bitstream.read_bytes() == second.bitstream.read_bytes()


def test_pins_are_the_boards():
    """Each port, where Amaranth's own platform has it."""
    text = BOARDS["ulx3s"].constraints
    sites = dict(re.findall(r'LOCATE COMP "(.+)" SITE "(.+)";', text))
    platform = {
        (resource.name, resource.number): resource.ios for resource in ULX3S_25F_Platform.resources
    }
    assert [sites["clk"]] == platform["clk25", 0][0].names
    assert [sites["button"]] == platform["button_fire", 0][0].names
    wires = {part.name: part.ios[0].names for part in platform["uart", 0] if hasattr(part, "ios")}
    assert ([sites["rx"]], [sites["tx"]]) == (wires["rx"], wires["tx"])
    assert [sites["led_passed"]] == platform["led", 1][0].names
    assert len(sites) == len(set(sites.values())) == 9
    assert text.count("IO_TYPE=LVCMOS33") == 9
    assert 'IOBUF PORT "button" IO_TYPE=LVCMOS33 PULLMODE=DOWN;' in text
    assert text.endswith('FREQUENCY PORT "clk" 25 MHZ;\n')


@pytest.mark.parametrize("name", BOARDS)
def test_every_board(name):
    """Each pin once, wires, a clock that a UART divides; what it takes as a design exists."""
    board = BOARDS[name]
    assert name == board.name
    assert {"clk", "rx", "tx", "button", "led_passed"} <= set(board.pins)
    sites = [pin.site for pin in board.pins.values()]
    assert len(sites) == len(set(sites))
    assert family_named(board.family).choose(board.values).values["max_bits"] == 2048
    for pin in board.pins.values():
        assert re.search(rf"\b{pin.site}\b", board.constraints)


def test_unknown_board():
    assert board_named("ulx3s").device.title == "LFE5U-25F-6 CABGA381"
    with pytest.raises(ValueError, match="no board is called 'arty'; there are: ulx3s, "):
        board_named("arty")


def test_unknown_port(tmp_path):
    text = "module coprime_port(input clk, input fire, output led_busy);"
    text += " assign led_busy = fire; endmodule"
    with pytest.raises(
        ValueError, match="ulx3s has no port 'fire'; it has: clk, button, rx, tx, led_"
    ):
        write_bitstream(text, "coprime_port", BOARDS["ulx3s"], tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.route
def test_no_clock(tmp_path):
    lines = [line for line in LIGHT.replace("input clk, ", "").splitlines() if "reg" not in line]
    text = "\n".join(line for line in lines if "always" not in line)
    text = text.replace("light", "wire").replace("= count ^", "=")
    with pytest.raises(ToolError, match="must have the clock clk and no other; it has 0"):
        write_bitstream(text, "coprime_wire", BOARDS["ulx3s"], tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.route
def test_too_slow_for_the_clock(monkeypatch, tmp_path):
    monkeypatch.setattr(flow, "clock_mhz", lambda report: 24.9)
    sentence = (
        "the design runs on ulx3s at no more than 24.9 MHz, below its clock of 25 MHz;"
        " ask for --clock 19.7368421053 or less"
    )
    with pytest.raises(ToolError, match=f"^{sentence}$"):
        write_bitstream(LIGHT, "coprime_light", BOARDS["ulx3s"], tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.route(quick=1)
@pytest.mark.parametrize("crashes", [1, 3])
def test_another_seed_where_nextpnr_crashes(tmp_path, monkeypatch, crashes):
    def trapped(what, function, arguments, folder, limit_s):
        assert limit_s == 0
        seeds.append(arguments[arguments.index("--seed") + 1])
        if len(seeds) <= crashes:
            raise ToolError(
                "nextpnr failed with status 1:\n  wasm trap: out of bounds memory access"
            )
        raise ToolError("another failure")

    other = LIGHT.replace("6'h25", f"6'h3{crashes}")  # not in the cache
    seeds = []
    monkeypatch.setattr(routing, "_run", trapped)
    words = "another failure" if crashes == 1 else "wasm trap"
    with pytest.raises(ToolError, match=words):
        write_bitstream(other, "coprime_light", BOARDS["ulx3s"], tmp_path)
    assert seeds == ["1", "2", "3"][: len(seeds)] and len(seeds) == min(crashes + 1, 3)


def test_twice_as_much_state_as_there_is_room_for_is_not_even_mapped(tmp_path, monkeypatch):
    """The bits of registers and memories, those of instances included."""
    text = """
    module store(input clk, input [12:0] at, input d, output reg [16:0] q);
      reg [16:0] words [0:7499];
      always @(posedge clk) begin words[at] <= {17{d}}; q <= words[at]; end
    endmodule
    module coprime_many(input clk, input rx, output tx);
      wire [16:0] q, r; reg [12:0] at; assign tx = ^q ^ ^r;
      always @(posedge clk) at <= {at, rx};
      store a(clk, at, rx, q); store b(clk, ~at, rx, r);
    endmodule
    """
    real, seen = mapping.run_yosys, []
    monkeypatch.setattr(mapping, "run_yosys", lambda *all_: (seen.append(all_), real(*all_)))
    state = 2 * (17 * 7500 + 17) + 13
    ulx3s = BOARDS["ulx3s"]
    # Room for 18,432 bits in a block RAM, and for 16 + 1 with each LUT.
    board = replace(ulx3s, device=replace(ulx3s.device, luts=4_000, block_rams=1))
    with pytest.raises(ToolError, match=f"registers and memories of {state:,} bits, .* 86,432; "):
        write_bitstream(text, "coprime_many", board, tmp_path)
    assert len(seen) == 1
    assert not list(tmp_path.iterdir())


def test_what_does_not_fit_is_not_placed(tmp_path, monkeypatch):
    """After the mapping, which counts it."""
    product = "(* keep *) reg [31:0] p{0}; always @(posedge clk) p{0} <= p{0}[15:0] * p{0}[31:16];"
    products = " ".join(product.format(k) for k in range(29))
    text = f"module coprime_many(input clk, output tx); {products} assign tx = p0[0]; endmodule"
    monkeypatch.setattr(flow, "nextpnr", None)
    sentence = (
        "the design does not fit LFE5U-25F-6 CABGA381: it needs 29 DSP slices, and it has 28;"
        " the next larger device is LFE5U-45F"
    )
    with pytest.raises(ToolError, match=f"^{sentence}$"):
        write_bitstream(text, "coprime_many", BOARDS["ulx3s"], tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.route
def test_self_test_on_the_board(tmp_path):
    """Map, place and route takes half a minute, once."""
    choice = family_named("fdfm").choose({})
    result = build_board(choice, BOARDS["ulx3s"], tmp_path)
    assert idcode(result.bitstream) == IDCODES["ulx3s"]
    assert 0.7 < result.clock_mhz / result.fmax_mhz < 0.95
    assert result.utilisation["EHXPLLL"] == 1
    assert result.utilisation["MULT18X18D"] == 1
    assert result.utilisation["DP16KD"] == 2 + 1 + 1 + 1  # engine, buffer, bridge, self-test
    assert result.utilisation["TRELLIS_IO"] == 9
    text = (tmp_path / "coprime_fdfm_on_ulx3s.v").read_text()
    assert "TEST KEY" in "".join(text.splitlines()[:3])
