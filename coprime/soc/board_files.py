"""The folder for a board: bitstream or project, Verilog, constraints, report, and a README."""

import json
from dataclasses import dataclass
from pathlib import Path
from string import Template

from coprime.catalog import Choice
from coprime.flow.board import Board, BoardResult, write_bitstream
from coprime.flow.files import write_file
from coprime.soc.board_design import board_name, board_verilog

__all__ = ["BAUD", "LEDS", "BoardProject", "build_board", "five_commands", "meaning"]

BAUD = 115_200
"""Of the serial port if nothing else is said."""

LEDS = {
    "led_busy": "the engine works",
    "led_passed": "the self-test has passed, and no host has connected since",
    "led_failed": "the self-test has failed, or the last command ended with an error",
    "led_session": "a host has opened a session",
    "led_clock": "blinks while there is a clock",
}
"""What each LED shows."""


@dataclass(frozen=True, kw_only=True)
class BoardProject:
    """A project for the vendor's tools, where there is no open flow."""

    board: str
    device: str
    clock_mhz: float
    files: tuple[Path, ...]
    """The script first."""

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return self.__dict__ | {"files": [str(path) for path in self.files]}


def build_board(
    choice: Choice, board: Board, folder: Path, *, baud: int = BAUD, bits: int | None = None
) -> BoardResult | BoardProject:
    """Write a design's bitstream for a board into `folder`, with all that belongs to it.

    `folder` is made if need be, and gets the bitstream, its Verilog, its constraints, report.json
    and README.md; for a board without an open flow, the script of a project instead of bitstream
    and report. `baud` and `bits` are as `board_verilog` takes them.

    Raises ValueError for a length or a speed out of range, or a choice that takes random bytes;
    ToolError if a tool fails, the design does not fit or is too slow for the board's clock; OSError
    if the files cannot be written.
    """
    verilog = board_verilog(choice, board, baud=baud, bits=bits)
    if not board.flow.nextpnr:
        return _write_project(verilog, choice, board, folder, baud)
    result = write_bitstream(verilog, board_name(choice, board), board, folder)
    write_file(folder / "README.md", _readme(choice, board, baud))
    report = result.record() | {
        "bitstream": result.bitstream.name,
        "files": [path.name for path in result.files],
        "command": _synth(choice, board, baud),
    }
    write_file(folder / "report.json", json.dumps(report, indent=2) + "\n")
    return result


_MMCM = Template("""\
// $oscillator MHz of the board become $clock MHz of the design.
module ${name}_clocked (
$ports
);
  wire generated, feedback, clock;
  MMCME2_BASE #(
    .CLKIN1_PERIOD($period), .CLKFBOUT_MULT_F($multiplier), .CLKOUT0_DIVIDE_F($divider)
  ) generator (
    .CLKIN1(clk), .CLKFBIN(feedback), .CLKFBOUT(feedback), .CLKOUT0(generated), .PWRDWN(1'b0),
    .RST(1'b0), .CLKFBOUTB(), .CLKOUT0B(), .CLKOUT1(), .CLKOUT1B(), .CLKOUT2(), .CLKOUT2B(),
    .CLKOUT3(), .CLKOUT3B(), .CLKOUT4(), .CLKOUT5(), .CLKOUT6(), .LOCKED()
  );
  BUFG buffer (.I(generated), .O(clock));
  $name design (
    .clk(clock),
$connections
  );
endmodule
""")
_PROJECT = Template("""\
# $name on $title, as a Vivado project: synthesis, implementation and bitstream.
#
#   vivado -mode batch -source $name.tcl
#
# The project goes into the folder vivado beside this file, the bitstream is $name.bit.

set here [file dirname [file normalize [info script]]]
create_project -force $name [file join $$here vivado] -part $part
add_files [file join $$here $name.v]
add_files -fileset constrs_1 [file join $$here $name.xdc]
set_property top ${name}_clocked [current_fileset]
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} { error "implementation failed" }
if {[get_property STATS.WNS [get_runs impl_1]] < 0} { error "the design is too slow" }
file copy -force [file join [get_property DIRECTORY [get_runs impl_1]] ${name}_clocked.bit] \\
    [file join $$here $name.bit]
""")
_MULTIPLIER = 10  # the MMCM's oscillator runs at that many times the board's


