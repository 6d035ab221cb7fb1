"""Boards: from Verilog whose ports are a board's pins to a bitstream."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from coprime.cells.clock_ranges import CLOCK_RANGES, ClockSetting
from coprime.cells.target import Target

from .files import write_file
from .mapping import mapping_tools
from .noise_module import loop_options
from .routing import clock_mhz, mapped_netlist, nextpnr, report_of
from .stamping.stamp import STAMPING, stamp_design
from .targets import Flow, FpgaDevice, flow_of
from .tool_errors import ToolCrashError, ToolError
from .tools import tool_version

_SEEDS = (1, 2, 3)  # the next one where nextpnr crashes with the one before
_AHEAD = 1.25  # of the board's clock: a stamped rectangle must be so much faster than that
_SHARE = Fraction(4, 5)
"""Of the clock that a routed design allows, the part that it gets by default."""
_ROUNDING = Fraction(1, 1000)
"""By how much less than asked for a generated clock may be."""


@dataclass(frozen=True)
class Pin:
    """A pin of the package.

    Parameters
    ----------
    site : its name
    attributes : electrical ones, as constraints of its target
    label : what is printed beside it on the board, or what it is soldered to
    active_low : 0 is pressed, or lit
    """

    site: str
    attributes: Mapping[str, str]
    label: str = ""
    active_low: bool = False


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board with an FPGA.

    `pins` has, for each port that a design may have, the pin that it goes to: `clk`; `rx` and `tx`,
    the serial wires from and to the host; `button`; and those of `led_busy`, `led_passed`,
    `led_failed`, `led_session` and `led_clock` that the board has LEDs for.
    """

    name: str  # on the command line
    title: str
    target: Target
    device: FpgaDevice  # in its package, of its speed grade
    oscillator_mhz: float  # frequency at the port `clk`
    clock_mhz: float = 0
    """The design's clock, if no other one is asked for; 0: what place and route allows decides."""
    pins: Mapping[str, Pin]
    source: str  # where the pins are from
    serial: str  # how a host is connected to `rx` and `tx`: a sentence
    loader: Sequence[str]  # options of openFPGALoader that name the board
    family: str = "compact"
    """What fits: the family that the board's page and `make bitstreams` take."""
    values: Mapping[str, str] = field(default_factory=lambda: {"max_bits": "2048"})
    """Parameters of that family, as on the command line."""
    notes: Sequence[str] = ()  # what else a user of the board has to know, a sentence each

    @property
    def flow(self) -> Flow:
        """The tools of its target."""
        return flow_of(self.target)

    @property
    def constraints(self) -> str:
        """The pins and the clock, as nextpnr takes them."""
        pins = {port: (pin.site, pin.attributes) for port, pin in self.pins.items()}
        return self.flow.constrain(pins, self.oscillator_mhz)

    @property
    def generates_clock(self) -> bool:
        """Whether its target's clock generator can make other clocks than the oscillator's."""
        return self.target in CLOCK_RANGES

    def design_mhz(self, setting: ClockSetting | None) -> Fraction:
        """A design's clock in MHz, with a clock generator set so; None: without one."""
        return self._oscillator if setting is None else setting.mhz

    def clock_setting(self, mhz: Fraction) -> ClockSetting | None:
        """The clock generator's setting for a clock of `mhz`, or of up to 0.1 % less.

        None is for the oscillator's own frequency, which needs no generator. Raises ValueError for
        a clock that cannot be made, with the nearest ones.
        """
        oscillator = self._oscillator
        if mhz == oscillator:
            return None
        ranges = CLOCK_RANGES.get(self.target)
        if ranges is None:
            raise ValueError(
                f"the clock of {self.name} is its oscillator's, {float(oscillator):g} MHz, not"
                f" {float(mhz):g}: there is no clock generator for {self.target.value}"
            )
        found = ranges.at_most(oscillator, mhz)
        if found is not None and found.mhz >= mhz * (1 - _ROUNDING):
            return found
        near = (found and found.mhz, ranges.at_least(oscillator, mhz))
        raise ValueError(
            f"{self.name} cannot make a clock of {float(mhz):g} MHz from its"
            f" {float(oscillator):g} MHz; the nearest:"
            f" {' and '.join(f'{float(clock):.12g}' for clock in near if clock)}"
        )

    def default_setting(self, fmax_mhz: float) -> ClockSetting | None:
        """The setting for the fastest clock up to 0.8 of what a routed design allows.

        It is the oscillator's frequency where that is allowed and faster. None is for that.
        """
        limit, oscillator = _SHARE * Fraction(fmax_mhz), self._oscillator
        ranges = CLOCK_RANGES.get(self.target)
        found = ranges.at_most(oscillator, limit) if ranges else None
        return None if found is None or found.mhz <= oscillator <= fmax_mhz else found

    @property
    def _oscillator(self) -> Fraction:
        return Fraction(str(self.oscillator_mhz))


@dataclass(frozen=True, kw_only=True)
class BoardResult:
    """A bitstream, and what was found on the way to it."""

    board: str
    device: str
    clock_mhz: float  # the design's clock
    fmax_mhz: float  # highest clock frequency that the placed and routed design allows
    utilisation: Mapping[str, int]  # count of each cell type that is used
    bitstream: Path
    size: int  # of the bitstream, in bytes
    sha256: str  # of the bitstream
    files: tuple[Path, ...]  # all that were written, the bitstream first
    tools: Mapping[str, str]  # version of each tool

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return self.__dict__ | {
            "utilisation": dict(self.utilisation),
            "bitstream": str(self.bitstream),
            "files": [str(path) for path in self.files],
            "tools": dict(self.tools),
        }


