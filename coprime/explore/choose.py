"""The best measured designs under a budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from coprime.flow.ecp5 import DEFAULT_DEVICE, device_name

from .points import Point

__all__ = ["Budget", "choose", "describe"]


@dataclass(frozen=True)
class Budget:
    """Upper limits; None is no limit.

    Parameters
    ----------
    max_dsp : DSP slices
    max_lut : LUTs
    max_ms : milliseconds for one operation; needs a target that is placed and routed
    """

    max_dsp: int | None = None
    max_lut: int | None = None
    max_ms: float | None = None

    def __post_init__(self) -> None:
        for name, value in self.__dict__.items():
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be 0 or more, not {value}")

    def excess(self, point: Point) -> float:
        """How far a point is over the budget: its largest excess, as a fraction of the limit."""
        pairs = (
            (self.max_dsp, point.dsp),
            (self.max_lut, point.lut),
            (self.max_ms, point.milliseconds),
        )
        return max(
            (
                (value - limit) / max(limit, 1)
                for limit, value in pairs
                if limit is not None and value is not None
            ),
            default=0.0,
        )

    def __str__(self) -> str:
        limits = ((self.max_dsp, "DSP"), (self.max_lut, "LUTs"), (self.max_ms, "ms"))
        return ", ".join(f"{limit:g} {unit}" for limit, unit in limits if limit is not None)


def choose(
    points: Sequence[Point],
    *,
    bits: int,
    target: str,
    operation: str = "RSA_PRIVATE",
    part: str = "engine",
    device: str = DEFAULT_DEVICE,
    budget: Budget | None = None,
) -> list[Point]:
    """The points under the budget that no other point beats, the fastest first.

    A point beats another if it is no slower, takes no more LUTs, DSP slices and block RAM, and is
    better in one of these. Time is in milliseconds, of the designs that were placed and routed; in
    clock cycles if none was. A design that was measured more than once counts with its slowest.

    Parameters
    ----------
    points : results of a sweep
    bits : length of the modulus in bits
    target : xc7 or ecp5
    operation : what is to be fast
    part : "engine" or "accelerator"
    device : the one that counts of those that ecp5 was placed and routed on
    budget : limits; None is none

    Raises ValueError if nothing was measured at these bits and target, or nothing is within the
    budget: the text names the nearest that was.
    """
    if target not in ("xc7", "ecp5"):
        raise ValueError(f"target must be xc7 or ecp5, not {target!r}")
    budget = budget or Budget()
    alike = [
        point
        for point in points
        if (point.target, point.operation, point.part) == (target, operation, part)
        and (point.fmax_mhz is None or point.device in (None, device_name(device)))
        and point.status == "ok"
        and _cycles(point) is not None
    ]
    here = [point for point in alike if point.bits == bits]
    where = f"{operation} on {target}"
    if not alike:
        raise ValueError(f"no point is measured for {where}; sweep it first")
    if not here:
        sizes = ", ".join(str(size) for size in sorted({point.bits for point in alike}))
        raise ValueError(f"no point is measured for {where} at {bits} bits, only at {sizes}")
    routed = [point for point in here if point.milliseconds is not None]
    if budget.max_ms is not None and not routed:
        raise ValueError(
            f"no point for {where} at {bits} bits is placed and routed: no time is known"
        )
    slowest: dict[object, Point] = {}
    for point in routed or here:
        design = (point.family, tuple(sorted(point.parameters.items())))
        if design not in slowest or _figures(point) > _figures(slowest[design]):
            slowest[design] = point
    designs = list(slowest.values())
    within = [point for point in designs if budget.excess(point) <= 0]
    if not within:
        nearest = min(designs, key=lambda point: (budget.excess(point), _figures(point)))
        raise ValueError(
            f"no measured point for {where} at {bits} bits is within {budget};"
            f" the nearest is {describe(nearest)}"
        )
    best = [
        point
        for point in within
        if not any(_beats(_figures(other), _figures(point)) for other in within)
    ]
    return sorted(best, key=_figures)


def describe(point: Point) -> str:
    """Say a point in words: family, parameters, area, time."""
    parameters = " ".join(f"{name}={value}" for name, value in point.parameters.items())
    time = (
        f"{point.milliseconds:.3g} ms"
        if point.milliseconds is not None
        else f"{_cycles(point):,} cycles"
    )
    name = f"{point.family} {parameters}".strip()
    return f"{name}: {time}, {point.lut} LUTs, {point.dsp} DSP, {point.bram:g} block RAM"


def _cycles(point: Point) -> int | None:
    return point.cycles if point.cycles is not None else point.predicted_cycles


def _figures(point: Point) -> tuple[float, ...]:
    """What is to be small: time, LUTs, DSP slices, block RAM."""
    time = point.milliseconds if point.milliseconds is not None else _cycles(point)
    return tuple(float(value or 0) for value in (time, point.lut, point.dsp, point.bram))


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
