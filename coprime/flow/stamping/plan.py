"""Rectangles for instances on a device, and the order in which the chain connects them.

The front end has a rectangle near the middle. The rest of the fabric is cut into strips of whole
groups of columns, and the strips into rectangles at rows where the fabric repeats. All strips of
the same width and height are cut in the same way, so that few different rectangles have to be
placed and routed.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from ..tool_errors import ToolError
from .fabric import Fabric, Rectangle

LEAST_FILLED, MOST_FILLED = 66, 86
"""Utilization of the LUTs in a rectangle to try, in percent, from loose to tight. Above the last
one nextpnr cannot place the last cells, or only after a long time."""
_MOST = (1, 2, 3, 4, 5, 6, 9)
"""Maximum number of instances in a rectangle. The more, the longer placement takes."""
_LONGEST = 1.5
"""Maximum ratio of the longest side of a rectangle to that in another plan: in a long rectangle
wires are long, however full it is."""
_MOST_SHARED = 7  # maximum number of rows that belong to two rectangles
_LOGIC = ("TRELLIS_COMB", "TRELLIS_FF")

Need = Mapping[str, int]
"""Number of cells of each type."""


@dataclass(frozen=True)
class PlannedArea:
    """A rectangle for some instances.

    Some rows may belong to two rectangles; the first of them is a row of block RAMs or multipliers.
    They are the last rows of `above` and the first rows of this place. The upper rectangle has
    their left half, and the lower one the cells that the upper one leaves.
    """

    area: Rectangle
    instances: int
    above: "PlannedArea | None" = None
    shared_rows: int = 0  # with the place below

    @property
    def rectangles(self) -> "list[PlannedArea]":
        """This place and those above it with which it shares rows."""
        return [*(self.above.rectangles if self.above else []), self]

    @property
    def most_shared(self) -> int:
        """Maximum number of rows that two of these share."""
        return max(rectangle.shared_rows for rectangle in self.rectangles)


@dataclass(frozen=True)
class Floorplan:
    """The places of the front end and of all instances."""

    front: Rectangle
    places: Sequence[PlannedArea]  # in the order of the chain
    percent: int
    """Maximum utilization of the LUTs of a rectangle."""

    @property
    def instances(self) -> int:
        """Instances in all rectangles."""
        return sum(place.instances for place in self.places)

    @property
    def longest_side(self) -> int:
        """Tiles along the longest side of a rectangle."""
        areas = [self.front, *(place.area for place in self.places)]
        return max(max(area.width, area.height) for area in areas)


def plan(fabric: Fabric, node: Need, front: Need, instances: int) -> Floorplan:
    """The best plan for exactly this number of instances.

    It has as few instances in a rectangle as possible, since instances in the same rectangle are
    slower than each alone: the clock is that of the worst. Next, plans without shared rows are
    preferred. Of the plans whose rectangles are not much longer than necessary, it is the loosest,
    then the one with the fewest kinds of rectangles, then the one with the shortest. Raises
    ToolError if there is no plan; the error names the nearest numbers for which there is one.
    """
    possible: set[int] = set()
    cutting = _Cutting(fabric, node, front)
    for most, shared in sorted([*((most, False) for most in _MOST), (1, True)]):
        found = []
        for percent in range(LEAST_FILLED, MOST_FILLED + 1, 4):
            for whole in cutting.plans(_Limits(percent, most, shared)):
                counts = _counts(whole)
                possible |= counts
                if instances in counts:
                    found.append(whole)
        if found:
            longest = _LONGEST * min(candidate.longest_side for candidate in found)
            whole = min(
                (candidate for candidate in found if candidate.longest_side <= longest),
                key=lambda candidate: (
                    candidate.percent,
                    _effort(fabric, candidate),
                    candidate.longest_side,
                ),
            )
            places = _in_order(whole.front, _reduced(whole, instances))
            return Floorplan(whole.front, places, whole.percent)
    if not possible:
        raise ToolError("an instance and what is around the chain do not fit the device")
    below = max((count for count in possible if count < instances), default=None)
    above = min((count for count in possible if count > instances), default=None)
    near = " or ".join(str(count) for count in (below, above) if count)
    raise ToolError(f"{instances} instances cannot be stamped on this device; {near} can")


@dataclass(frozen=True)
class _Limits:
    """Limits for cutting a fabric."""

    percent: int  # of the LUTs in a rectangle that are used, at most
    most: int  # instances in a rectangle
    shared: bool  # whether rows may belong to two rectangles

    @property
    def bands(self) -> range:
        """Numbers of rows that two rectangles may share."""
        return range(_MOST_SHARED + 1 if self.shared else 1)


@dataclass(frozen=True, order=True)
class _Cut:
    """A rectangle in a strip: its rows from `top` to before `bottom`."""

    top: int
    bottom: int
    instances: int
    shares_first: int  # rows, with the rectangle above
    shares_last: int  # with the one below


_Way = tuple[int, int, int, tuple[_Cut, ...]]
"""How to cut the part above a row: instances, minus the longest height, the number of rectangles
that begin where the fabric repeats, and the rectangles."""


class _Cutting:
    """The ways to cut a fabric."""

    def __init__(self, fabric: Fabric, node: Need, front: Need):
        self._fabric, self._node, self._front = fabric, node, front
        rows = fabric.rows
        self._rows = [*range(rows.start, rows.stop, fabric.row_period), rows.stop]
        self._known: dict[tuple[object, ...], Sequence[tuple[_Cut, ...]]] = {}
        self._capacities: dict[tuple[int, int, bool], Counter[str]] = {}

    def plans(self, limits: _Limits) -> Iterator[Floorplan]:
        """Return the ways for each place of the front end and each width of strips."""
        longest = max(len(run) for run in self._fabric.runs)
        for front in self._fronts(limits):
            for width in range(1, longest + 1):
                strips = [
                    (strip, cuts)
                    for strip in self._strips(width, front)
                    if (cuts := self._cut(strip, limits))
                ]
                ends: dict[tuple[_Cut, ...], int] = {}  # of the shortest strips with these cuts
                for strip, cuts in strips:
                    end = strip.y + strip.height
                    ends[cuts] = min(end, ends.get(cuts, end))
                places = [
                    place
                    for strip, cuts in strips
                    for place in _places(strip, self._loosened(strip, ends[cuts], cuts))
                ]
                if places:
                    yield Floorplan(front, places, limits.percent)

    def _fronts(self, limits: _Limits) -> Iterator[Rectangle]:
        """Rectangles for the front end: for each width and height the one nearest to the middle.

        They begin and end where the fabric repeats. With shared rows, another one is as low as
        possible at the end of the fabric.
        """
        period, (*_, end), percent = self._fabric.period, self._rows, limits.percent
        for groups in range(1, max(len(run) for run in self._fabric.runs) + 1):
            nearest: dict[int, Rectangle] = {}
            lowest = [
                (top, end)
                for top in range(self._rows[0], end)
                if limits.shared
                and self._front_fits(self._fabric.runs[0][0], groups, top, end, percent)
            ][-1:]
            for run in self._fabric.runs:
                for x in run[: len(run) - groups + 1]:
                    for top, bottom in [*combinations(self._rows, 2), *lowest]:
                        if not self._front_fits(x, groups, top, bottom, percent):
                            continue
                        area = Rectangle(x, top, period * groups, bottom - top)
                        best = nearest.get(area.height)
                        if best is None or self._off(area) < self._off(best):
                            nearest[area.height] = area
            yield from nearest.values()

    def _front_fits(self, x: int, groups: int, top: int, bottom: int, percent: int) -> bool:
        area = Rectangle(x, top, self._fabric.period * groups, bottom - top)
        return _times(self._front, self._fabric.capacity(area), percent) > 0

    def _off(self, area: Rectangle) -> float:
        return math.dist(area.middle, self._fabric.middle)

    def _strips(self, width: int, front: Rectangle) -> Iterator[Rectangle]:
        """Strips of `width` groups of columns, fewer at the end of a run, without the front end."""
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

    def _cut(self, strip: Rectangle, limits: _Limits) -> tuple[_Cut, ...]:
        """The rectangles that give a strip the most instances.

        The longest of them is as short as possible, and as many as possible begin where the fabric
        repeats, since those look alike.
        """
        key = strip.width, strip.y, limits
        if key not in self._known:
            longest = Rectangle(strip.x, strip.y, strip.width, self._rows[-1] - strip.y)
            self._known[key] = self._cut_all(longest, limits)
        return self._known[key][strip.height]

    def _cut_all(self, strip: Rectangle, limits: _Limits) -> Sequence[tuple[_Cut, ...]]:
        """The same for each height, from 0 to that of the strip."""
        # By the row and the number of rows before it that the last rectangle shares.
        ways: dict[tuple[int, int], _Way] = {(strip.y, 0): (0, 0, 0, ())}
        for bottom in range(strip.y + 1, strip.y + strip.height + 1):
            found: dict[int, list[_Way]] = {rows: [] for rows in limits.bands}
            found[0].append(ways[bottom - 1, 0])
            for cut in self._cuts(strip, bottom, limits):
                before = ways.get((cut.top + cut.shares_first, cut.shares_first))
                if before:
                    instances, shortest, repeating, cuts = before
                    way = (
                        instances + cut.instances,
                        min(shortest, cut.top - cut.bottom),
                        repeating + (cut.top in self._rows),
                        (*cuts, cut),
                    )
                    found[cut.shares_last].append(way)
            for shared, candidates in found.items():
                if candidates:
                    ways[bottom, shared] = max(candidates)
        return [ways[strip.y + height, 0][-1] for height in range(strip.height + 1)]

    def _loosened(self, strip: Rectangle, end: int, cuts: Sequence[_Cut]) -> Iterator[_Cut]:
        """Extend rectangles by rows that no other one has, while they are fuller than necessary.

        Those that begin where the fabric repeats still do.
        """
        free = strip.y
        for index, cut in enumerate(cuts):
            limit = cuts[index + 1].top if index + 1 < len(cuts) else end
            top, bottom = cut.top, cut.bottom
            while top > free and not cut.shares_first and top not in self._rows:
                if self._is_loose(strip, top, bottom, cut.instances):
                    break
                top -= 1
            while bottom < limit and not cut.shares_last:
                if self._is_loose(strip, top, bottom, cut.instances):
                    break
                bottom += 1
            free = bottom
            yield replace(cut, top=top, bottom=bottom)

    def _is_loose(self, strip: Rectangle, top: int, bottom: int, instances: int) -> bool:
        there = self._fabric.capacity(Rectangle(strip.x, top, strip.width, bottom - top))
        logic = {cell: count for cell, count in self._node.items() if cell in _LOGIC}
        return _times(logic, there, LEAST_FILLED) >= instances

    def _cuts(self, strip: Rectangle, bottom: int, limits: _Limits) -> Iterator[_Cut]:
        """Rectangles that end before a row: the shortest for each number of instances.

        Also those that begin where the fabric repeats, if they are at most a period longer than the
        shortest.
        """
        for shares_last in limits.bands:
            if shares_last and not self._shareable(strip, bottom - shares_last):
                continue
            there: Counter[str] = Counter()
            count, last = 0, strip.y  # instances in the rectangle that is a row shorter
            for top in range(bottom - 1, strip.y - 1, -1):
                if top < last:
                    break
                there += self._row(strip, top, top >= bottom - shares_last)
                own = there
                for shares_first in limits.bands[1:] if self._shareable(strip, top) else ():
                    if top + shares_first > bottom - shares_last:
                        break
                    y = top + shares_first - 1
                    own = own - (self._row(strip, y, False) - self._row(strip, y, True))
                    fits = min(limits.most, _times(self._node, own, limits.percent))
                    if fits > count:
                        yield _Cut(top, bottom, fits, shares_first, shares_last)
                fits = min(limits.most, _times(self._node, there, limits.percent))
                if fits > count or (fits and top in self._rows):
                    yield _Cut(top, bottom, fits, 0, shares_last)
                if fits == limits.most > count:
                    last = top - self._fabric.row_period
                count = fits

    def _row(self, strip: Rectangle, y: int, halved: bool) -> Counter[str]:
        key = strip.width, y, halved  # strips of the same width look alike
        if key not in self._capacities:
            width = strip.width // 2 if halved else strip.width
            self._capacities[key] = self._fabric.capacity(Rectangle(strip.x, y, width, 1))
        return self._capacities[key]

    def _shareable(self, strip: Rectangle, y: int) -> bool:
        """Whether a row has no logic, but cells that two rectangles may share half and half."""
        there = self._row(strip, y, False)
        return bool(there) and not any(there[cell] for cell in _LOGIC)


def _places(strip: Rectangle, cuts: Iterable[_Cut]) -> Iterator[PlannedArea]:
    above = None
    for cut in cuts:
        area = Rectangle(strip.x, cut.top, strip.width, cut.bottom - cut.top)
        place = PlannedArea(
            area, cut.instances, above if cut.shares_first else None, cut.shares_last
        )
        yield place
        above = place


def _times(need: Need, there: Mapping[str, int], percent: int) -> int:
    """How many times `need` fits the cells of an area, with this utilization of its logic."""
    return min(
        there.get(cell, 0) * (percent if cell in _LOGIC else 100) // (100 * count)
        for cell, count in need.items()
        if count
    )


def _effort(fabric: Fabric, whole: Floorplan) -> tuple[int, int]:
    """Number of rectangles to be placed and routed, and the maximum of instances in one."""
    shapes = {
        tuple(
            (
                rectangle.area.width,
                rectangle.area.y % fabric.row_period,
                rectangle.area.height,
                rectangle.instances,
            )
            for rectangle in place.rectangles
        )
        for place in whole.places
    }
    return len(shapes), max(place.instances for place in whole.places)


# --- Exactly as many, and in which order ----------------------------------------------------------


def _counts(whole: Floorplan) -> set[int]:
    """Numbers of instances that subsets of the rectangles have."""
    sums = {0}
    for place in whole.places:
        sums |= {total + place.instances for total in sums}
    return sums - {0}


def _reduced(whole: Floorplan, instances: int) -> list[PlannedArea]:
    """The rectangles without the surplus ones; the farthest are removed first."""
    places = sorted(whole.places, key=lambda place: -_distance(place.area, whole.front))
    surplus = whole.instances - instances
    ways: dict[int, list[int]] = {0: []}
    for index, place in enumerate(places):
        for total, chosen in list(ways.items()):
            ways.setdefault(total + place.instances, [*chosen, index])
    gone = set(ways[surplus])
    return [place for index, place in enumerate(places) if index not in gone]


def _in_order(front: Rectangle, places: Sequence[PlannedArea]) -> list[PlannedArea]:
    """A round trip from the front end through all rectangles, without long hops.

    It goes to the nearest rectangle next; then it is changed as long as that shortens it.
    """
    left, way = list(places), []
    here = front
    while left:
        nearest = min(left, key=lambda place: _distance(here, place.area))
        left.remove(nearest)
        way.append(nearest)
        here = nearest.area
    length = _length(front, way)
    better = True
    while better:
        better = False
        for other in _changes(way):
            if (shorter := _length(front, other)) < length * (1 - 1e-9):
                way, length, better = other, shorter, True
                break
    return way


def _changes(way: Sequence[PlannedArea]) -> Iterator[list[PlannedArea]]:
    """The round trip with a part of it reversed, or one stop moved."""
    for first, last in combinations(range(len(way)), 2):
        yield [*way[:first], *way[first : last + 1][::-1], *way[last + 1 :]]
        yield [*way[:first], *way[first + 1 : last + 1], way[first], *way[last + 1 :]]
        yield [*way[:first], way[last], *way[first:last], *way[last + 1 :]]


def _length(front: Rectangle, way: Sequence[PlannedArea]) -> float:
    stops = [front, *(place.area for place in way), front]
    # A high power, since the longest hop limits the clock.
    return sum(_distance(a, b) ** 4 for a, b in pairwise(stops))


def _distance(a: Rectangle, b: Rectangle) -> float:
    return math.dist(a.middle, b.middle)


def need_of(cells: Mapping[str, Mapping[str, object]]) -> Counter[str]:
    """Count the cells of a packed netlist that occupy the fabric."""
    counted = Counter(str(cell["type"]) for cell in cells.values())
    return Counter({kind: counted[kind] for kind in (*_LOGIC, "DP16KD", "MULT18X18D")})
