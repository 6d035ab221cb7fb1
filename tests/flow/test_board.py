import json
import re

import pytest
from amaranth_boards.ulx3s import ULX3S_25F_Platform

from coprime.catalog import family_named
from coprime.flow import board as flow
from coprime.flow.board import BOARDS, board_named, write_bitstream
from coprime.flow.tools import ToolError
from coprime.soc.self_test import build_board

# Which device a bitstream is for (FPGA-TN-02039, table of IDCODEs).
IDCODES = {"ulx3s": 0x41111043, "ulx3s-12f": 0x21111043, "ulx3s-85f": 0x41113043}
VERIFY_ID = 0xE2

LIGHT = """
module coprime_light(input clk, input button, output [7:0] led);
  reg [7:0] count = 8'hA5;
  always @(posedge clk) if (button) count <= count + 1;
  assign led = count;
endmodule
"""


def idcode(bitstream):
    """What the VERIFY_ID command in a bitstream names."""
    data = bitstream.read_bytes()
    start = data.index(b"\xff\xff\xbd\xb3") + 4  # the preamble
    at = data.index(bytes([VERIFY_ID, 0, 0, 0]), start)
    return int.from_bytes(data[at + 4 : at + 8])


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name != "ulx3s" else []) for name in IDCODES],
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
    assert result.utilisation["TRELLIS_FF"] == 8
    assert result.utilisation["TRELLIS_IO"] == 10
    assert result.device == BOARDS[name].device.title
    assert (tmp_path / "new" / "coprime_light.v").read_text() == LIGHT
    assert json.loads(json.dumps(result.record()))["board"] == name
    assert set(result.tools) == {"amaranth", "yosys", "nextpnr-ecp5"}


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
        (resource.name, resource.number): resource.ios[0].names
        for resource in ULX3S_25F_Platform.resources
        if resource.name in ("clk25", "button_fire", "led")
    }
    assert [sites["clk"]] == platform["clk25", 0]
    assert [sites["button"]] == platform["button_fire", 0]
    for number in range(8):
        assert [sites[f"led[{number}]"]] == platform["led", number]
    assert len(sites) == len(set(sites.values())) == 10
    assert text.count("IO_TYPE=LVCMOS33") == 10
    assert 'IOBUF PORT "button" IO_TYPE=LVCMOS33 PULLMODE=DOWN;' in text
    assert text.endswith('FREQUENCY PORT "clk" 25 MHZ;\n')


def test_no_pin_is_inverted():
    """Ports are given to pins as they are."""
    for resource in ULX3S_25F_Platform.resources:
        if resource.name in ("clk25", "button_fire", "led"):
            assert not resource.ios[0].invert


def test_unknown_board():
    assert board_named("ulx3s").device.title == "LFE5U-25F-6 CABGA381"
    with pytest.raises(ValueError, match="no board is called 'arty'; there are: ulx3s, "):
        board_named("arty")


def test_unknown_port(tmp_path):
    text = "module coprime_port(input clk, input fire, output [7:0] led);"
    text += " assign led = {8{fire}}; endmodule"
    with pytest.raises(ValueError, match="ulx3s has no port 'fire'; it has: clk, button, led"):
        write_bitstream(text, "coprime_port", BOARDS["ulx3s"], tmp_path)
    assert not list(tmp_path.iterdir())


def test_no_clock(tmp_path):
    text = "module coprime_wire(input button, output [7:0] led); assign led = button; endmodule"
    with pytest.raises(ToolError, match="must have the clock clk and no other; it has 0"):
        write_bitstream(text, "coprime_wire", BOARDS["ulx3s"], tmp_path)
    assert not list(tmp_path.iterdir())


def test_too_slow_for_the_clock(monkeypatch, tmp_path):
    monkeypatch.setattr(flow, "clock_mhz", lambda report: 24.9)
    with pytest.raises(ToolError, match=r"no more than 24\.9 MHz, below the 25 MHz of ulx3s"):
        write_bitstream(LIGHT, "coprime_light", BOARDS["ulx3s"], tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_self_test_on_the_board(tmp_path):
    """Map, place and route takes half a minute, once."""
    choice = family_named("fdfm").choose({})
    result = build_board(choice, BOARDS["ulx3s"], tmp_path)
    assert idcode(result.bitstream) == IDCODES["ulx3s"]
    assert result.fmax_mhz > 2 * result.clock_mhz
    assert result.utilisation["MULT18X18D"] == 1
    assert result.utilisation["DP16KD"] == 2 + 1
    assert result.utilisation["TRELLIS_IO"] == 10
    text = (tmp_path / "coprime_fdfm_self_test.v").read_text()
    assert "TEST KEY" in text.splitlines()[1]