def _write_project(
    verilog: str, choice: Choice, board: Board, folder: Path, baud: int
) -> BoardProject:
    name = board_name(choice, board)
    ports = [f"  {'input' if p in ('clk', 'rx', 'button') else 'output'} {p}" for p in board.pins]
    values = {
        "name": name,
        "title": board.title,
        "part": board.device.title,
        "oscillator": f"{board.oscillator_mhz:g}",
        "clock": f"{board.clock_mhz:g}",
        "period": f"{1000 / board.oscillator_mhz:.3f}",
        "multiplier": f"{_MULTIPLIER:.3f}",
        "divider": f"{_MULTIPLIER * board.oscillator_mhz / board.clock_mhz:.3f}",
        "ports": ",\n".join(ports),
        "connections": ",\n".join(f"    .{port}({port})" for port in board.pins if port != "clk"),
    }
    files = {
        f"{name}.tcl": _PROJECT.substitute(values),
        f"{name}.v": verilog + "\n" + _MMCM.substitute(values),
        f"{name}.xdc": board.constraints,
        "README.md": _readme(choice, board, baud),
    }
    for path, text in files.items():
        write_file(folder / path, text)
    return BoardProject(
        board=board.name,
        device=board.device.title,
        clock_mhz=board.clock_mhz,
        files=tuple(folder / path for path in files),
    )


def five_commands(choice: Choice, board: Board, baud: int = BAUD, folder: str = "DIR") -> list[str]:
    """From a board to a decrypted message."""
    device = "serial:/dev/ttyUSB0" + (f",{baud}" if baud != BAUD else "")
    return [
        _synth(choice, board, baud, folder),
        f"coprime program --board {board.name} {folder}",
        "coprime rsa keygen -o key.pem",
        "echo Hello | coprime rsa encrypt --key key.pem -o message.rsa",
        f"coprime rsa decrypt --key key.pem --in message.rsa --device {device}",
    ]


def _synth(choice: Choice, board: Board, baud: int, folder: str = "DIR") -> str:
    speed = f" --baud {baud}" if baud != BAUD else ""
    return f"{choice.command('synth')} --board {board.name}{speed} -o {folder}"


def _readme(choice: Choice, board: Board, baud: int) -> str:
    commands = five_commands(choice, board, baud, folder=".")
    vivado = (
        []
        if board.flow.nextpnr
        else [f"vivado -mode batch -source {board_name(choice, board)}.tcl"]
    )
    lines = [
        f"# {choice.family.name} on {board.title}",
        "",
        f"An accelerator at a serial port of {baud:,} baud, clock {board.clock_mhz:g} MHz.",
        "The key of its self-test is a TEST KEY, made from a seed that is public.",
        "",
        f"{board.serial}",
        *board.notes,
        "",
        *(f"    {line}" for line in (commands[0], *vivado, *commands[1:])),
        "",
        "/dev/ttyUSB0 stands for the board's serial port: yours may have another name.",
        "",
        "| pin | port | on the board | |",
        "|---|---|---|---|",
        *(
            f"| {pin.site} | {port} | {pin.label} | {meaning(port)} |"
            for port, pin in board.pins.items()
        ),
        "",
        f"Pins are from {board.source}. No bitstream of Coprime has been loaded on this board yet.",
        "",
    ]
    return "\n".join(lines)


def meaning(port: str) -> str:
    """What a port of a board is for."""
    other = {
        "clk": "the clock",
        "button": "resets everything, and starts the self-test when it is released",
        "rx": "serial, from the host",
        "tx": "serial, to the host",
    }
    return LEDS.get(port) or other[port]
