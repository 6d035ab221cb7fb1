"""The best measured designs under a budget, for one operation or several."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coprime.bus.kinds import Bus
from coprime.calls.interface import EngineInterface
from coprime.catalog import NODES, CallChoice, choose_engine
from coprime.cells.target import Target
from coprime.engine.capabilities import Capabilities
from coprime.flow.targets import FLOWS, device_named
from coprime.operations.commands import Command

from .choices import DEVICES, OTHER_PART
from .points import Point, Size


@dataclass(frozen=True)
class Budget:
    """Upper limits; None is no limit. Raises ValueError for a negative limit."""

    max_dsp: int | None = None  # DSP slices
    max_lut: int | None = None  # LUTs
    max_cycles: int | None = None  # of each operation
    max_ms: float | None = None
    """Milliseconds for each operation; needs a target that is placed and routed."""

    def __post_init__(self) -> None:
        for name, value in self.__dict__.items():
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be 0 or more, not {value}")

    def excess(self, point: Point) -> float:
        """How far a point is over the budget: its largest excess, as a fraction of the limit."""
        excesses = [0.0]
        for limit, value in (
            (self.max_dsp, point.dsp),
            (self.max_lut, point.lut),
            (self.max_cycles, _cycles(point)),
            (self.max_ms, point.milliseconds),
        ):
            if limit is not None and value is not None:
                excesses.append((value - limit) / max(limit, 1))
        return max(excesses)

    def __str__(self) -> str:
        limits = (
            *((self.max_dsp, "DSP"), (self.max_lut, "LUTs")),
            *((self.max_cycles, "cycles"), (self.max_ms, "ms")),
        )
        return ", ".join(f"{limit:,g} {unit}" for limit, unit in limits if limit is not None)


@dataclass(frozen=True)
class Chosen:
    """A design that was chosen."""

    points: tuple[Point, ...]
    """Its figures, a point for each operation."""
    beside: Point | None
    """The same design's other part, of a cluster its engine; None if that was not measured."""

    @property
    def point(self) -> Point:
        """Its figures with the first operation."""
        return self.points[0]

    @property
    def name(self) -> str:
        """What it is, in words."""
        parameters = " ".join(f"{name}={value}" for name, value in self.point.parameters.items())
        cores = f"{self.point.cores} of " if self.point.cores else ""
        how = ", stamped" if self.point.stamped else ""
        how += "" if self.point.bus == Bus.AXI4_LITE.value else f", {Bus(self.point.bus).title}"
        return f"{cores}{self.point.family} {parameters}".strip() + how

    @property
    def time(self) -> str:
        """What it is and how long it takes, in words."""
        times = [_time(point) for point in self.points]
        if len(times) > 1:
            times = [
                f"{point.operation} {time}" for point, time in zip(self.points, times, strict=True)
            ]
        return f"{self.name}: {'; '.join(times)}"

    @property
    def constant_time(self) -> str:
        """Whether it is constant-time, in words; from the catalogue.

        Raises ValueError if the catalogue has no such design.
        """
        return "constant time" if self._own.constant_time else "not constant time"

    @property
    def security(self) -> str:
        """Whether it is constant-time and checks the first operation's result, in words.

        Raises as `constant_time`.
        """
        return self.constant_time + self._checked(self.point)

    @property
    def lines(self) -> list[str]:
        """What it is, and how long it takes, with each operation in a line if there are several.

        Raises as `constant_time`.
        """
        if len(self.points) == 1:
            return [f"{self.time}, {self.security}"]
        each = (
            f"    {point.operation}, {_in_words(point.size)}: {_time(point)}{self._checked(point)}"
            for point in self.points
        )
        return [f"{self.name}: {self.constant_time}", *each]

    @property
    def area(self) -> str:
        """What it occupies, in words."""
        return "; ".join(_area(point) for point in (self.point, self.beside) if point is not None)

    def record(self) -> dict[str, Any]:
        """What it is, and its figures, as JSON has them. Raises as `constant_time`."""
        point = self.point
        return {
            "family": point.family,
            "parameters": dict(point.parameters),
            "bus": point.bus,
            **point.of_the_cluster,
            "stamped": point.stamped,
            "constant_time": self._own.constant_time,
            "operations": [self._operation(measured) for measured in self.points],
            "area": _area_record(point),
            "other_area": self.beside and _area_record(self.beside),
            "command": point.command,
        }

    def _operation(self, point: Point) -> dict[str, Any]:
        routed = point.milliseconds is not None
        return {
            "operation": point.operation,
            "bits": point.bits,
            "parameter_set": point.parameter_set,
            "cycles": _cycles(point),
            "predicted": point.cycles is None,
            "clock_mhz": point.fmax_mhz if routed else None,
            "clock_assumed": routed and not DEVICES[point.target],
            "milliseconds": point.milliseconds,
            "per_second": 1000 / _time_of_one(point) if routed else None,
            "result_checked": self._is_checked(point),
        }

    @property
    def _own(self) -> Capabilities | EngineInterface:
        settings = {name: str(value) for name, value in self.point.parameters.items()}
        choice = choose_engine(self.point.family, settings)
        if isinstance(choice, CallChoice):
            return choice.design.interface
        return choice.design.capabilities

    def _is_checked(self, point: Point) -> bool:
        own = self._own
        if isinstance(own, EngineInterface):
            return own.call[point.operation].checked
        return Command[point.operation] in own.with_check

    def _checked(self, point: Point) -> str:
        return ", result checked" if self._is_checked(point) else ""


