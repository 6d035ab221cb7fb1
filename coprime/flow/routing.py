"""Place and route with nextpnr on a device of a target, and what it says of the clock."""

import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from coprime.cells.target import Target

from .cache import cached
from .fit import check_block_rams, check_multipliers, check_resources, too_large
from .mapping import map_cells, mapping_tools, verilog_of
from .noise_module import loop_options
from .targets import Flow, FpgaDevice, device_named, flow_of
from .tool_errors import ToolCrashError, ToolError
from .tools import run_tool, run_yosys, tool_version

_CLOCKS = ("clk", "s_axi_aclk")
WRAPPER = "coprime_wrapper"
"""Name of the module that `port_registers` gives."""
_INSTANCE = "dut"
_NO_PLACE = re.compile(r"(?:Unable|Failed) to .*?cell .* (?:of )?type '?(\w+)'?")
_CRASH = "wasm trap"  # how nextpnr ends that fails in WebAssembly
_STOPPED = "status -24"  # SIGXCPU
_FUNCTION = """
import importlib
import sys
module, _, name = sys.argv[1].partition(":")
if limit := int(sys.argv[2]):
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
sys.argv = [name, *sys.argv[3:]]
function = getattr(importlib.import_module(module), name)
sys.exit(function(sys.argv[1:]) if module.startswith("yowasp") else function())
"""


@dataclass(frozen=True, kw_only=True)
class CriticalPath:
    """The slowest path from register to register."""

    start: str  # cell that it starts from
    end: str  # cell that it ends in
    nets: tuple[str, ...]  # nets on the way
    logic_ns: float  # time in cells, with setup and clock to output
    routing_ns: float  # time on wires

    def __str__(self) -> str:
        """Say where it leads and what it costs, in one line."""
        return (
            f"{self.start} to {self.end}: {self.logic_ns:.1f} ns in cells"
            f" and {self.routing_ns:.1f} ns on wires"
        )


@dataclass(frozen=True, kw_only=True)
class LatePath:
    """The slowest path of those that end in the registers and memories of one component."""

    component: str  # path of instances, from the design's top on, or "ports"
    end: str  # cell that it ends in
    ns: float  # from the clock's edge to the cell, without its setup


@dataclass(frozen=True, kw_only=True)
class RoutedDesign:
    """A design, placed and routed."""

    device: str
    fmax_mhz: float  # highest clock frequency, of the best seed
    seed: int  # the best seed
    fmax_by_seed: Mapping[int, float]  # highest clock frequency in MHz that each seed led to
    critical_path: CriticalPath  # of the best seed
    utilisation: Mapping[str, int]
    """Count of each cell type that is used, the registers at the ports included."""
    tools: Mapping[str, str]  # version of each tool
    late_paths: Sequence[LatePath] = ()  # of the best seed, the slowest first


def route_design(
    target: Target,
    design: wiring.Component | str,
    top: str,
    *,
    seeds: Sequence[int] = (1,),
    target_mhz: float = 200.0,
    device: str = "",
    repeated: Sequence[str] = (),
    late_paths: int = 0,
) -> RoutedDesign:
    """Map, place and route on a device.

    Each port but the clock is registered, so that designs with more ports than the package has pins
    fit, and paths from and to ports count: inputs come from a shift register, outputs go into
    registers that a second one folds into one pin.

    Parameters
    ----------
    target (Target): with devices
    design (wiring.Component or str): a component, or Verilog text with top module `top`. Its clock
        is the port clk or s_axi_aclk.
    seeds (sequence of int): each starts a placement of its own; at least one
    target_mhz (float): clock frequency that nextpnr works towards; above 0
    device (str): one of the target's; "" for its first one
    repeated (sequence of str): modules to map by themselves, as they have many instances
    late_paths (int): of how many components the slowest path is wanted; 0 or more

    Raises ValueError for another device or a design without such a clock, ToolError if the design
    does not fit the device or a tool fails. Results are cached by content.
    """
    flow = flow_of(target)
    device = device or flow.default_device
    own = device_named(flow, device)
    if not seeds:
        raise ValueError("seeds must name at least one seed")
    if not target_mhz > 0:
        raise ValueError(f"target_mhz must be above 0, not {target_mhz}")
    verilog = verilog_of(design, top)
    source, wrapper = wrapped(verilog, top)
    netlist = mapped_netlist(flow, own, device, source, wrapper, repeated)
    pins = dict(zip(("clk", "shift_in", "shift_out"), own.pins, strict=True)) if own.pins else {}
    constraints = flow.constrain({port: (pin, {}) for port, pin in pins.items()}, None)
    place = flow.place if pins else flow.place_without_pins
    reports = {}
    for seed in seeds:
        options = (*place, *loop_options(verilog))
        options = (*options, "--freq", str(target_mhz), "--timing-allow-fail")
        if late_paths:
            options = (*options, "--detailed-timing-report")
        routed = nextpnr(
            flow, own, netlist, constraints if pins else "", (*options, "--seed", str(seed))
        )
        reports[seed] = report_of(routed)
    fmax = {seed: clock_mhz(report) for seed, report in reports.items()}
    best = max(fmax, key=lambda seed: fmax[seed])
    return RoutedDesign(
        device=own.title,
        fmax_mhz=fmax[best],
        seed=best,
        fmax_by_seed=fmax,
        critical_path=critical_path(reports[best]),
        utilisation={
            cell: count["used"]
            for cell, count in reports[best]["utilization"].items()
            if count["used"]
        },
        tools={**mapping_tools(), flow.nextpnr_name: tool_version(flow.nextpnr)},
        late_paths=late_paths_of(reports[best], late_paths),
    )


