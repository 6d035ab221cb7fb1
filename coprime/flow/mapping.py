"""What mapping to any device has in common: the input, the cache, the result."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from .cache import cached
from .tools import run_yosys, tool_version
from .verilog import to_verilog

__all__ = ["MappedDesign", "Resources", "map_cells", "verilog_of"]

_RECIPE = Path(__file__).read_text("utf-8")


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a mapped design occupies.

    `lut` counts each LUT that is occupied: as logic, as inverter, as memory or shift register
    (`lutram` of them) and, on ecp5, in carry chains.
    """

    lut: int
    lutram: int
    ff: int
    carry: int
    """CARRY4 (four bits each) on xc7, CCU2C (two bits each) on ecp5."""
    dsp: int
    """DSP48E1 on xc7, MULT18X18D on ecp5."""
    bram: float
    """RAMB36E1 on xc7, where a RAMB18E1 is half of one; DP16KD on ecp5."""
    slices_estimate: int
    """Slices if all were filled: the larger of what LUTs and what flip-flops need."""

    @property
    def resources(self) -> dict[str, Any]:
        """These figures by their names."""
        return {field.name: getattr(self, field.name) for field in fields(Resources)}


@dataclass(frozen=True, kw_only=True)
class MappedDesign(Resources):
    """A design in the cells of a device family, before placement."""

    target: str
    """"xc7" or "ecp5"."""
    device: str
    """The device family, in words."""
    cells: Mapping[str, int]
    """Count of each cell type."""
    tools: Mapping[str, str]
    """Version of each tool."""
    netlist: str = field(repr=False)
    """The mapped netlist as Verilog."""

    @property
    def ramb18(self) -> int:
        """Count of RAMB18E1."""
        return self.cells.get("RAMB18E1", 0)

    @property
    def ramb36(self) -> int:
        """Count of RAMB36E1."""
        return self.cells.get("RAMB36E1", 0)


def verilog_of(design: wiring.Component | str, top: str) -> str:
    """Give Verilog text as it is, a component exported with `top` as its name."""
    return design if isinstance(design, str) else to_verilog(design, top)


def map_cells(
    verilog: str, top: str, commands: Sequence[str], *, repeated: Sequence[str] = ()
) -> tuple[dict[str, int], Path]:
    """Map `verilog` with Yosys commands; give the count of each cell type, and a folder.

    The folder, in the cache, holds the netlist as netlist.v and netlist.json. Modules named in
    `repeated` are mapped by themselves, once however many instances there are, and stay modules of
    the netlist; everything else is mapped as one.
    """

    def build(folder: Path) -> None:
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        run_yosys(
            [
                "read_verilog design.v",
                f"hierarchy -top {top}",
                "proc",
                # A design fresh from Verilog is read again, unmapped, when mapping has changed the
                # parameters of a cell that it instantiates by name; one from RTLIL is not.
                "write_rtlil design.il",
                "design -reset",
                "read_rtlil design.il",
                *(f"setattr -mod -set keep_hierarchy 1 {module}" for module in repeated),
                *commands,
                "delete */t:$scopeinfo",  # where a flattened module was: no cell
                "tee -o statistics.json stat -json",
                "write_verilog -noattr netlist.v",
                "write_json netlist.json",
            ],
            folder,
        )
        (folder / "design.il").unlink()

    folder = cached(
        "mapping", (tool_version("pyosys"), _RECIPE, top, *repeated, *commands, verilog), build
    )
    statistics = json.loads((folder / "statistics.json").read_text("utf-8"))
    return dict(sorted(statistics["design"]["num_cells_by_type"].items())), folder


def netlist_of(folder: Path) -> str:
    """Read the netlist that `map_cells` made, without the banner, which names a compiler."""
    return (folder / "netlist.v").read_text("utf-8").partition("\n")[2].lstrip()


def mapping_tools() -> dict[str, str]:
    """Versions of the tools that mapping uses."""
    return {"amaranth": tool_version("amaranth"), "yosys": tool_version("pyosys")}