def choose(
    points: Sequence[Point],
    *,
    wanted: Mapping[str, Size | Sequence[Size]],
    target: str,
    part: str = "accelerator",
    device: str | None = None,
    clock: float | None = None,
    budget: Budget | None = None,
) -> list[Chosen]:
    """The designs under the budget that no other design beats, the fastest first.

    Each was measured doing all of the operations. A design beats another if it is no slower in any
    of them, takes no more LUTs, DSP slices and block RAM, and is better in one of these. Time is in
    milliseconds, of the designs that were placed and routed; in clock cycles if none was. A
    cluster's is divided by its cores, which all work at once. A design that was measured more than
    once counts with its slowest. The fastest is the one that is so in the first operation.

    Parameters
    ----------
    points : results of a sweep
    wanted : what is to be fast: each operation, with the length of its modulus, or of its curve's
        field, in bits, each call on byte strings with the name of its parameter set, or with the
        length of its stream in bits, or 0; or with several of these; at least one
    target : not `generic`
    part : "engine", "accelerator" or "cluster": whose area and clock count
    device : the one that counts of those that the target was placed on; None is that of DEVICES
    clock : MHz that all designs are assumed to reach, on a target that is not placed and routed
        here; None compares clock cycles there
    budget : limits; None is none

    Raises ValueError if nothing was measured doing one or all of these on the target, or nothing is
    within the budget: the text names the nearest that was. The same for a clock that is not over 0,
    and for one on a target whose clocks are measured.
    """
    if target not in DEVICES:
        raise ValueError(f"target must be one of {', '.join(DEVICES)}, not {target!r}")
    if part not in OTHER_PART:
        raise ValueError(f"part must be {', '.join(OTHER_PART)}, not {part!r}")
    budget = budget or Budget()
    device = DEVICES[target] if device is None else device
    if clock is not None:
        points = _at_clock(points, clock, target)
    each_size = [
        (operation, size)
        for operation, sizes in wanted.items()
        for size in ([sizes] if isinstance(sizes, Size) else sizes)
    ]
    here = [
        _measured_at(points, operation, size, part, target, device) for operation, size in each_size
    ]
    where = " and ".join(f"{operation} {_of(size)}" for operation, size in each_size)
    where = f"{part} doing {where} on {target}"
    designs = _timed(here, each_size, where, budget, target)
    first, size = each_size[0]
    others = _measured(points, first, target, device)
    beside = _slowest(
        point for point in others if (point.size, point.part) == (size, OTHER_PART[part])
    )

    def excess(design: tuple[Point, ...]) -> float:
        return max(budget.excess(point) for point in design)

    within = [design for design in designs if excess(design) <= 0]
    if not within:
        closest = min(designs, key=lambda design: (excess(design), _figures(design)))
        nearest = _with_other_part(closest, beside)
        raise ValueError(
            f"no measured {where} is within {budget}; the nearest is {nearest.time}; {nearest.area}"
        )
    best = [design for design in within if not any(_beats(other, design) for other in within)]
    return [_with_other_part(design, beside) for design in sorted(best, key=_figures)]


def _with_other_part(design: tuple[Point, ...], others: Mapping[object, Point]) -> Chosen:
    """A design with the figures of its other part, from those of all designs.

    That part was measured without a chain, on AXI4-Lite.
    """
    alone = replace(
        design[0],
        cores=0,
        link_registers=0,
        node=NODES[0],
        stamped=False,
        bus=Bus.AXI4_LITE.value,
    )
    return Chosen(design, others.get(_design(alone)))


def _timed(
    here: Sequence[Sequence[Point]],
    each_size: Sequence[tuple[str, Size]],
    where: str,
    budget: Budget,
    target: str,
) -> Sequence[tuple[Point, ...]]:
    """Designs that were measured doing all operations; if any is routed, those that are.

    Raises ValueError as `choose`, if none was, or none has the time that the budget limits.
    """
    all_of_it = _together(here)
    if not all_of_it:
        each = ", ".join(
            f"{operation} {_of(size)} is done by {len(_slowest(found))}"
            for (operation, size), found in zip(each_size, here, strict=True)
        )
        raise ValueError(f"no measured {where}: {each}, and all by none")
    routed = _together(
        [[point for point in found if point.milliseconds is not None] for found in here]
    )
    if budget.max_ms is not None and not routed:
        remedy = "" if DEVICES[target] else "; name the clock of your design: --clock MHZ"
        raise ValueError(f"no {where} is placed and routed: no time is known{remedy}")
    return routed or all_of_it


