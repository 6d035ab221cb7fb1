"""Boards: from Verilog whose ports are a board's pins to a bitstream."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from amaranth_boards import ulx3s

from coprime.cells.target import Target

from .files import write_file
from .mapping import map_cells, mapping_tools
from .routing import clock_mhz, nextpnr
from .targets import Device, Flow, flow_of
from .targets.ecp5 import ecp5_device
from .tools import ToolError, tool_version

__all__ = ["BOARDS", "Board", "BoardResult", "Pin", "board_named", "write_bitstream"]

_SEED = 1


@dataclass(frozen=True)
class Pin:
    """A pin of the package: its name, and its electrical attributes as constraints."""

    site: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board with an FPGA.

    `pins` has, for each port that a design may have, the pin that it goes to: `clk`, `button`
    (1 while pressed) and `led[0]` to `led[7]` (1 is lit).
    """

    name: str
    """On the command line."""
    title: str
    target: Target
    device: Device
    """In its package, of its speed grade."""
    clock_mhz: float
    """Frequency at the port `clk`."""
    pins: Mapping[str, Pin]

    @property
    def flow(self) -> type[Flow]:
        """The tools of its target."""
        return flow_of(self.target)

    @property
    def constraints(self) -> str:
        """The pins and the clock, as nextpnr takes them."""
        pins = {port: (pin.site, pin.attributes) for port, pin in self.pins.items()}
        return self.flow.constrain(pins, self.clock_mhz)


@dataclass(frozen=True, kw_only=True)
class BoardResult:
    """A bitstream, and what was found on the way to it."""

    board: str
    device: str
    clock_mhz: float
    """The board's clock."""
    fmax_mhz: float
    """Highest clock frequency that the placed and routed design allows."""
    utilisation: Mapping[str, int]
    """Count of each cell type that is used."""
    bitstream: Path
    files: tuple[Path, ...]
    """All that were written, the bitstream first."""
    tools: Mapping[str, str]
    """Version of each tool."""

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return self.__dict__ | {
            "utilisation": dict(self.utilisation),
            "bitstream": str(self.bitstream),
            "files": [str(path) for path in self.files],
            "tools": dict(self.tools),
        }


def _ulx3s(name: str, platform: type[Any]) -> Board:
    """Take the board's pins from where Amaranth's own designs have them."""
    resources = {(resource.name, resource.number): resource for resource in platform.resources}
    used = {"clk": resources["clk25", 0], "button": resources["button_fire", 0]}
    used |= {f"led[{number}]": resources["led", number] for number in range(8)}
    return Board(
        name=name,
        title=f"ULX3S with {platform.device}",
        target=Target.ECP5,
        device=ecp5_device(platform.device, speed=platform.speed),
        clock_mhz=used["clk"].clock.frequency / 1e6,
        pins=MappingProxyType(
            {
                port: Pin(resource.ios[0].names[0], dict(resource.attrs))
                for port, resource in used.items()
            }
        ),
    )


BOARDS: Mapping[str, Board] = {
    board.name: board
    for board in (
        _ulx3s("ulx3s", ulx3s.ULX3S_25F_Platform),
        _ulx3s("ulx3s-12f", ulx3s.ULX3S_12F_Platform),
        _ulx3s("ulx3s-45f", ulx3s.ULX3S_45F_Platform),
        _ulx3s("ulx3s-85f", ulx3s.ULX3S_85F_Platform),
    )
}
"""Every known board by name. "ulx3s" is the one with the LFE5U-25F."""


def board_named(name: str) -> Board:
    """Look a board up; ValueError that lists them if there is none."""
    if name not in BOARDS:
        raise ValueError(f"no board is called {name!r}; there are: {', '.join(BOARDS)}")
    return BOARDS[name]


def write_bitstream(verilog: str, top: str, board: Board, folder: Path) -> BoardResult:
    """Map, place and route module `top` for a board; write its bitstream into `folder`.

    The ports of `top` are ports of the board, `clk` among them. `folder` is made if need be, and
    gets the bitstream, TOP.v and the constraints.

    Raises ValueError for a port that the board does not have, ToolError if a tool fails, the design
    does not fit or is too slow for the board's clock, OSError if the files cannot be written.
    Results are cached by content.
    """
    flow = board.flow
    tool_version(flow.NEXTPNR)  # before the mapping, which takes longer
    device = next((name for name, one in flow.DEVICES.items() if one == board.device), "")
    _, mapped = map_cells(verilog, top, flow.synthesis(top, device))
    netlist = (mapped / "netlist.json").read_text("utf-8")
    known = list(dict.fromkeys(name.partition("[")[0] for name in board.pins))
    for port in json.loads(netlist)["modules"][top]["ports"]:
        if port not in known:
            raise ValueError(f"{board.name} has no port {port!r}; it has: {', '.join(known)}")
    options = (*flow.place(board.device, True), "--seed", str(_SEED), "--timing-allow-fail")
    built = nextpnr(flow, board.device, netlist, board.constraints, options, bitstream=True)
    report = json.loads((built / "report.json").read_text("utf-8"))
    fmax = clock_mhz(report)
    if fmax < board.clock_mhz:
        raise ToolError(
            f"the design runs at no more than {fmax:g} MHz,"
            f" below the {board.clock_mhz:g} MHz of {board.name}"
        )
    bitstream = folder / f"{top}{flow.BITSTREAM}"
    source = folder / f"{top}.v"
    constraints = folder / f"{top}{Path(flow.CONSTRAINTS).suffix}"
    write_file(bitstream, (built / f"design{flow.BITSTREAM}").read_bytes())
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
        files=(bitstream, source, constraints),
        tools={**mapping_tools(), flow.nextpnr_name(): tool_version(flow.NEXTPNR)},
    )
