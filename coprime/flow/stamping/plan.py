"""Rectangles for a number of instances on a device, and in what order the chain leads through them.

The fabric is cut into strips of whole groups of columns, from the uppermost row to the lowest, and
strips into rectangles at rows where the fabric repeats. All strips of the same width are cut in the
same way, so that few different rectangles have to be placed and routed.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product

from ..tools import ToolError
from .fabric import Fabric, Rectangle

LEAST_FILLED, MOST_FILLED = 66, 86
"""Percent of the LUTs in a rectangle that are tried, from loose to tight. Beyond that nextpnr finds
no place for the last cells."""
_MOST = (1, 2, 3, 4, 5, 6, 9)
"""Instances in a rectangle at most. The more, the longer the tool places them."""
_LOGIC = ("TRELLIS_COMB", "TRELLIS_FF")

Need = Mapping[str, int]
"""How many cells of each type something has."""
_Filled = tuple[Rectangle, int]


@dataclass(frozen=True)
class Plan:
    """Where everything goes."""

    front: Rectangle
    places: Sequence[_Filled]
    """Rectangles in the order of the chain, and how many instances are in each."""
    percent: int
    """At most so much of the LUTs of a rectangle is used."""

    @property
    def instances(self) -> int:
        """Instances in all rectangles."""
        return sum(count for _, count in self.places)


def plan(fabric: Fabric, node: Need, front: Need, instances: int) -> Plan:
    """The loosest plan for exactly as many instances.

    Raises ToolError if there is none, with the numbers around it for which there is one.
    """
    possible: set[int] = set()
    for percent in range(LEAST_FILLED, MOST_FILLED + 1, 2):
        found = []
        for whole in _plans(fabric, node, front, percent):
            counts = _counts(whole)
            possible |= counts
            if instances in counts:
                found.append(_reduced(whole, instances))
        if found:
            chosen = min(found, key=lambda one: _effort(fabric, one))
            return Plan(chosen.front, _in_order(chosen.front, chosen.places), percent)
    if not possible:
        raise ToolError("an instance and what is around the chain do not fit the device")
    below = max((one for one in possible if one < instances), default=None)
    above = min((one for one in possible if one > instances), default=None)
    near = " or ".join(str(one) for one in (below, above) if one)
    raise ToolError(f"{instances} instances cannot be stamped on this device; {near} can")


def _plans(fabric: Fabric, node: Need, front: Need, percent: int) -> Iterator[Plan]:
    """Fullest ways to cut the fabric, with the front end in one of the strips.

    For each width of a strip, and each number of instances that a rectangle has at most.
    """
    longest = max(len(run) for run in fabric.runs)
    for width, most in product(range(1, longest + 1), _MOST):
        strips = list(_strips(fabric, width))
        plain = [_cut(fabric, strip, node, None, percent, most) for strip in strips]
        mixed = [_cut(fabric, strip, node, front, percent, most) for strip in strips]
        columns = fabric.runs[0][0], fabric.runs[-1][-1] + fabric.period
        options = [
            (
                sum(count for _, count in places) - sum(count for _, count in plain[index][1]),
                -abs(strip.middle[0] - sum(columns) / 2),
                index,
            )
            for index, strip in enumerate(strips)
            if (places := mixed[index][1]) is not None and mixed[index][0] is not None
        ]
        if not options:
            continue
        chosen = max(options)[2]
        own, beside = mixed[chosen]
        assert own is not None
        others = [one for index, cut in enumerate(plain) if index != chosen for one in cut[1]]
        if beside or others:
            yield Plan(own, [*beside, *others], percent)


def _strips(fabric: Fabric, width: int) -> Iterator[Rectangle]:
    """Strips of `width` groups of columns, and one of what is left of each run."""
    for run in fabric.runs:
        for first in range(0, len(run), width):
            groups = min(width, len(run) - first)
            columns = fabric.period * groups
            yield Rectangle(run[first], fabric.rows.start, columns, len(fabric.rows))


def _cut(
    fabric: Fabric, strip: Rectangle, node: Need, front: Need | None, percent: int, most: int
) -> tuple[Rectangle | None, list[_Filled]]:
    """Cut a strip into the rectangles with most instances, and one for the front end.

    As small rectangles as possible: they are placed faster and better.
    """
    rows = _cuts(fabric)
    best: tuple[tuple[int, int], Rectangle | None, list[_Filled]] | None = None
    for inner in _subsets(rows[1:-1]):
        areas = [
            Rectangle(strip.x, top, strip.width, bottom - top)
            for top, bottom in pairwise((rows[0], *inner, rows[-1]))
        ]
        counts = [min(most, _fits(fabric, area, node, percent)) for area in areas]
        hosts: Sequence[int | None] = [None]
        if front is not None:
            hosts = [k for k, area in enumerate(areas) if _fits(fabric, area, front, percent)]
        for host in hosts:
            places = [
                (area, count)
                for k, (area, count) in enumerate(zip(areas, counts, strict=True))
                if k != host and count
            ]
            rank = sum(count for _, count in places), len(areas)
            if best is None or rank > best[0]:
                best = rank, None if host is None else areas[host], places
    return best[1:] if best else (None, [])


def _cuts(fabric: Fabric) -> list[int]:
    """Rows at which strips may be cut: with the fabric's period, and the ends."""
    rows = fabric.rows
    return [*range(rows.start, rows.stop, fabric.row_period), rows.stop]


