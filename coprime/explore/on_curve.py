"""Measured designs on a curve, whichever curve they were measured with.

A design's cycles on a curve are, in this order, those of its own measurement on that curve, those
that come with Coprime (curve_cycles.json, which tools/curve_cycles.py writes), those that an
earlier call has predicted, and else a prediction, which takes a second or two for each design.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from coprime.ec.samples import AnyCurve, curve_of_length
from coprime.explore.points import CURVE_SEED, Design, Point
from coprime.flow.cache import cached
from coprime.flow.long_work import long_work
from coprime.flow.sources import sources
from coprime.operations.commands import Command

SHIPPED_CYCLES = Path(__file__).parent / "curve_cycles.json"
"""Predicted cycles of the shipped designs on the curves that they were not measured with."""


def on_curve(points: Iterable[Point], command: Command, curve: AnyCurve) -> list[Point]:
    """Points of a curve: of each design that was measured doing this operation on any curve.

    Area and clock are the measured ones. Cycles are measured or predicted, with numbers from a
    seed, and the time follows from them. Designs whose numbers are too short for the curve are left
    out.

    Raises ValueError if all of them are.
    """
    here = [point for point in points if (point.operation, point.status) == (command.name, "ok")]
    cycles = _cycles(here, command, curve)
    found = [
        replace(
            point,
            bits=curve.p.bit_length(),
            seed=CURVE_SEED,
            cycles=None,
            predicted_cycles=count,
            utilization=None,
            milliseconds=point.fmax_mhz and count / point.fmax_mhz / 1000,
            area_time=None,
        )
        for point in here
        if (count := cycles[design_of(point)]) is not None
    ]
    if here and not found:
        raise ValueError(f"no measured design that does {command.name} holds {curve.name}")
    return list({point.identity: point for point in found}.values())


def design_of(point: Point) -> Design:
    """What a point's cycles follow from."""
    return point.family, tuple(sorted(point.parameters.items()))


def measured_with(point: Point, curve: AnyCurve) -> bool:
    """Whether a point of an operation on a curve is of this one: the first of its length."""
    return curve_of_length(Command[point.operation], point.bits) is curve


def _cycles(
    points: Iterable[Point], command: Command, curve: AnyCurve
) -> Mapping[Design, int | None]:
    found: dict[Design, int | None] = {}
    for point in points:
        count = point.cycles or point.predicted_cycles
        if count is not None and measured_with(point, curve):
            design = design_of(point)
            found[design] = max(count, found.get(design) or 0)
    with long_work(f"predicting the cycles of {command.name} on {curve.name}"):
        for design in dict.fromkeys(map(design_of, points)):
            if design not in found:
                shipped = shipped_cycles().get((design, command.name), {})
                found[design] = (
                    shipped[curve.name]
                    if curve.name in shipped
                    else _kept_prediction(design, command, curve)
                )
    return found


@cache
def shipped_cycles() -> Mapping[tuple[Design, str], Mapping[str, int | None]]:
    """Cycles by curve for each design and operation; None where it is too short for the curve."""
    rows = json.loads(SHIPPED_CYCLES.read_text("utf-8"))
    return {
        ((row["family"], tuple(sorted(row["parameters"].items()))), operation): cycles
        for row in rows
        for operation, cycles in row["cycles"].items()
    }


def _kept_prediction(design: Design, command: Command, curve: AnyCurve) -> int | None:
    """`predicted_cycles`, kept by content."""
    # It needs programs and drivers, which measured designs do not.
    from .curve_prediction import predicted_cycles

    def predict(folder: Path) -> None:
        count = predicted_cycles(design, command, curve)
        (folder / "cycles.json").write_text(json.dumps(count), encoding="utf-8")

    key = (sources(), repr(design), command.name, repr((curve.name, curve.p)))
    found: int | None = json.loads((cached("prediction", key, predict) / "cycles.json").read_text())
    return found
