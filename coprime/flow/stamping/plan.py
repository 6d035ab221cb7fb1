"""Rectangles for instances on a device, and in what order the chain leads through them.

The front end has a rectangle near the middle. What is left of the fabric is cut into strips of
whole groups of columns, and strips into rectangles at rows where the fabric repeats. All strips of
the same width and height are cut in the same way, so that few different rectangles have to be
placed and routed.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from ..tools import ToolError
from .fabric import Fabric, Rectangle

LEAST_FILLED, MOST_FILLED = 66, 82
"""Percent of the LUTs in a rectangle that are tried, from loose to tight. Beyond that nextpnr finds
no place for the last cells, or only after a long time."""
_MOST = (1, 2, 3, 4, 5, 6, 9)
"""Instances in a rectangle at most. The more, the longer the tool places them."""
_LOGIC = ("TRELLIS_COMB", "TRELLIS_FF")

Need = Mapping[str, int]
"""How many cells of each type something has."""
_Filled = tuple[Rectangle, int]


@dataclass(frozen=True)
class Floorplan:
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

    @property
    def longest_side(self) -> int:
        """Tiles along the longest side of a rectangle."""
        areas = [self.front, *(area for area, _ in self.places)]
        return max(max(area.width, area.height) for area in areas)


def plan(fabric: Fabric, node: Need, front: Need, instances: int) -> Floorplan:
    """The plan for exactly as many instances with the shortest rectangles, then the loosest ones.

    In long rectangles wires are long. Raises ToolError if there is no plan, with the numbers around
    it for which there is one.
    """
    possible: set[int] = set()
    found: dict[tuple[int, int], list[Floorplan]] = {}
    for percent in range(LEAST_FILLED, MOST_FILLED + 1, 2):
        for whole in _Cutting(fabric, node, front, percent).plans():
            counts = _counts(whole)
            possible |= counts
            if instances in counts:
                found.setdefault((whole.longest_side, percent), []).append(whole)
    if found:
        whole = min(found[min(found)], key=lambda one: _effort(fabric, one))
        places = _in_order(whole.front, _reduced(whole, instances))
        return Floorplan(whole.front, places, whole.percent)
    if not possible:
        raise ToolError("an instance and what is around the chain do not fit the device")
    below = max((one for one in possible if one < instances), default=None)
    above = min((one for one in possible if one > instances), default=None)
    near = " or ".join(str(one) for one in (below, above) if one)
    raise ToolError(f"{instances} instances cannot be stamped on this device; {near} can")


class _Cutting:
    """The ways to cut a fabric."""

    def __init__(self, fabric: Fabric, node: Need, front: Need, percent: int):
        self._fabric, self._node, self._front = fabric, node, front
        self._percent = percent
        rows = fabric.rows
        self._rows = [*range(rows.start, rows.stop, fabric.row_period), rows.stop]
        self._known: dict[tuple[int, int, int, int], list[tuple[int, int, int]]] = {}

    def plans(self) -> Iterator[Floorplan]:
        """For each place of the front end, width of strips and most instances in a rectangle."""
        longest = max(len(run) for run in self._fabric.runs)
        for front in self._fronts():
            for width in range(1, longest + 1):
                for most in _MOST:
                    places = [
                        (Rectangle(strip.x, top, strip.width, height), count)
                        for strip in self._strips(width, front)
                        for top, height, count in self._cut(strip, most)
                    ]
                    if places:
                        yield Floorplan(front, places, self._percent)

    def _fronts(self) -> Iterator[Rectangle]:
        """Rectangles for the front end, of each width and height the one nearest to the middle."""
        period = self._fabric.period
        for groups in range(1, max(len(run) for run in self._fabric.runs) + 1):
            nearest: dict[int, Rectangle] = {}
            for run in self._fabric.runs:
                for x in run[: len(run) - groups + 1]:
                    for top, bottom in combinations(self._rows, 2):
                        area = Rectangle(x, top, period * groups, bottom - top)
                        if not self._fits(area, self._front):
                            continue
                        best = nearest.get(area.height)
                        if best is None or self._off(area) < self._off(best):
                            nearest[area.height] = area
            yield from nearest.values()

    def _off(self, area: Rectangle) -> float:
        return math.dist(area.middle, self._fabric.middle)

    def _strips(self, width: int, front: Rectangle) -> Iterator[Rectangle]:
        """Strips of `width` groups of columns, fewer at the end of a run, but for the front end."""
        period = self._fabric.period
        for run in self._fabric.runs:
            beside = [x for x in run if not front.x <= x < front.x + front.width]
            above = [x for x in run if front.x <= x < front.x + front.width]
            for columns, heights in (
                (beside, [(self._rows[0], self._rows[-1])]),
                (above, [(self._rows[0], front.y), (front.y + front.height, self._rows[-1])]),
            ):
                for first in range(0, len(columns), width):
                    part = columns[first : first + width]
                    if part[-1] - part[0] != period * (len(part) - 1):
                        continue  # on both sides of the front end
                    for top, bottom in heights:
                        if bottom > top:
                            yield Rectangle(part[0], top, period * len(part), bottom - top)

    def _cut(self, strip: Rectangle, most: int) -> list[tuple[int, int, int]]:
        """First row, height and instances of the rectangles with most instances in a strip.

        As small ones as possible: they are placed faster and better.
        """
        key = strip.width, strip.y, strip.height, most
        if key not in self._known:
            rows = [row for row in self._rows if strip.y <= row <= strip.y + strip.height]
            ways = []
            for size in range(len(rows) - 1):
                for inner in combinations(rows[1:-1], size):
                    cuts = [
                        (top, bottom - top) for top, bottom in pairwise((rows[0], *inner, rows[-1]))
                    ]
                    areas = [Rectangle(strip.x, top, strip.width, height) for top, height in cuts]
                    counts = [min(most, self._fits(area, self._node)) for area in areas]
                    ways.append(
                        [(*cut, count) for cut, count in zip(cuts, counts, strict=True) if count]
                    )
            self._known[key] = max(
                ways,
                key=lambda way: (
                    sum(count for *_, count in way),
                    -max((height for _, height, _ in way), default=0),
                ),
            )
        return self._known[key]

    def _fits(self, area: Rectangle, need: Need) -> int:
        """How many times `need` fits a rectangle."""
        there = self._fabric.capacity(area)
        return min(
            there[cell] * (self._percent if cell in _LOGIC else 100) // (100 * count)
            for cell, count in need.items()
            if count
        )


def _effort(fabric: Fabric, whole: Floorplan) -> tuple[int, int]:
    """How many rectangles have to be placed and routed, and most instances in one."""
    shapes = {
        (area.width, area.y % fabric.row_period, area.height, count) for area, count in whole.places
    }
    return len(shapes), max(count for _, count in whole.places)


# --- Exactly as many, and in which order ----------------------------------------------------------


def _counts(whole: Floorplan) -> set[int]:
    """Numbers of instances that some of the rectangles make."""
    sums = {0}
    for _, count in whole.places:
        sums |= {one + count for one in sums}
    return sums - {0}


def _reduced(whole: Floorplan, instances: int) -> list[_Filled]:
    """The rectangles without those that are too many, of which the farthest go first."""
    places = sorted(whole.places, key=lambda one: -_distance(one[0], whole.front))
    surplus = whole.instances - instances
    ways: dict[int, list[int]] = {0: []}
    for index, (_, count) in enumerate(places):
        for total, chosen in list(ways.items()):
            ways.setdefault(total + count, [*chosen, index])
    gone = set(ways[surplus])
    return [one for index, one in enumerate(places) if index not in gone]


def _in_order(front: Rectangle, places: Sequence[_Filled]) -> list[_Filled]:
    """A round trip from the front end through all rectangles, without long hops.

    The nearest rectangle next; then the way is changed as long as that shortens it.
    """
    left, way = list(places), []
    here = front
    while left:
        nearest = min(left, key=lambda one: _distance(here, one[0]))
        left.remove(nearest)
        way.append(nearest)
        here = nearest[0]
    length = _length(front, way)
    better = True
    while better:
        better = False
        for other in _changes(way):
            if (shorter := _length(front, other)) < length * (1 - 1e-9):
                way, length, better = other, shorter, True
                break
    return way


def _changes(way: Sequence[_Filled]) -> Iterator[list[_Filled]]:
    """The way with a part of it reversed, or one stop elsewhere."""
    for first, last in combinations(range(len(way)), 2):
        yield [*way[:first], *way[first : last + 1][::-1], *way[last + 1 :]]
        yield [*way[:first], *way[first + 1 : last + 1], way[first], *way[last + 1 :]]
        yield [*way[:first], way[last], *way[first:last], *way[last + 1 :]]


def _length(front: Rectangle, way: Sequence[_Filled]) -> float:
    stops = [front, *(area for area, _ in way), front]
    # A high power: it is the longest hop that limits the clock.
    return sum(_distance(a, b) ** 4 for a, b in pairwise(stops))


def _distance(a: Rectangle, b: Rectangle) -> float:
    return math.dist(a.middle, b.middle)


def need_of(cells: Mapping[str, Mapping[str, object]]) -> Counter[str]:
    """Count the cells of a packed netlist that take room in the fabric."""
    counted = Counter(str(cell["type"]) for cell in cells.values())
    return Counter({kind: counted[kind] for kind in (*_LOGIC, "DP16KD", "MULT18X18D")})