def _at_clock(points: Sequence[Point], clock: float, target: str) -> list[Point]:
    """The points with the time that their cycles take at an assumed clock in MHz."""
    if DEVICES[target]:
        raise ValueError(
            f"{target} is placed and routed here, so that the clock of each design is measured:"
            " leave out --clock"
        )
    if not clock > 0:
        raise ValueError(f"the clock must be over 0 MHz, not {clock:g}")
    return [
        point
        if (cycles := _cycles(point)) is None
        else replace(point, fmax_mhz=clock, milliseconds=cycles / clock / 1000, device=None)
        for point in points
        if point.target == target
    ]


def _measured_at(
    points: Sequence[Point], operation: str, size: Size, part: str, target: str, device: str
) -> list[Point]:
    """The points of an operation and a size. ValueError if there are none."""
    alike = _measured(points, operation, target, device)
    chosen_points = [point for point in alike if point.part == part]
    where = f"{part} doing {operation} on {target}"
    if not chosen_points:
        measured = {point.part for point in alike}
        there = [other for other in OTHER_PART if other in measured]
        hint = f"only its {there[0]}: --part {there[0]}" if there else "sweep it first"
        raise ValueError(f"no {where} is measured; {hint}")
    here = [point for point in chosen_points if point.size == size]
    if not here:
        sizes = ", ".join(
            str(measured_size)
            for measured_size in sorted({point.size for point in chosen_points}, key=_in_order)
        )
        raise ValueError(f"no {where} is measured at {_in_words(size)}, only at {sizes}")
    return here


def _in_words(size: Size) -> str:
    return size if isinstance(size, str) else f"{size} bits"


def _of(size: Size) -> str:
    return f"with {size}" if isinstance(size, str) else f"of {size} bits"


def _in_order(size: Size) -> tuple[int, str]:
    """Sets by the length of their names: ML-KEM-1024 after ML-KEM-768."""
    return (len(size), size) if isinstance(size, str) else (size, "")


def _together(found: Sequence[Iterable[Point]]) -> list[tuple[Point, ...]]:
    """For each design that has points of all operations, the slowest of each."""
    slowest = [_slowest(points) for points in found]
    return [
        tuple(by_design[design] for by_design in slowest)
        for design in slowest[0]
        if all(design in by_design for by_design in slowest)
    ]


def _measured(points: Sequence[Point], operation: str, target: str, device: str) -> list[Point]:
    """The points of an operation on a target, whatever their part and size."""
    flow = FLOWS[Target(target)]
    if device and not flow.devices:
        raise ValueError(
            f"{target} is not placed and routed, so that no device counts: leave out --device"
        )
    routed_on = device_named(flow, device).title if device else None
    return [
        point
        for point in points
        if (point.target, point.operation, point.status) == (target, operation, "ok")
        and (point.fmax_mhz is None or point.device in (None, routed_on))
        and _cycles(point) is not None
    ]


def _slowest(points: Iterable[Point]) -> Mapping[object, Point]:
    """For each design, its slowest point."""
    slowest: dict[object, Point] = {}
    for point in points:
        design = _design(point)
        if design not in slowest or _figures((point,)) > _figures((slowest[design],)):
            slowest[design] = point
    return slowest


def _design(point: Point) -> object:
    chain = (point.cores, point.link_registers, point.node, point.stamped, point.bus)
    return (point.family, *chain, tuple(sorted(point.parameters.items())))


_AREA = ("lut", "ff", "dsp", "bram")
"""What `Chosen.record` shows of an area."""


def _area_record(point: Point) -> dict[str, Any]:
    return {"part": point.part, **{name: getattr(point, name) for name in _AREA}}


def _area(point: Point) -> str:
    return (
        f"{point.part} {point.lut:,} LUTs, {point.ff:,} flip-flops, {point.dsp} DSP,"
        f" {point.bram:g} block RAM"
    )


def _time(point: Point) -> str:
    how = "cycles" if point.cycles is not None else "predicted cycles"
    cycles = f"{_cycles(point):,} {how}"
    if point.milliseconds is None:
        return cycles
    each = f"{point.milliseconds:.3g} ms, {_rate(1000 / _time_of_one(point))} a second"
    assumed = "" if DEVICES[point.target] else ", assumed"
    return f"{each}, {cycles} at {point.fmax_mhz:.1f} MHz{assumed}"


def _rate(number: float) -> str:
    """A number as people read it, with three digits or more."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _cycles(point: Point) -> int | None:
    return point.cycles if point.cycles is not None else point.predicted_cycles


def _figures(design: Sequence[Point]) -> tuple[float, ...]:
    """What is to be small: the time of each operation, LUTs, DSP slices, block RAM."""
    area = (max(getattr(point, name) or 0 for point in design) for name in ("lut", "dsp", "bram"))
    return tuple(float(value) for value in (*(_time_of_one(point) for point in design), *area))


def _time_of_one(point: Point) -> float:
    """Milliseconds or cycles for one of many operations, on all cores."""
    time = point.milliseconds if point.milliseconds is not None else _cycles(point)
    return (time or 0) / max(point.cores, 1)


def _beats(points: Sequence[Point], other: Sequence[Point]) -> bool:
    pairs = list(zip(_figures(points), _figures(other), strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
