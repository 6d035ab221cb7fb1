"""What mapping to any device has in common: the input, the cache, the result."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from coprime.cells.target import Target

from .cache import cached
from .targets import flow_of
from .tools import run_yosys, tool_version
from .verilog import to_verilog

_RECIPE = Path(__file__).read_text("utf-8")
_REGISTER = re.compile(r"\$\w*dff\w*_(\d+)")
"""Yosys's cell of a register, with its width."""


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a mapped design occupies.

    `lut` counts each LUT that is occupied: as logic, as inverter, as memory or shift register
    (`lutram` of them) and, but on xc7 and ice40, in carry chains. What the other counts are of,
    the `units` of a target's flow say.
    """

    lut: int
    lutram: int
    ff: int
    carry: int
    dsp: int
    bram: float
    slices_estimate: int
    """Slices if all were filled: the larger of what LUTs and what flip-flops need."""

    @property
    def resources(self) -> dict[str, Any]:
        """These figures by their names."""
        return {field.name: getattr(self, field.name) for field in fields(Resources)}


@dataclass(frozen=True, kw_only=True)
class MappedDesign(Resources):
    """A design in the cells of a device family, before placement."""

    target: str  # as `Target` has it
    device: str  # the device family, in words
    cells: Mapping[str, int]  # count of each cell type
    tools: Mapping[str, str]  # version of each tool
    netlist: str = field(repr=False)  # the mapped netlist as Verilog


def verilog_of(design: wiring.Component | str, top: str) -> str:
    """Give Verilog text as it is, a component exported with `top` as its name."""
    return design if isinstance(design, str) else to_verilog(design, top)


def map_design(
    target: Target,
    design: wiring.Component | str,
    top: str,
    *,
    device: str = "",
    repeated: Sequence[str] = (),
) -> MappedDesign:
    """Map a component, or Verilog text with top module `top`, to a target's cells.

    Parameters
    ----------
    target (Target): not `generic`
    design (wiring.Component or str)
    device (str): one of the target's, where its families have different commands; "" for the first
    repeated (sequence of str): modules to map by themselves, as they have many instances

    Raises ValueError for `generic`, ToolError if Yosys fails; results are cached by content.
    """
    flow = flow_of(target)
    cells, folder = map_cells(
        verilog_of(design, top), top, flow.synthesis(top, device), repeated=repeated
    )
    used = flow.resources(cells)
    slices = max(
        -(-used["lut"] // flow.luts_per_slice), -(-used["ff"] // flow.flip_flops_per_slice)
    )
    return MappedDesign(
        **used,  # type: ignore[arg-type]
        target=target.value,
        device=flow.title,
        slices_estimate=int(slices),
        cells=cells,
        tools=mapping_tools(),
        netlist=netlist_of(folder),
    )


def map_cells(
    verilog: str,
    top: str,
    commands: Sequence[str],
    *,
    repeated: Sequence[str] = (),
    check: Callable[[int], None] | None = None,
) -> tuple[dict[str, int], Path]:
    """Map `verilog` with Yosys commands; give the count of each cell type, and a folder.

    The folder, in the cache, holds the netlist as netlist.v and netlist.json. Modules named in
    `repeated` are mapped by themselves, once however many instances there are, and stay modules of
    the netlist; everything else is mapped as one. Before mapping, which takes minutes for a large
    design, `check` is called with its bits of state, and may raise an error.
    """
    read = ("read_verilog design.v", f"hierarchy -top {top}", "proc")

    def build(folder: Path) -> None:
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        if check is not None:
            check(_state_bits(read, folder))
        run_yosys(
            [
                *read,
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


def _state_bits(read: Sequence[str], folder: Path) -> int:
    """The bits of the registers and memories in what these commands read, before optimization."""
    run_yosys([*read, "opt_clean", "tee -o state.json stat -json -width"], folder)
    found = json.loads((folder / "state.json").read_text("utf-8"))["design"]
    registers: list[int] = [
        count * int(register[1])
        for cell, count in found["num_cells_by_type"].items()
        if (register := _REGISTER.fullmatch(cell)) is not None
    ]
    return int(found["num_memory_bits"]) + sum(registers)


def netlist_of(folder: Path) -> str:
    """Read the netlist that `map_cells` made, without the banner, which names a compiler."""
    return (folder / "netlist.v").read_text("utf-8").partition("\n")[2].lstrip()


def mapping_tools() -> dict[str, str]:
    """Versions of the tools that mapping uses."""
    return {"amaranth": tool_version("amaranth"), "yosys": tool_version("pyosys")}
