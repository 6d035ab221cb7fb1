"""Tables of papers on pages, with ours next to what is published: blocks that `make figures` draws.

<!-- compared: COMPRESSION, Table 7, Table 8 -->
...
<!-- end -->

Without tables a block has all of the paper's. Nothing is measured here: a block draws the points of
the measurements that come with Coprime by the comparison that the report and its papers.csv make.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from coprime_evidence.papers.published import Table, tables
from coprime_evidence.report.side_by_side import DERIVED, Comparison, Counterpart, compare, reasons

from coprime.explore.shipped import measured_points

from .page import table, thousands

__all__ = ["BLOCK", "draw"]

BLOCK = re.compile(r"^<!-- compared: (?P<what>[^\n]+) -->\n.*?^<!-- end -->\n", re.M | re.S)


def draw(text: str) -> str:
    """A page with every such block written anew. Raises ValueError for an unknown table."""
    return BLOCK.sub(lambda block: _block(block["what"]), text)


@cache
def _block(what: str) -> str:
    paper, *numbers = what.split(", ")
    known = {one.number: one for one in tables() if one.paper.name == paper}
    if missing := [number for number in numbers if number not in known]:
        raise ValueError(f"{paper} has no {', '.join(missing)}; it has {', '.join(known)}")
    if not known:
        raise ValueError(f"there is no paper {paper}")
    chosen = [known[number] for number in numbers or known]
    drawn = "\n".join(
        _table(one, before) for one, before in zip(chosen, [None, *chosen], strict=False)
    )
    return f"<!-- compared: {what} -->\n\n{drawn}\n<!-- end -->\n"


def _table(printed: Table, before: Table | None) -> str:
    """What is published, ours, and ours over that; then what a reader must know.

    The paper and its device are named where they are not those of the table `before`.
    """
    lines = compare(printed, measured_points())
    compared = [one for one in lines if one.measurements or one.derived]
    places = list(dict.fromkeys(map(_place, _counterparts(compared))))
    rows = [list(_cells(one, places)) for one in compared]
    paper = printed.paper
    parts = [f"### {paper.name}, {printed.number}: {printed.title}\n"]
    if before is None:
        parts += [f"{paper.title}; {paper.venue}.\n"]
    if printed.device and (before is None or printed.device != before.device):
        parts += [f"{printed.device[0].upper()}{printed.device[1:]}.\n"]
    if compared:
        parts += [table([printed.row_title.lower(), "quantity", "published", *places], rows)]
    if any(own.value is None for one in compared for own in one.measurements):
        parts += ["A dash is not among the measurements that come with Coprime.\n"]
    parts += [f"Without a counterpart: {names}: {why}.\n" for why, names in reasons(lines)]
    parts += [f"{remark}\n" for remark in printed.remarks]
    return "\n".join(parts)


def _counterparts(lines: Sequence[Comparison]) -> Iterator[Counterpart]:
    """Derived ones first, as in the report."""
    for one in lines:
        yield from one.derived
    for one in lines:
        yield from one.measurements


def _place(counterpart: Counterpart) -> str:
    return f"derived: {counterpart.where}" if counterpart.kind == DERIVED else counterpart.where


def _cells(one: Comparison, places: Sequence[str]) -> Iterator[str]:
    own = {_place(counterpart): counterpart for counterpart in _counterparts([one])}
    yield one.row
    yield f"{one.quantity} [{one.unit}]" if one.unit else one.quantity
    yield _number(one.published)
    for place in places:
        yield _counterpart(own[place]) if place in own else ""


def _counterpart(counterpart: Counterpart) -> str:
    if counterpart.value is None:
        return "–"
    predicted = ", predicted" if counterpart.label != counterpart.where else ""
    ratio = "" if counterpart.ratio is None else f" (× {_ratio(counterpart.ratio)}{predicted})"
    return _number(counterpart.value) + (ratio or predicted)


def _ratio(ratio: float) -> str:
    return f"{ratio:,.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return thousands(round(value)) if value >= 100 else f"{value:.3g}"