def _subsets(rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for size in range(len(rows) + 1):
        yield from combinations(rows, size)


def _fits(fabric: Fabric, area: Rectangle, need: Need, percent: int) -> int:
    """How many times `need` fits a rectangle."""
    there = fabric.capacity(area)
    return min(
        there[cell] * (percent if cell in _LOGIC else 100) // (100 * count)
        for cell, count in need.items()
        if count
    )


def _effort(fabric: Fabric, whole: Plan) -> tuple[int, int]:
    """Most instances in a rectangle, and how many rectangles have to be placed and routed."""
    shapes = {(fabric.signature(area), count) for area, count in whole.places}
    return max(count for _, count in whole.places), len(shapes)


# --- Exactly as many, and in which order ----------------------------------------------------------


def _counts(whole: Plan) -> set[int]:
    """Numbers of instances that some of the rectangles make."""
    sums = {0}
    for _, count in whole.places:
        sums |= {one + count for one in sums}
    return sums - {0}


def _reduced(whole: Plan, instances: int) -> Plan:
    """The plan without the rectangles that are too many, of which the farthest go first."""
    places = sorted(whole.places, key=lambda one: -_distance(one[0], whole.front))
    surplus = whole.instances - instances
    ways: dict[int, list[int]] = {0: []}
    for index, (_, count) in enumerate(places):
        for total, chosen in list(ways.items()):
            ways.setdefault(total + count, [*chosen, index])
    gone = set(ways[surplus])
    kept = [one for index, one in enumerate(places) if index not in gone]
    return Plan(whole.front, kept, whole.percent)


def _in_order(front: Rectangle, places: Sequence[_Filled]) -> list[_Filled]:
    """A round trip from the front end through all rectangles, without long hops.

    The nearest rectangle next; then parts of the way are reversed as long as that shortens it.
    """
    left, way = list(places), []
    here = front
    while left:
        nearest = min(left, key=lambda one: _distance(here, one[0]))
        left.remove(nearest)
        way.append(nearest)
        here = nearest[0]
    better = True
    while better:
        better = False
        for first in range(len(way)):
            for last in range(first + 1, len(way)):
                turned = way[:first] + way[first : last + 1][::-1] + way[last + 1 :]
                if _length(front, turned) < _length(front, way) - 1e-6:
                    way, better = turned, True
    return way


def _length(front: Rectangle, way: Sequence[_Filled]) -> float:
    stops = [front, *(area for area, _ in way), front]
    # Squares: it is the longest hop that limits the clock.
    return sum(_distance(a, b) ** 2 for a, b in pairwise(stops))


def _distance(a: Rectangle, b: Rectangle) -> float:
    return math.dist(a.middle, b.middle)


def need_of(cells: Mapping[str, Mapping[str, object]]) -> Counter[str]:
    """Count the cells of a packed netlist that take room in the fabric."""
    counted = Counter(str(cell["type"]) for cell in cells.values())
    return Counter({kind: counted[kind] for kind in (*_LOGIC, "DP16KD", "MULT18X18D")})
