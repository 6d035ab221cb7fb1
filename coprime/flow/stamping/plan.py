"""Rectangles for instances on a device, and in what order the chain leads through them.

The front end has a rectangle near the middle. What is left of the fabric is cut into strips of
whole groups of columns, and strips into rectangles at any rows. All strips of the same width and
height are cut in the same way, so that few different rectangles have to be placed and routed.
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
no place for the last cells, or only after a long time."""
_MOST = (1, 2, 3, 4, 5, 6, 9)
"""Instances in a rectangle at most. The more, the longer the tool places them."""
_LOGIC = ("TRELLIS_COMB", "TRELLIS_FF")

Need = Mapping[str, int]
"""How many cells of each type something has."""
_Filled = tuple[Rectangle, int]
_Cut = tuple[int, int, int]  # first row, height and instances of a rectangle in a strip


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
    """The plan for exactly as many instances, as few as possible in a rectangle, then the loosest.

    Instances that share a rectangle are slower than each by itself: the clock is that of the worst.
    Then the one with the shortest rectangles. Raises ToolError if there is no plan, with the
    numbers around it for which there is one.
    """
    possible: set[int] = set()
    cutting = _Cutting(fabric, node, front)
    for most, percent in product(_MOST, range(LEAST_FILLED, MOST_FILLED + 1, 2)):
        found = []
        for whole in cutting.plans(percent, most):
            counts = _counts(whole)
            possible |= counts
            if instances in counts:
                found.append(whole)
        if found:
            whole = min(found, key=lambda one: (one.longest_side, _effort(fabric, one)))
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

    def __init__(self, fabric: Fabric, node: Need, front: Need):
        self._fabric, self._node, self._front = fabric, node, front
        rows = fabric.rows
        self._rows = [*range(rows.start, rows.stop, fabric.row_period), rows.stop]
        self._known: dict[tuple[int, int, int, int], Sequence[Sequence[_Cut]]] = {}

    def plans(self, percent: int, most: int) -> Iterator[Floorplan]:
        """For each place of the front end and width of strips.

        At most so many percent of the LUTs of a rectangle are used, and so many instances in it.
        """
        longest = max(len(run) for run in self._fabric.runs)
        for front in self._fronts(percent):
            for width in range(1, longest + 1):
                places = [
                    (Rectangle(strip.x, top, strip.width, height), count)
                    for strip in self._strips(width, front)
                    for top, height, count in self._cut(strip, percent, most)
                ]
                if places:
                    yield Floorplan(front, places, percent)

    def _fronts(self, percent: int) -> Iterator[Rectangle]:
        """Rectangles for the front end, of each width and height the one nearest to the middle."""
        period = self._fabric.period
        for groups in range(1, max(len(run) for run in self._fabric.runs) + 1):
            nearest: dict[int, Rectangle] = {}
            for run in self._fabric.runs:
                for x in run[: len(run) - groups + 1]:
                    for top, bottom in combinations(self._rows, 2):
                        area = Rectangle(x, top, period * groups, bottom - top)
                        if not _times(self._front, self._fabric.capacity(area), percent):
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

    def _cut(self, strip: Rectangle, percent: int, most: int) -> Sequence[_Cut]:
        """The rectangles with most instances in a strip.

        The longest of them is as short as possible, and as many as possible begin where the fabric
        repeats, since those look alike.
        """
        key = strip.width, strip.y, percent, most
        if key not in self._known:
            longest = Rectangle(strip.x, strip.y, strip.width, self._rows[-1] - strip.y)
            self._known[key] = self._cut_all(longest, percent, most)
        return self._known[key][strip.height]

    def _cut_all(self, strip: Rectangle, percent: int, most: int) -> Sequence[Sequence[_Cut]]:
        """The same for each height, from 0 to that of the strip."""
        # The best way to cut what lies above each row: instances, minus the longest height, how
        # many begin where the fabric repeats, and the rectangles.
        ways: list[tuple[int, int, int, tuple[_Cut, ...]]] = [(0, 0, 0, ())]
        for cuts in self._cuts(strip, percent, most):
            longer = [ways[-1]]
            for top, height, count in cuts:
                instances, shortest, repeating, before = ways[top - strip.y]
                longer.append(
                    (
                        instances + count,
                        min(shortest, -height),
                        repeating + (top in self._rows),
                        (*before, (top, height, count)),
                    )
                )
            ways.append(max(longer))
        return [cuts for *_, cuts in ways]

    def _cuts(self, strip: Rectangle, percent: int, most: int) -> Iterator[list[_Cut]]:
        """Rectangles that end at each row of a strip: the shortest for each number of instances.

        And those that begin where the fabric repeats, as long as they are no longer than a period
        more than the shortest.
        """
        rows = [
            self._fabric.capacity(Rectangle(strip.x, y, strip.width, 1))
            for y in range(strip.y, strip.y + strip.height)
        ]
        for bottom in range(strip.y + 1, strip.y + strip.height + 1):
            cuts: list[_Cut] = []
            there: Counter[str] = Counter()
            count, last = 0, strip.y
            for top in range(bottom - 1, strip.y - 1, -1):
                if top < last:
                    break
                there += rows[top - strip.y]
                fits = min(most, _times(self._node, there, percent))
                if fits > count or (fits and top in self._rows):
                    cuts.append((top, bottom - top, fits))
                if fits == most > count:
                    last = top - self._fabric.row_period
                count = fits
            yield cuts


def _times(need: Need, there: Mapping[str, int], percent: int) -> int:
    """How many times `need` fits what is there, of whose logic so many percent are used."""
    return min(
        there.get(cell, 0) * (percent if cell in _LOGIC else 100) // (100 * count)
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