def wrapped(verilog: str, top: str) -> tuple[str, str]:
    """Verilog with a module around `top` that has three pins, and that module's name.

    Raises ValueError for a design without a clock.
    """
    return verilog + port_registers(top, _ports(verilog, top)), WRAPPER


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


def port_registers(top: str, ports: Mapping[str, tuple[str, int]]) -> str:
    """Verilog of the module WRAPPER, which has module `top` in it with a register at each port.

    Its three ports are clk, shift_in and shift_out. `ports` are the direction and width of those of
    `top`; ValueError if none of them is a clock.
    """
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
module {WRAPPER}(input clk, input shift_in, output shift_out);
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
  {top} {_INSTANCE}({", ".join(connections)});
endmodule
"""


def mapped_netlist(
    flow: Flow,
    device: FpgaDevice,
    name: str,
    verilog: str,
    top: str,
    repeated: Sequence[str] = (),
) -> str:
    """Map module `top` for a device, which has this name or ""; give the netlist, as JSON.

    Modules named in `repeated` are mapped by themselves. Raises ToolError if a tool fails, or if
    the design does not fit, as soon as that is known. Results are cached by content.
    """
    check_multipliers(flow, device, verilog, top)

    def check(bits: int) -> None:
        _check_state(flow, device, bits)
        check_block_rams(flow, device, name, verilog, top, repeated)

    commands = flow.synthesis(top, name)
    cells, folder = map_cells(verilog, top, commands, repeated=repeated, check=check)
    # At once, as nextpnr would try to place for minutes.
    check_resources(flow, device, flow.resources(cells))
    return (folder / "netlist.json").read_text("utf-8")


def _check_state(flow: Flow, device: FpgaDevice, bits: int) -> None:
    """Refuse before mapping what has twice as many bits of state as there is room for.

    Twice, as mapping removes what is not used, and makes logic of some constants.
    """
    flip_flops = device.luts * flow.flip_flops_per_slice // flow.luts_per_slice
    memory = device.block_rams * flow.block_ram_bits + device.luts * flow.lut_memory_bits
    if bits > 2 * (flip_flops + memory):
        there = f"it has {flip_flops + memory:,}"
        raise too_large(flow, device, f"registers and memories of {bits:,} bits, and {there}")


def nextpnr(
    flow: Flow,
    device: FpgaDevice,
    netlist: str,
    constraints: str,
    options: Sequence[str],
    *,
    bitstream: bool = False,
    write: str = "",
    limit_s: int = 0,
) -> Path:
    """Place and route; give a folder with report.json and, if asked for, bitstream and netlist.

    The bitstream is called "design" and ends as the flow says; the netlist, with places and routes
    of all that is in it, is routed.json, without cells and nets whose names begin with `write`; ""
    is for no netlist. `constraints` is the text of the flow's file, or "". After `limit_s` seconds
    of processor time nextpnr is stopped; 0 is for no limit.
    Raises ToolError if the design does not fit the device, a tool fails or is stopped,
    ToolCrashError if nextpnr crashes. Results are cached by content.
    """
    written = ("--write", "routed.json") if write else ()
    options = (*device.options, *options, *written, "--quiet")
    prepared = flow.prepare(netlist)

    def build(folder: Path) -> None:
        (folder / "netlist.json").write_text(prepared, encoding="utf-8")
        if constraints:
            (folder / flow.constraints).write_text(constraints, encoding="utf-8")
        function = flow.nextpnr.replace("-", "_")
        function = f"{function}:{function.replace('yowasp', 'run')}"
        results = flow.output if bitstream else ()
        # Not deleted if the tool is interrupted, and the only sign of life of a long run.
        log = ("--log", "nextpnr.log")
        files = ("--json", "netlist.json", "--report", "report.json", *log, *results)
        try:
            _run("nextpnr", function, (*options, *files), folder, limit_s)
        except ToolError as error:
            if _CRASH in str(error):
                raise ToolCrashError(str(error)) from error
            found = _NO_PLACE.search(str(error))
            if found is None:
                raise
            what = flow.words.get(found[1], found[1])
            raise too_large(flow, device, f"more {what} than nextpnr finds room for") from error
        if bitstream:
            tool = flow.packer.partition(":")[2].removeprefix("run_")
            _run(tool, flow.packer, flow.pack(device), folder)
        if write:
            _leave_out(write, folder / "routed.json")
        for path in folder.iterdir():
            if path.name not in ("report.json", "routed.json", f"design{flow.bitstream}"):
                path.unlink()

    key = (tool_version(flow.nextpnr), *options, *filter(None, (write,)), constraints, prepared)
    return cached("bitstream", key, build) if bitstream else cached("routing", key, build)


def _leave_out(prefix: str, netlist: Path) -> None:
    design = json.loads(netlist.read_text("utf-8"))
    for module in design["modules"].values():
        for kind in ("cells", "netnames"):
            kept = {
                name: item for name, item in module[kind].items() if not name.startswith(prefix)
            }
            module[kind] = kept
    netlist.write_text(json.dumps(design), encoding="utf-8")


def _run(
    what: str, function: str, arguments: Sequence[str], folder: Path, limit_s: int = 0
) -> None:
    command = [sys.executable, "-P", "-c", _FUNCTION, function, str(limit_s), *arguments]
    try:
        run_tool(what, command, folder=folder)
    except ToolError as error:
        if limit_s and _STOPPED in str(error):
            stopped = f"{what} was stopped after {limit_s} s of processor time"
            raise ToolError(stopped) from error
        raise


def report_of(folder: Path) -> dict[str, Any]:
    """What nextpnr has reported in this folder."""
    report: dict[str, Any] = json.loads((folder / "report.json").read_text("utf-8"))
    return report


def clock_mhz(report: Mapping[str, Any]) -> float:
    """The maximum frequency of the one clock in nextpnr's report. ToolError if it has others."""
    clocks = report["fmax"]
    if len(clocks) != 1:
        raise ToolError(f"the design must have the clock clk and no other; it has {len(clocks)}")
    (clock,) = clocks.values()
    return round(float(clock["achieved"]), 2)


def critical_path(report: Mapping[str, Any]) -> CriticalPath:
    """The slowest path from register to register in nextpnr's report."""
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


def late_paths_of(report: Mapping[str, Any], count: int) -> list[LatePath]:
    """The slowest path into each component in nextpnr's detailed report, those of `count`
    components that end last."""
    found: dict[str, LatePath] = {}
    for net in report.get("detailed_net_timings", ()):
        for end in net["endpoints"]:
            # Others are pins, or begin at one.
            if end["event"] == net["event"] and end["event"].startswith("posedge"):
                path = LatePath(
                    component=_component(end["cell"]),
                    end=end["cell"],
                    ns=round(max(end["delay"]), 2),
                )
                if path.component not in found or path.ns > found[path.component].ns:
                    found[path.component] = path
    return sorted(found.values(), key=lambda path: (-path.ns, path.component))[:count]


def _component(cell: str) -> str:
    """The instance that a cell is in; cells of the wrapper hold ports."""
    first, *path = cell.split(".")
    return "ports" if first != _INSTANCE else ".".join(path[:-1]) or "top"
