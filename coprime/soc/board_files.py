"""The folder for a board: bitstream or project, Verilog, constraints, report, and a README."""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from coprime.bus.serial.protocol import BAUD
from coprime.catalog import CallChoice, Choice, ClusterChoice
from coprime.cells.clock_ranges import ClockSetting
from coprime.flow.board import (
    Board,
    BoardResult,
    check_mapped,
    routed_mhz,
    stampable,
    write_bitstream,
)
from coprime.flow.files import write_file
from coprime.flow.parts import FRONT_END, NODE
from coprime.flow.templates import filled
from coprime.pqc import ml_kem
from coprime.soc.board_cluster import PORTS, board_cluster_verilog
from coprime.soc.board_design import board_name, board_verilog

_TEMPLATES = Path(__file__).with_name("templates")

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
    files: tuple[Path, ...]  # the script first

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return self.__dict__ | {"files": [str(path) for path in self.files]}


def build_board(
    choice: Choice | CallChoice,
    board: Board,
    folder: Path,
    *,
    baud: int = BAUD,
    bits: int | None = None,
    clock: Fraction | None = None,
) -> BoardResult | BoardProject:
    """Write a design's bitstream for a board into `folder`, with all that belongs to it.

    `folder` is made if need be, and gets the bitstream, its Verilog, its constraints, report.json
    and README.md; for a board without an open flow, the script of a project instead of bitstream
    and report. `baud` and `bits` are as `board_verilog` takes them. `clock` is the design's in MHz,
    which `Board.clock_setting` makes. By default it is that of the board's project; or the design
    is routed twice: once at the oscillator's clock, to see how fast it is, and once at that of
    `Board.default_setting`.

    Raises ValueError for a length, a speed or a clock out of range, or an engine of numbers that
    takes random bytes; ToolError if a tool fails, the design does not fit or is too slow for its
    clock; OSError if the files cannot be written.
    """
    name = board_name(choice, board)
    mhz = clock or Fraction(str(board.clock_mhz)) or board.design_mhz(None)
    setting = board.clock_setting(mhz)
    verilog = board_verilog(choice, board, baud=baud, bits=bits, setting=setting)
    if not board.flow.nextpnr:
        readme = _readme(choice, board, baud, clock, setting)
        return _write_project(verilog, choice, board, folder, readme, setting)
    if clock is None and board.generates_clock:
        setting = board.default_setting(routed_mhz(verilog, name, board))
        verilog = board_verilog(choice, board, baud=baud, bits=bits, setting=setting)
    result = write_bitstream(verilog, name, board, folder, setting)
    write_file(folder / "README.md", _readme(choice, board, baud, clock, setting))
    _write_report(result, _synth(choice, board, baud, "DIR", clock), folder)
    return result


def build_board_cluster(
    choice: ClusterChoice, board: Board, folder: Path, *, baud: int = BAUD
) -> BoardResult:
    """Stamp a cluster for a board, and write the same files as `build_board`.

    Raises ValueError for a speed out of range or a board whose fabric stamping does not know;
    ToolError if a tool fails, the cluster does not fit or is too slow for the board's clock;
    OSError if the files cannot be written.
    """
    stampable(board)  # before anything that takes longer
    verilog = board_cluster_verilog(choice, board, baud=baud)
    name = board_name(choice, board)
    result = write_bitstream(verilog, name, board, folder, repeated=(FRONT_END, NODE))
    values = {"choice": choice, "board": board, "baud": baud, "meaning": meaning, "ports": PORTS}
    commands = [
        f"{_synth(choice, board, baud, '.', None)} --stamp",
        f"coprime program --board {board.name} .",
    ]
    readme = filled((_TEMPLATES,), "README_cluster.md.j2", **values, commands=commands)
    write_file(folder / "README.md", readme)
    _write_report(result, f"{_synth(choice, board, baud, 'DIR', None)} --stamp", folder)
    return result


def _write_report(result: BoardResult, command: str, folder: Path) -> None:
    report = result.record() | {
        "bitstream": result.bitstream.name,
        "files": [path.name for path in result.files],
        "command": command,
    }
    write_file(folder / "report.json", json.dumps(report, indent=2) + "\n")


