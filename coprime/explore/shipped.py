"""What comes with Coprime: specifications of sweeps, and what sweeps of six of them measured."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from coprime.bus.kinds import Bus
from coprime.catalog import CallChoice, Choice

from .points import Point, read_points

SHIPPED = Path(__file__).parent / "measured.csv"
"""The results of the specifications TO_CHOOSE and of `papers`."""
TO_CHOOSE = ("shipped", "curves", "targets", "combinations", "calls")
"""The specifications whose designs are there to choose among; those of `papers` are the papers'."""


@cache
def measured_points() -> Sequence[Point]:
    """Every point of the file, failed ones included."""
    return tuple(read_points(SHIPPED))


@cache
def shipped_points() -> Sequence[Point]:
    """Those to choose among, which TO_CHOOSE asks for."""
    return tuple(
        point
        for point in measured_points()
        if not {*point.specifications.split()}.isdisjoint(TO_CHOOSE)
    )


def find(
    choice: Choice | CallChoice, target: str, part: str, bus: Bus = Bus.AXI4_LITE
) -> Sequence[Point]:
    """The points of exactly this design on a target: one for each operation and size.

    Each parameter must be that of the measured design; `target` is xc7, ecp5 or unit-gate, `part`
    one that a point may have, `bus` that of a part with one. All of them have the same area and
    clock. Empty if not measured.
    """
    defaults = {parameter.name: parameter.default for parameter in choice.family.parameters}
    return [
        point
        for point in shipped_points()
        if (point.family, point.target, point.part) == (choice.family.name, target, part)
        and point.bus == bus.value
        and point.status == "ok"
        and {**defaults, **point.parameters} == {**defaults, **choice.values}
    ]
