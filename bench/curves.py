"""Engines for operations on curves.

Nothing is measured here: areas and clocks are those of the measurements that come with Coprime.
"""

from coprime.explore.points import Point
from coprime.explore.shipped import shipped_points

from .page import table, thousands

_INTRODUCTION = """## Curves

[curves.md](curves.md) explains the operations. Our figures are those of the [measurements that come
with Coprime](sweeps.md#the-measurements-that-come-with-coprime): areas after mapping, clocks after
place and route, and cycles that are predicted, without the loading of operands. What is published
is quoted, ours over it is in brackets. A signature makes k G twice.

"""


def measure() -> str:
    return f"{_INTRODUCTION}### Engines for curves\n\n{_areas()}"


def _areas() -> str:
    """A line for each accelerator on each target."""
    points: dict[object, Point] = {}
    for point in shipped_points():
        if point.part == "accelerator" and "curves" in point.parameters:
            points.setdefault((point.target, point.command), point)
    head = ("target", "accelerator", "LUTs", "flip-flops", "DSP", "block RAM", "MHz")
    rows = [
        (
            point.target,
            f"`{point.command.removeprefix('coprime build ').partition(' --target')[0]}`",
            *(thousands(point.lut or 0), thousands(point.ff or 0)),
            *(point.dsp, f"{point.bram:g}"),
            f"{point.fmax_mhz:.1f}" if point.fmax_mhz else "",
        )
        for point in sorted(points.values(), key=_order)
    ]
    return table(head, rows)


def _order(point: Point) -> tuple[object, ...]:
    return (point.target != "xc7", point.dsp, str(point.parameters["curves"]), point.lut)