def _write_project(
    verilog: str,
    choice: Choice | CallChoice,
    board: Board,
    folder: Path,
    readme: str,
    setting: ClockSetting | None,
) -> BoardProject:
    name = board_name(choice, board)
    check_mapped(verilog, name, board)
    files = {
        f"{name}.tcl": filled((_TEMPLATES,), "project.tcl.j2", name=name, board=board),
        f"{name}.v": verilog,
        f"{name}.xdc": board.constraints,
        "README.md": readme,
    }
    for path, text in files.items():
        write_file(folder / path, text)
    return BoardProject(
        board=board.name,
        device=board.device.title,
        clock_mhz=float(board.design_mhz(setting)),
        files=tuple(folder / path for path in files),
    )


def five_commands(
    choice: Choice | CallChoice,
    board: Board,
    baud: int = BAUD,
    folder: str = "DIR",
    clock: Fraction | None = None,
) -> list[str]:
    """From a board to a decrypted message, or a shared secret; two for engines without either."""
    device = "serial:/dev/ttyUSB0" + (f",{baud}" if baud != BAUD else "")
    first = [
        _synth(choice, board, baud, folder, clock),
        f"coprime program --board {board.name} {folder}",
    ]
    if isinstance(choice, CallChoice):
        return [*first, *_ml_kem_commands(choice, device)]
    return [
        *first,
        "coprime rsa keygen -o key.pem",
        "echo Hello | coprime rsa encrypt --key key.pem -o message.rsa",
        f"coprime rsa decrypt --key key.pem --in message.rsa --device {device}",
    ]


def _ml_kem_commands(choice: CallChoice, device: str) -> list[str]:
    """A key pair, its use; none for an engine without ML-KEM, or whose secrets cannot be read, nor
    for one of fewer sets than the command expects at a serial port."""
    interface, usual = choice.design.interface, choice.family.choose({}).design.interface
    if ml_kem.DECAPSULATE not in interface.call or not interface.slot["key"].readable:
        return []
    if interface.parameter_sets != usual.parameter_sets:
        return []
    parameter_set = interface.parameter_sets[len(interface.parameter_sets) // 2]
    option = f"--device {device}"
    return [
        f"coprime ml-kem keygen --set {parameter_set} -o key.pem --public public.pem {option}",
        f"coprime ml-kem encapsulate --key public.pem --secret sent.bin -o ciphertext.bin {option}",
        f"coprime ml-kem decapsulate --key key.pem --in ciphertext.bin -o received.bin {option}",
    ]


def _synth(
    choice: Choice | CallChoice | ClusterChoice,
    board: Board,
    baud: int,
    folder: str,
    clock: Fraction | None,
) -> str:
    asked = "" if clock is None else f" --clock {float(clock):.12g}"
    speed = f" --baud {baud}" if baud != BAUD else ""
    return f"{choice.command('synth')} --board {board.name}{asked}{speed} -o {folder}"


def _readme(
    choice: Choice | CallChoice,
    board: Board,
    baud: int,
    clock: Fraction | None,
    setting: ClockSetting | None,
) -> str:
    """`clock` is what was asked for, `setting` what it has become."""
    of_calls = isinstance(choice, CallChoice)
    fixed_modulus = (
        None if isinstance(choice, CallChoice) else choice.design.capabilities.fixed_modulus
    )
    commands = five_commands(choice, board, baud, ".", clock)
    if fixed_modulus is not None:
        del commands[2:]  # which are for a key of any modulus
    return filled(
        (_TEMPLATES,),
        "README.md.j2",
        choice=choice,
        board=board,
        baud=baud,
        mhz=float(board.design_mhz(setting)),
        generated=setting is not None,
        name=board_name(choice, board),
        commands=commands,
        fixed_modulus=fixed_modulus,
        of_calls=of_calls,
        meaning=meaning,
    )


def meaning(port: str) -> str:
    """What a port of a board is for."""
    other = {
        "clk": "the clock",
        "button": "resets everything, and starts the self-test when it is released",
        "rx": "serial, from the host",
        "tx": "serial, to the host",
    }
    return LEDS.get(port) or other[port]
