"""Operations on curves: our engines, and published figures beside them.

Nothing is measured here: areas and clocks are those of the records that come with Coprime, cycles
are predicted.
"""

from collections.abc import Iterator, Sequence

from coprime.explore.points import Point
from coprime.explore.shipped import shipped_points
from coprime.explore.side_by_side import Comparison, Counterpart, compare
from coprime.papers import caliptra, curve25519_verilog, ipecc, microcontrollers, otbn
from coprime.papers.published import Table

from .page import table, thousands

_PAPERS = (otbn, caliptra, ipecc, curve25519_verilog, microcontrollers)
_INTRODUCTION = """## Curves

[curves.md](curves.md) explains the operations. Our figures are those of the [measurements that come
with Coprime](sweeps.md#the-measurements-that-come-with-coprime): areas after mapping, clocks after
place and route, and cycles that are predicted, without the loading of operands. What is published
is quoted, ours over it is in brackets. A signature makes k G twice unless a column says once.

"""


def measure() -> str:
    parts = [_INTRODUCTION, "### Engines for curves\n\n", _areas(), *map(_paper, _PAPERS)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts) + "\n"


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


def _paper(paper: object) -> str:
    tables: Sequence[Table] = paper.TABLES  # type: ignore[attr-defined]
    return "\n".join(_table(one) for one in tables)


def _table(printed: Table) -> str:
    """What is published, ours, and ours over that; then what a reader must know."""
    compared = [one for one in compare(printed, shipped_points()) if one.measurements]
    places = list(dict.fromkeys(own.where for one in compared for own in one.measurements))
    rows = [list(_cells(one, places)) for one in compared]
    paper = printed.paper
    lines = [f"### {paper.name}, {printed.number}\n", f"{paper.title}; {paper.venue}.", ""]
    lines += [f"{printed.device[0].upper()}{printed.device[1:]}.\n"] if printed.device else []
    lines += [table([printed.row_title.lower(), "quantity", "published", *places], rows)]
    return "\n".join(lines) + "".join(f"\n{remark}\n" for remark in printed.remarks)


def _cells(one: Comparison, places: Sequence[str]) -> Iterator[str]:
    own = {counterpart.where: counterpart for counterpart in one.measurements}
    yield one.row
    yield f"{one.quantity} [{one.unit}]" if one.unit else one.quantity
    yield _number(one.published)
    for place in places:
        yield _counterpart(own[place]) if place in own else ""


def _counterpart(own: Counterpart) -> str:
    if own.value is None:
        return "–"
    return _number(own.value) + ("" if own.ratio is None else f" (× {own.ratio:.2f})")


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return thousands(round(value)) if value >= 100 else f"{value:.3g}"