def stampable(board: Board) -> str:
    """The name of a board's device. ValueError if stamping does not know its fabric."""
    name = _device_name(board)
    if board.target is not STAMPING or not name:
        raise ValueError(f"stamping does not know the fabric of {board.name}")
    return name


def _device_name(board: Board) -> str:
    """Among those of the target; "" if it is none of them."""
    return next((name for name, device in board.flow.devices.items() if device == board.device), "")


def check_mapped(verilog: str, top: str, board: Board, repeated: Sequence[str] = ()) -> str:
    """Map module `top` for a board, `repeated` modules by themselves; give the netlist, as JSON.

    Raises ValueError for a port that the board does not have, ToolError if a tool fails or the
    design does not fit. Results are cached by content.
    """
    netlist = mapped_netlist(board.flow, board.device, _device_name(board), verilog, top, repeated)
    known = list(dict.fromkeys(name.partition("[")[0] for name in board.pins))
    for port in json.loads(netlist)["modules"][top]["ports"]:
        if port not in known:
            raise ValueError(f"{board.name} has no port {port!r}; it has: {', '.join(known)}")
    return netlist


def routed_mhz(verilog: str, top: str, board: Board) -> float:
    """Map, place and route module `top` for a board; give the highest clock, in MHz.

    Raises as `write_bitstream`, but for slow designs. Results are cached by content.
    """
    _, fmax = _routed(verilog, top, board, bitstream=False)
    return fmax


def _routed(verilog: str, top: str, board: Board, *, bitstream: bool) -> tuple[Path, float]:
    """The folder that nextpnr gives, and the highest clock in MHz."""
    flow = board.flow
    tool_version(flow.nextpnr)  # before the mapping, which takes longer
    netlist = check_mapped(verilog, top, board)

    def placed(seed: int) -> tuple[Path, float]:
        options = (*flow.place, *loop_options(verilog), "--seed", str(seed))
        options = (*options, "--timing-allow-fail")
        arguments = (flow, board.device, netlist, board.constraints, options)
        built = nextpnr(*arguments, bitstream=bitstream)
        return built, clock_mhz(report_of(built))

    *first, last = _SEEDS
    for seed in first:
        with suppress(ToolCrashError):
            return placed(seed)
    return placed(last)


def _stamped(verilog: str, top: str, board: Board, repeated: Sequence[str]) -> tuple[Path, float]:
    """The same with the instances of the last of the `repeated` modules stamped."""
    tool_version(board.flow.nextpnr)
    device = stampable(board)
    check_mapped(verilog, top, board, repeated)
    enough = _AHEAD * float(board.design_mhz(None))
    stamped = stamp_design(
        verilog,
        top,
        repeated=repeated,
        device=device,
        pins=board.constraints,
        enough_mhz=enough,
    )
    return stamped.folder, stamped.fmax_mhz


def write_bitstream(
    verilog: str,
    top: str,
    board: Board,
    folder: Path,
    setting: ClockSetting | None = None,
    *,
    repeated: Sequence[str] = (),
) -> BoardResult:
    """Map, place and route module `top` for a board; write its bitstream into `folder`.

    The ports of `top` are ports of the board, `clk` among them; `setting` is that of the clock
    generator in it, if it has one. `folder` is made if need be, and gets the bitstream, TOP.v and
    the constraints. With `repeated`, modules to map by themselves, the instances of the last one
    are stamped (`coprime.flow.stamping`).

    Raises ValueError for a port that the board does not have, or a board whose fabric stamping does
    not know; ToolError if a tool fails, the design does not fit or is too slow for its clock,
    OSError if the files cannot be written. Results are cached by content.
    """
    flow, mhz = board.flow, board.design_mhz(setting)
    if repeated:
        built, fmax = _stamped(verilog, top, board, repeated)
    else:
        built, fmax = _routed(verilog, top, board, bitstream=True)
    if fmax < mhz:
        slower = board.default_setting(fmax)
        advice = f"; ask for --clock {float(slower.mhz):.12g} or less" if slower else ""
        raise ToolError(
            f"the design runs on {board.name} at no more than {fmax:g} MHz,"
            f" below its clock of {float(mhz):.12g} MHz{advice}"
        )
    bitstream = folder / f"{top}{flow.bitstream}"
    source = folder / f"{top}.v"
    constraints = folder / f"{top}{Path(flow.constraints).suffix}"
    content = (built / f"design{flow.bitstream}").read_bytes()
    write_file(bitstream, content)
    write_file(source, verilog)
    write_file(constraints, board.constraints)
    return BoardResult(
        board=board.name,
        device=board.device.title,
        clock_mhz=float(mhz),
        fmax_mhz=fmax,
        utilisation={
            cell: count["used"]
            for cell, count in report_of(built)["utilization"].items()
            if count["used"]
        },
        bitstream=bitstream,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        files=(bitstream, source, constraints),
        tools={**mapping_tools(), flow.nextpnr_name: tool_version(flow.nextpnr)},
    )
