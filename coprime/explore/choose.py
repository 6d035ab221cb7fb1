"""The best measured designs under a budget."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from coprime.catalog import CLUSTER, family_named
from coprime.cells.target import Target
from coprime.engine.contract import Command
from coprime.flow.targets import FLOWS, device_named

from .points import Point

DEVICES = {target.value: flow.default_device for target, flow in FLOWS.items()} | {
    "ecp5": "LFE5U-85F"
}
"""On which the designs of a target are compared; "" where none are placed. The one of ecp5 holds
each of the shipped measurements."""
OTHER_PART: Mapping[str, str] = {
    "accelerator": "engine",
    "engine": "accelerator",
    CLUSTER: "engine",
}
"""What may be chosen, with what is shown beside it."""


@dataclass(frozen=True)
class Budget:
    """Upper limits; None is no limit."""

    max_dsp: int | None = None  # DSP slices
    max_lut: int | None = None  # LUTs
    max_ms: float | None = None
    """Milliseconds for one operation; needs a target that is placed and routed."""

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
            (self.max_ms, point.milliseconds),
        ):
            if limit is not None and value is not None:
                excesses.append((value - limit) / max(limit, 1))
        return max(excesses)

    def __str__(self) -> str:
        limits = ((self.max_dsp, "DSP"), (self.max_lut, "LUTs"), (self.max_ms, "ms"))
        return ", ".join(f"{limit:g} {unit}" for limit, unit in limits if limit is not None)


@dataclass(frozen=True)
class Chosen:
    """A design that was chosen."""

    point: Point
    """Its figures."""
    beside: Point | None
    """The same design's other part, of a cluster its engine; None if that was not measured."""

    @property
    def time(self) -> str:
        """What it is and how long it takes, in words."""
        point = self.point
        parameters = " ".join(f"{name}={value}" for name, value in point.parameters.items())
        how = "cycles" if point.cycles is not None else "predicted cycles"
        cycles = f"{_cycles(point):,} {how}"
        if point.milliseconds is not None:
            each = f"{point.milliseconds:.3g} ms, {_rate(1000 / _time(point))} a second"
            cycles = f"{each}, {cycles} at {point.fmax_mhz:.1f} MHz"
        cores = f"{point.cores} of " if point.cores else ""
        return f"{cores}{point.family} {parameters}".strip() + f": {cycles}"

    @property
    def security(self) -> str:
        """Whether it is constant-time and checks the operation's result, in words; from the
        catalogue.

        Raises ValueError if the catalogue has no such design.
        """
        settings = {name: str(value) for name, value in self.point.parameters.items()}
        capabilities = family_named(self.point.family).choose(settings).design.capabilities
        constant = "constant time" if capabilities.constant_time else "not constant time"
        checked = Command[self.point.operation] in capabilities.with_check
        return constant + (", result checked" if checked else "")

    @property
    def area(self) -> str:
        """What it occupies, in words."""
        return "; ".join(_area(one) for one in (self.point, self.beside) if one is not None)


def choose(
    points: Sequence[Point],
    *,
    bits: int,
    target: str,
    operation: str = "RSA_PRIVATE",
    part: str = "accelerator",
    device: str | None = None,
    budget: Budget | None = None,
) -> list[Chosen]:
    """The points under the budget that no other point beats, the fastest first.

    A point beats another if it is no slower, takes no more LUTs, DSP slices and block RAM, and is
    better in one of these. Time is in milliseconds, of the designs that were placed and routed; in
    clock cycles if none was. A cluster's is divided by its cores, which all work at once. A design
    that was measured more than once counts with its slowest.

    Parameters
    ----------
    points : results of a sweep
    bits : length of the modulus, or of a curve's field, in bits
    target : not `generic`
    operation : what is to be fast
    part : "engine", "accelerator" or "cluster": whose area and clock count
    device : the one that counts of those that the target was placed on; None is that of DEVICES
    budget : limits; None is none

    Raises ValueError if nothing was measured at these bits and target, or nothing is within the
    budget: the text names the nearest that was.
    """
    if target not in DEVICES:
        raise ValueError(f"target must be one of {', '.join(DEVICES)}, not {target!r}")
    if part not in OTHER_PART:
        raise ValueError(f"part must be {', '.join(OTHER_PART)}, not {part!r}")
    budget = budget or Budget()
    alike = _measured(points, operation, target, DEVICES[target] if device is None else device)
    own = [point for point in alike if point.part == part]
    here = [point for point in own if point.bits == bits]
    where = f"{part} doing {operation} on {target}"
    if not own:
        measured = {point.part for point in alike}
        there = [one for one in OTHER_PART if one in measured]
        hint = f"only its {there[0]}: --part {there[0]}" if there else "sweep it first"
        raise ValueError(f"no {where} is measured; {hint}")
    if not here:
        sizes = ", ".join(str(size) for size in sorted({point.bits for point in own}))
        raise ValueError(f"no {where} is measured at {bits} bits, only at {sizes}")
    routed = [point for point in here if point.milliseconds is not None]
    if budget.max_ms is not None and not routed:
        raise ValueError(f"no {where} at {bits} bits is placed and routed: no time is known")
    designs = list(_slowest(routed or here).values())
    others = (one for one in alike if one.bits == bits and one.part == OTHER_PART[part])
    beside = _slowest(others)

    def chosen(point: Point) -> Chosen:
        return Chosen(point, beside.get(_design(replace(point, cores=0))))

    within = [point for point in designs if budget.excess(point) <= 0]
    if not within:
        nearest = chosen(min(designs, key=lambda one: (budget.excess(one), _figures(one))))
        raise ValueError(
            f"no measured {where} at {bits} bits is within {budget};"
            f" the nearest is {nearest.time}; {nearest.area}"
        )
    best = [point for point in within if not any(_beats(other, point) for other in within)]
    return [chosen(point) for point in sorted(best, key=_figures)]


def _measured(points: Sequence[Point], operation: str, target: str, device: str) -> list[Point]:
    """The points of an operation on a target, whatever their part and size."""
    flow = FLOWS[Target(target)]
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
        if design not in slowest or _figures(point) > _figures(slowest[design]):
            slowest[design] = point
    return slowest


def _design(point: Point) -> object:
    return (point.family, point.cores, tuple(sorted(point.parameters.items())))


def _area(point: Point) -> str:
    return (
        f"{point.part} {point.lut:,} LUTs, {point.ff:,} flip-flops, {point.dsp} DSP,"
        f" {point.bram:g} block RAM"
    )


def _rate(number: float) -> str:
    """A number as people read it, with three digits or more."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _cycles(point: Point) -> int | None:
    return point.cycles if point.cycles is not None else point.predicted_cycles


def _figures(point: Point) -> tuple[float, ...]:
    """What is to be small: time, LUTs, DSP slices, block RAM."""
    return tuple(float(value or 0) for value in (_time(point), point.lut, point.dsp, point.bram))


def _time(point: Point) -> float:
    """Milliseconds or cycles for one of many operations, on all cores."""
    time = point.milliseconds if point.milliseconds is not None else _cycles(point)
    return (time or 0) / max(point.cores, 1)


def _beats(one: Point, other: Point) -> bool:
    pairs = list(zip(_figures(one), _figures(other), strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
