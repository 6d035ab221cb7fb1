"""Boards: from Verilog whose ports are a board's pins to a bitstream."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coprime.cells.target import Target

from .files import write_file
from .mapping import map_cells, mapping_tools
from .routing import check_fit, clock_mhz, nextpnr
from .stamping.stamp import STAMPING, stamp_design
from .targets import Flow, FpgaDevice, flow_of
from .tools import ToolError, tool_version

_SEED = 1
_AHEAD = 1.25  # of the board's clock: a stamped rectangle must be so much faster than that


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
    clock_mhz: float  # frequency at the port `clk`
    oscillator_mhz: float = 0
    """Frequency at the pin, if a clock generator makes that of `clk` from it; 0: there is none."""
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
        return self.flow.constrain(pins, self.oscillator_mhz or self.clock_mhz)


@dataclass(frozen=True, kw_only=True)
class BoardResult:
    """A bitstream, and what was found on the way to it."""

    board: str
    device: str
    clock_mhz: float  # the board's clock
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
    return next((name for name, one in board.flow.devices.items() if one == board.device), "")


def write_bitstream(
    verilog: str, top: str, board: Board, folder: Path, *, repeated: Sequence[str] = ()
) -> BoardResult:
    """Map, place and route module `top` for a board; write its bitstream into `folder`.

    The ports of `top` are ports of the board, `clk` among them. `folder` is made if need be, and
    gets the bitstream, TOP.v and the constraints. With `repeated`, modules to map by themselves,
    the instances of the last one are stamped (`coprime.flow.stamping`).

    Raises ValueError for a port that the board does not have, or a board whose fabric stamping does
    not know; ToolError if a tool fails, the design does not fit or is too slow for the board's
    clock, OSError if the files cannot be written. Results are cached by content.
    """
    flow = board.flow
    device = stampable(board) if repeated else _device_name(board)
    tool_version(flow.nextpnr)  # before the mapping, which takes longer
    cells, mapped = map_cells(verilog, top, flow.synthesis(top, device), repeated=repeated)
    netlist = (mapped / "netlist.json").read_text("utf-8")
    known = list(dict.fromkeys(name.partition("[")[0] for name in board.pins))
    for port in json.loads(netlist)["modules"][top]["ports"]:
        if port not in known:
            raise ValueError(f"{board.name} has no port {port!r}; it has: {', '.join(known)}")
    check_fit(flow, cells, board.device)
    if repeated:
        built = stamp_design(
            verilog,
            top,
            repeated=repeated,
            device=device,
            pins=board.constraints,
            enough_mhz=_AHEAD * board.clock_mhz,
        ).folder
    else:
        options = (*flow.place, "--seed", str(_SEED), "--timing-allow-fail")
        built = nextpnr(flow, board.device, netlist, board.constraints, options, bitstream=True)
    report = json.loads((built / "report.json").read_text("utf-8"))
    fmax = clock_mhz(report)
    if fmax < board.clock_mhz:
        raise ToolError(
            f"the design runs at no more than {fmax:g} MHz,"
            f" below the {board.clock_mhz:g} MHz of {board.name}"
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
        clock_mhz=board.clock_mhz,
        fmax_mhz=fmax,
        utilisation={
            cell: count["used"] for cell, count in report["utilization"].items() if count["used"]
        },
        bitstream=bitstream,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        files=(bitstream, source, constraints),
        tools={**mapping_tools(), flow.nextpnr_name: tool_version(flow.nextpnr)},
    )
