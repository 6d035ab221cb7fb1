"""Schedules as pictures: which product of digits is made in which cycle, and what memory does.

Those of `fdfm`, `compact` and `karatsuba` are recorded from a simulation of the multiplier, which
does the same for all operands; that of `ring` is from `model/ring_schedule.py`, which the tests
compare with the hardware.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import Fragment
from amaranth.lib import wiring
from amaranth.sim import Simulator
from svg import LINE, WIDTH, Picture, wrap

from coprime.cells.tiles.one17 import One17
from coprime.model.ring_schedule import RingPlan, Timing
from coprime.multipliers.compact.multiplier import CompactMultiplier
from coprime.multipliers.compact.schedule import SLOTS
from coprime.multipliers.contract import Role
from coprime.multipliers.fdfm import FdfmMultiplier
from coprime.multipliers.karatsuba.multiplication import KaratsubaMultiplication
from coprime.multipliers.karatsuba.multiplier import KaratsubaMultiplier
from coprime.multipliers.ring.multiplication import RingMultiplication

COUNT_BITS = 4
_LABEL, _MARGIN, _GAP = 62, 8, 8

Cycle = dict[str, int]


@dataclass
class Cell:
    """A cycle: a box, or two, for what is multiplied; and lines on what is read and written."""

    text: str = ""
    kind: str = "idle"
    """A class of boxes, of which `idle` has no product."""
    lines: list[str] = field(default_factory=list)
    second: tuple[str, str] | None = None
    """Text and kind of the second box."""


@dataclass
class Band:
    """Cycles in a row."""

    label: str
    cells: list[Cell]


def sub(name: str, index: int | str) -> str:
    """A name with an index."""
    return name + str(index).translate(str.maketrans("0123456789-", "₀₁₂₃₄₅₆₇₈₉₋"))


# --- Recording ------------------------------------------------------------------------------------


def record(
    component: wiring.Component,
    inputs: Mapping[str, int],
    probe: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> list[Cycle]:
    """Start a multiplier, and sample signals of its parts in each cycle until it is done.

    `probe` takes the parts by name, and the multiplier itself as "self". All digits of the operands
    are 0: the schedule does not depend on them.
    """
    fragment = Fragment.get(component, None)
    parts = {
        str(name): next(one for one in part.origins if isinstance(one, wiring.Component))
        for part, name, *_ in fragment.subfragments
        if part.origins
    }
    signals = probe({**parts, "self": component})
    cycles: list[Cycle] = []

    async def bench(context: Any) -> None:
        for name, value in inputs.items():
            context.set(getattr(component, name), value)
        context.set(component.start, 1)
        await context.tick()
        context.set(component.start, 0)
        while True:
            cycles.append({name: int(context.get(signal)) for name, signal in signals.items()})
            if context.get(component.done):
                return
            assert len(cycles) < 1000, "the multiplier does not end"
            await context.tick()

    simulator = Simulator(fragment)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return cycles


def _ports(parts: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: getattr(parts["self"], name) for name in names}


# --- The schedules --------------------------------------------------------------------------------


def fdfm(digits: int = 3) -> list[Band]:
    """Iterations of the outer loop."""
    lengths = {"inner_digits": digits, "outer_digits": digits}
    names = ("a_role", "a_index", "b_index", "b_write", "multiplying")
    cycles = record(FdfmMultiplier(COUNT_BITS), lengths, lambda parts: _ports(parts, *names))
    bands = [Band("start", [])]
    before = Role.MULTIPLICAND
    for cycle in cycles:
        role, j, i = Role(cycle["a_role"]), cycle["a_index"], len(bands) - 2
        cell = Cell(lines=["", ""])
        if role is Role.MULTIPLIER:
            cell = Cell("≫" if i >= 0 else "", "other" if i >= 0 else "idle", [sub("Y", j), ""])
        elif role is Role.INVERSE:
            cell = Cell(sub("q", i), "other", ["−M⁻¹", ""])
        elif role is Role.MODULUS:
            cell = Cell("q" + sub("M", j), "qm", [sub("M", j), ""])
        elif cycle["multiplying"]:
            cell = Cell(sub("X", j) + sub("Y", i), "xy", [sub("X", j), ""])
        elif not bands[-1].cells and i < digits:
            cell = Cell(sub("X", 0) + sub("Y", i), "xy old", [sub("X", 0), ""])
        if cycle["b_write"]:
            cell.lines[1] = sub("S", cycle["b_index"]) + "←"
        elif before is Role.MODULUS:
            cell.lines[1] = sub("S", cycle["b_index"])
        bands[-1].cells.append(cell)
        if role is Role.MULTIPLIER:
            bands.append(Band(f"i = {i + 1}" if i + 1 < digits else "end", []))
        before = role
    return bands


def compact(digits: int = 5) -> list[Band]:
    """Columns."""

    def probe(parts: Mapping[str, Any]) -> dict[str, Any]:
        slot, column = parts["control"].slot, parts["columns"].column
        pair = parts["pairs"].pair
        return {
            **{name: getattr(slot, name) for name in SLOTS},
            **{name: getattr(column, name) for name in ("k", "ahead_index", "second_half")},
            "i": pair.i,
            "j": pair.j,
            "empty": pair.empty,
            **_ports(parts, "b_write", "b_index", "b_quotient", "multiplying"),
        }

    lengths = {"inner_digits": digits, "rounds": digits}
    cycles = record(CompactMultiplier(digits, COUNT_BITS), lengths, probe)
    bands: list[Band] = []
    for cycle, after in zip(cycles, [*cycles[1:], cycles[-1]], strict=True):
        (slot,) = (name for name in SLOTS if cycle[name])
        k, single = cycle["k"], cycle["ahead_index"]
        k -= (k == (2 << COUNT_BITS) - 1) << (COUNT_BITS + 1)
        if slot == "ahead":
            bands.append(Band(f"k = {k}".replace("-", "−"), []))
        cell = Cell(lines=[""])
        if after["multiplying"]:  # a cycle after the slot
            of_xy = slot == "xy" or slot == "ahead"
            text = {"ahead": f"{single}", "diagonal": f"{k - 1}"}
            pair = f"{cycle['i']},{cycle['j']}"
            cell = Cell(text.get(slot, pair), "xy" if of_xy else "qm", [""])
        elif cycle["second_half"] and single < digits and slot in ("ahead", "drop"):
            cell = Cell(f"{single}", "qm old" if slot == "ahead" else "xy old", [""])
        if cycle["b_write"]:
            cell.lines = [sub("q" if cycle["b_quotient"] else "S", cycle["b_index"]) + "←"]
        bands[-1].cells.append(cell)
    return bands


def karatsuba(digits: int = 7) -> list[Band]:
    """Iterations."""
    multiplication = KaratsubaMultiplication(16, 1)
    lengths = {"inner_digits": digits, "outer_digits": digits}
    names = ("a_role", "a_index", "b_multiplier", "b_index", "b_write", "multiplying")
    multiplier = KaratsubaMultiplier(multiplication, digits, COUNT_BITS)
    cycles = record(multiplier, lengths, lambda parts: _ports(parts, *names))
    bands = [Band("start", [])]
    for cycle in cycles:
        i, j = len(bands) - 2, cycle["a_index"]
        starts = cycle["multiplying"] and j == 0
        if starts or (i >= 0 and not cycle["multiplying"] and bands[-1].label != "end"):
            i += 1
            bands.append(Band(f"i = {i}" if starts else "end", []))
        cell = Cell(lines=["", ""], second=("", "idle"))
        if cycle["multiplying"]:
            cell = Cell(sub("X", j) + sub("Y", i), "xy", [sub("X", j), ""])
            cell.second = sub("q", i) + sub("M", j), "qm"
        elif i < 0 and not bands[-1].cells:
            cell.lines[0] = sub("X", j)
        if cycle["b_multiplier"]:
            cell.lines[1] = sub("Y", cycle["b_index"])
        elif cycle["b_write"]:
            cell.lines[1] = sub("S", cycle["b_index"]) + "←"
        bands[-1].cells.append(cell)
    return bands


def ring() -> list[Band]:
    """Steps of products that follow each other, of the fewest words for which none waits."""
    multiplication = RingMultiplication(One17.WORD, One17.LATENCY)
    words = multiplication.loop + 2
    places = multiplication.places(words)
    lengths = tuple(multiplication.step(s, words) for s in range(places))
    timing = Timing(RingPlan(words, 0, 1, places), lengths, multiplication.loop)
    bands = [
        Band(f"s = {s}", [Cell(lines=[""]) for _ in range(length)])
        for s, length in enumerate(lengths)
    ]
    cells = [cell for band in bands for cell in band.cells]
    for cycle, slot in timing.reads():
        cell = cells[cycle % timing.period]
        cell.text = f"{slot.i}" if slot.i == slot.j else f"{slot.i},{slot.j}"
        cell.kind = ("qm" if slot.quotient else "xy") + (" old" if cycle >= timing.period else "")
    for column, cycle in enumerate(timing.written):
        name = sub("q", column) if column < words else sub("x", column - words)
        cells[cycle % timing.period].lines = [f"{name}←"]
    return bands


# --- Drawing --------------------------------------------------------------------------------------


def draw(
    bands: Sequence[Band], title: str, legend: Sequence[tuple[str, str]], note: str
) -> Picture:
    """Draw rows of cycles, and below them what the kinds of boxes mean."""
    picture = Picture(title)
    longest = max(len(band.cells) for band in bands)
    width = (WIDTH - _LABEL - _MARGIN) // longest
    y: float = _MARGIN
    for band in bands:
        first = band.cells[0]
        boxes = 2 if first.second else 1
        picture.text(_MARGIN, y + 15, band.label)
        for k, cell in enumerate(band.cells):
            x = _LABEL + k * width
            found = [(cell.text, cell.kind), *([cell.second] if cell.second else [])]
            for row, (text, kind) in enumerate(found):
                picture.box(x + 1, y + 22 * row, width - 2, 20, kind)
                picture.text(x + width / 2, y + 22 * row + 14.5, text, "small")
            for row, line in enumerate(cell.lines):
                at = y + 22 * boxes + 10 + 13 * row
                picture.text(x + width / 2, at, line, "small soft")
        y += 22 * boxes + 13 * len(first.lines) + _GAP
    for kind, text in legend:
        picture.box(_MARGIN, y, 28, 16, kind)
        for line in wrap(text, WIDTH - 2 * _MARGIN - 38):
            picture.text(_MARGIN + 38, y + 13, line)
            y += LINE
        y += 5
    picture.height = picture.paragraph(y - 6, note) + 4
    return picture
