"""Area and clock of a design: maps a part of it to a target, and places and routes it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from statistics import fmean

from coprime.bus.kinds import Bus
from coprime.catalog import (
    CLUSTER,
    SUITE,
    AnyDesign,
    CallChoice,
    Choice,
    ClusterChoice,
    SuiteChoice,
)
from coprime.cells.target import Target
from coprime.flow.fit import check_resources
from coprime.flow.mapping import MappedDesign, Resources, map_design, mapping_tools
from coprime.flow.part_names import PARTS, SYSTEM, UNIT_GATE
from coprime.flow.parts import measured_verilog, part_verilog
from coprime.flow.routing import LatePath, RoutedDesign, route_design
from coprime.flow.stamping.stamp import STAMPING, StampedDesign, stamp_design
from coprime.flow.targets import device_named, flow_of
from coprime.flow.tools import tool_version
from coprime.flow.unit_gate import estimate
from coprime.flow.verilog import digest_of
from coprime.padding.scheme import Padding

from .shipped import measured_points
from .system import system_part

"""What stands for a target where the generic design is estimated in unit gates."""


@dataclass(frozen=True, kw_only=True)
class Area(Resources):
    """A mapped design; field names are those of `synth --json`. `fmax_mhz` needs routing."""

    family: str
    parameters: Mapping[str, int | str]
    part: str
    target: str
    device: str
    fmax_mhz: float | None  # the mean over the seeds
    critical_path: str | None
    tools: Mapping[str, str]
    stamped: StampedDesign | None = None  # how it was placed, if its node was stamped
    late_paths: Sequence[LatePath] = ()  # the slowest paths into components, if asked for

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        first = ("family", "parameters", "part", "target", "device")
        ordered = {name: self.__dict__[name] for name in first} | self.__dict__
        ordered |= {"parameters": dict(self.parameters), "tools": dict(self.tools)}
        stamped, paths = ordered.pop("stamped"), ordered.pop("late_paths")
        return (
            ordered
            | ({"stamped": stamped.record()} if stamped else {})
            | ({"late_paths": [asdict(path) for path in paths]} if paths else {})
        )


@dataclass(frozen=True, kw_only=True)
class Gates:
    """A part of a design in unit gates; field names are those of `synth --json`."""

    family: str
    parameters: Mapping[str, int | str]
    part: str
    target: str = UNIT_GATE
    gate_area: int  # unit gates, without flip-flops and memory bits
    gate_delay: int  # of the longest path, in delays of one unit gate
    ff: int  # flip-flops
    memory_bits: int  # of memories that are written
    tools: Mapping[str, str]
    verilog: str = field(repr=False)  # what was estimated

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        shown = {name: value for name, value in self.__dict__.items() if name != "verilog"}
        return shown | {"parameters": dict(self.parameters), "tools": dict(self.tools)}


def estimate_gates(choice: Choice | CallChoice, part: str) -> Gates:
    """Estimate a part of a generic design in unit gates.

    Raises ValueError as `part_verilog`, ToolError as `coprime.flow.unit_gate.estimate`.
    """
    verilog, top = part_verilog(choice, part)
    gates = estimate(verilog, top)
    return Gates(
        family=choice.family.name,
        parameters=choice.values,
        part=part,
        gate_area=gates.area,
        gate_delay=gates.delay,
        ff=gates.flip_flops,
        memory_bits=gates.memory_bits,
        tools=gates.tools,
        verilog=verilog,
    )


WHOLE_SUITE = "accelerator"
"""The part that a suite is measured as."""


@dataclass(frozen=True)
class PartToMap:
    """A part of a design on a target, as Verilog, with what the tools make of it.

    Raises ValueError for a target without mapping, and, when the Verilog is made, as
    `coprime.flow.parts.measured_verilog`.
    """

    choice: AnyDesign
    """The design, or a cluster, which is mapped as a whole, its node and front end once each."""
    part: str
    """One of `coprime.flow.parts.PARTS`, or SYSTEM; of no meaning for a cluster."""
    target: Target  # not `generic`
    paddings: Collection[Padding] = ()  # those of the accelerator
    bus: Bus = Bus.AXI4_LITE  # of the accelerator, the cluster or the system

    def __post_init__(self) -> None:
        flow_of(self.target)

    @cached_property
    def _source(self) -> tuple[str, str, Sequence[str]]:
        """Verilog, the name of its top module, and the modules that are mapped separately."""
        if self.part == SYSTEM and isinstance(self.choice, Choice):
            if self.paddings:
                raise ValueError("the system has no source of random bytes for paddings")
            return (*system_part(self.choice, self.target, self.bus), ())
        return measured_verilog(self.choice, self.part, self.target, self.paddings, self.bus)

    @property
    def verilog(self) -> str:
        """The Verilog that is mapped."""
        return self._source[0]

    def check_fit(self, device: str) -> None:
        """Raise ToolError if a device is too small for this hardware, as far as that is known.

        It is if the same hardware was measured with the same Yosys, in what comes with Coprime: so
        its LUTs, for which nothing else can tell before the minutes that mapping takes.
        """
        flow, digest, yosys = (
            flow_of(self.target),
            digest_of(self.verilog),
            mapping_tools()["yosys"],
        )
        for point in measured_points():
            if (point.verilog, point.target) != (digest, self.target.value) or point.lut is None:
                continue
            if point.tools.get("yosys") == yosys:
                used = {kind: getattr(point, kind) for kind in ("lut", "ff", "bram", "dsp")}
                check_resources(flow, device_named(flow, device), used)
                return

    def map(self, device: str = "") -> MappedDesign:
        """Map it, for a device of the target. Raises ToolError if Yosys fails."""
        verilog, top, repeated = self._source
        return map_design(self.target, verilog, top, device=device, repeated=repeated)

    def route(self, device: str, seeds: Sequence[int] = (1,), late_paths: int = 0) -> RoutedDesign:
        """Place and route it on a device of the target, and keep the best seed, with the slowest
        path into each of so many components.

        Raises ValueError for another device, ToolError if it does not fit.
        """
        verilog, top, repeated = self._source
        return route_design(
            *(self.target, verilog, top),
            seeds=seeds,
            device=device,
            repeated=repeated,
            late_paths=late_paths,
        )

    def stamp(self, device: str, seeds: Sequence[int] = (1, 2, 3, 4)) -> StampedDesign:
        """Place and route a cluster's node by itself and stamp it, on a device of the target.

        Of a node's placements with these seeds the best one is copied. Raises ValueError for
        another device, ToolError as `stamp_design`.
        """
        verilog, top, repeated = self._source
        return stamp_design(verilog, top, device=device, seeds=seeds, repeated=repeated)


def measure_area(
    choice: AnyDesign,
    target: Target,
    *,
    part: str | None = None,
    route: bool = False,
    stamp: bool = False,
    device: str = "",
    seeds: int = 1,
    late_paths: int = 0,
    paddings: Collection[Padding] = (),
    bus: Bus = Bus.AXI4_LITE,
) -> Area:
    """Map a part of a design, as of `PartToMap`, and with `route` place and route it.

    From each of the seeds 1 to `seeds` it is placed anew, and the clock is their mean; the slowest
    paths into `late_paths` components are those of the best one. With `route`
    and `stamp` a cluster's node is placed and routed by itself, and copied. `part` is None for an
    engine and for a cluster; `device` is one of the target's, "" its first. Raises ValueError for
    another part or device, for a target without mapping, for routing on one without devices, or for
    stamping another design than a cluster or for another target than ecp5; ToolError if the design
    does not fit the device, or not so many copies.
    """
    # Before the minutes that mapping may take.
    flow = flow_of(target)
    if stamp:
        _check_stamping(choice, target)
    if route:
        device = device or flow.default_device
        device_named(flow, device)
        tool_version(flow.nextpnr)
    if isinstance(choice, ClusterChoice):
        if part is not None:
            raise ValueError(f"a cluster is measured as a whole: leave out the part {part}")
        family, part = CLUSTER, CLUSTER
    elif isinstance(choice, SuiteChoice):
        if part not in (None, WHOLE_SUITE):
            raise ValueError(f"a suite is measured as a whole: leave out the part {part}")
        family, part = SUITE, WHOLE_SUITE
    else:
        family, part = choice.family.name, part or PARTS[0]
    source = PartToMap(choice, part, target, paddings, bus)
    if route:
        source.check_fit(device)
    routed: RoutedDesign | StampedDesign | None = None
    if route:  # first, as it is refused before it is mapped if the device is too small
        every = range(1, seeds + 1)
        routed = source.stamp(device) if stamp else source.route(device, every, late_paths)
    mapped = source.map(device)
    return Area(
        **mapped.resources,
        family=family,
        parameters=choice.values,
        part=part,
        target=target.value,
        device=routed.device if routed else mapped.device,
        fmax_mhz=_mean_clock(routed),
        critical_path=str(routed.critical_path) if routed else None,
        tools=routed.tools if routed else mapped.tools,
        stamped=routed if isinstance(routed, StampedDesign) else None,
        late_paths=routed.late_paths if isinstance(routed, RoutedDesign) else (),
    )


def _mean_clock(routed: RoutedDesign | StampedDesign | None) -> float | None:
    if isinstance(routed, RoutedDesign):
        return fmean(routed.fmax_by_seed.values())
    return routed.fmax_mhz if routed else None


def _check_stamping(choice: AnyDesign, target: Target) -> None:
    if not isinstance(choice, ClusterChoice):
        raise ValueError("only a cluster has something to stamp: name the family cluster")
    if target is not STAMPING:
        raise ValueError(f"stamping knows the fabric of {STAMPING.value}, not of {target.value}")
