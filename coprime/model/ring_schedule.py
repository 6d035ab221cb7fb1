"""When a ring of places reads and writes each word, step by step.

Result word j of a multiplication is word x_j of the next one in an exponentiation. So step s does
column s of the new multiplication and column s + P of the one before: with i + j = s modulo P,
place i of a ring of P places meets place s - i. Seen from one multiplication, column c is done in
step c, and the next multiplication begins in its step P.

Only indices and times are here, no values; `model/ring.py` has the arithmetic, and says what d and
D are. A slot is one product of words on one tile, and takes a cycle. The slots of a step, in order:

==== =============================================================================
body the old multiplication's pairs of column s + P, the outermost first
body the new multiplication's pairs of column s, the outermost last, but for (0, m)
     idle, where the step is longer than its slots
tail x_s * y_s, then with m = s - 1 - d q_m * M'_m and the pair (0, m) of q and M'
==== =============================================================================

With one tile, pairs of X and Y are before those of q and M' in both parts of the body; in steps
from 1 to d, in which x_s is as new as x_0, the pair (0, s) of X and Y begins the tail. With two
tiles, one does X * Y and the other q * M'; with four, two do each. They begin and end a step
together, each idle where it has fewer slots. The tail of X * Y is (0, s), its last pair, and then
x_s * y_s; that of q * M' is (0, m), and then q_m * M'_m. Only the tail needs the newest word of q.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, Self

TILES = (1, 2, 4)


class ProductSlot(NamedTuple):
    """A product of words: (x_i - x_j) * (y_i - y_j), or x_i * y_i where i = j.

    With `quotient`, the same of q and M'. `column` is the one of the multiplication in which the
    product is added up.
    """

    column: int
    quotient: bool
    i: int
    j: int


class Rows(NamedTuple):
    """What one tile, or tiles side by side, do in a step: a row of slots in each cycle.

    `body` is from the step's first cycle on, `tail` until its last one.
    """

    body: list[list[ProductSlot]]
    tail: list[list[ProductSlot]]


@dataclass(frozen=True)
class RingPlan:
    """What is done in each step of a multiplication on a ring.

    Raises ValueError for a value out of its range.

    Attributes
    ----------
    count : D, words of an operand, as `words` in `model/ring.py` has it; 3 and more
    delay : d, words by which q is delayed; 0 to D - 2
    tiles : 1, 2 or 4
    places : P, above D, at most 2 * D: a step has at most two multiplications
    """

    count: int
    delay: int
    tiles: int
    places: int

    def __post_init__(self) -> None:
        D = self.count
        if D < 3:
            raise ValueError(f"count must be 3 or more, not {D}")
        if not 0 <= self.delay <= D - 2:
            raise ValueError(f"delay must be 0 to {D - 2}, not {self.delay}")
        if self.tiles not in TILES:
            raise ValueError(f"tiles must be one of {TILES}, not {self.tiles}")
        if not D < self.places <= 2 * D:
            raise ValueError(f"places must be {D + 1} to {2 * D}, not {self.places}")

    def pairs(self, column: int, *, quotient: bool) -> list[ProductSlot]:
        """Pairs of a column of X * Y, or of q * M', the outermost first."""
        D = self.count
        total = column - 1 - self.delay if quotient else column  # i + j
        limit = D - 1 - self.delay if quotient else D  # of i: above it M' has only zeros
        return [
            ProductSlot(column, quotient, i, total - i)
            for i in range(max(0, total - D + 1), min(limit, (total + 1) // 2))
        ]

    def diagonal(self, column: int, *, quotient: bool) -> list[ProductSlot]:
        """The diagonal product that joins the running sum in a column, if there is one."""
        k = column - 1 - self.delay if quotient else column
        limit = self.count - 1 - self.delay if quotient else self.count
        return [ProductSlot(column, quotient, k, k)] if 0 <= k < limit else []

    @cached_property
    def steps(self) -> list[list[Rows]]:
        """Rows of each step from 0 to P - 1: of one tile, or of the tiles of X * Y, of q * M'."""
        return [self._step(step) for step in range(self.places)]

    @property
    def slots(self) -> list[int]:
        """Rows of each step, which cannot be shorter; not all are equal about step D - 1."""
        return [max(len(rows.body) + len(rows.tail) for rows in step) for step in self.steps]

    def _step(self, step: int) -> list[Rows]:
        old, new = step + self.places, step
        old_xy, new_xy = self.pairs(old, quotient=False), self.pairs(new, quotient=False)[::-1]
        old_qm, new_qm = self.pairs(old, quotient=True), self.pairs(new, quotient=True)[::-1]
        tail_xy, tail_qm = self.diagonal(new, quotient=False), self.diagonal(new, quotient=True)
        if self.tiles == 1:
            if new_qm and new_qm[-1].i == 0:
                tail_qm.append(new_qm.pop())
            if 0 < step <= self.delay:
                tail_xy.insert(0, new_xy.pop())
            return [_rows(old_xy + old_qm + new_xy + new_qm, tail_xy + tail_qm, 1)]
        tail_xy, tail_qm = new_xy[-1:] + tail_xy, new_qm[-1:] + tail_qm
        del new_xy[-1:], new_qm[-1:]
        width = self.tiles // 2
        return [_rows(old_xy + new_xy, tail_xy, width), _rows(old_qm + new_qm, tail_qm, width)]


def _rows(body: list[ProductSlot], tail: list[ProductSlot], width: int) -> Rows:
    """Rows of `width` slots, the first one of fewer. One with a slot of the tail is of the tail."""
    slots = body + tail
    rows = [slots[max(0, end - width) : end] for end in range(len(slots), 0, -width)][::-1]
    late = len(rows) - -(-len(tail) // width)
    return Rows(rows[:late], rows[late:])


@dataclass(frozen=True)
class Timing:
    """Slots and words of a ring in cycles, from the first cycle of a multiplication's column 0.

    A step is idle between body and tail where it is longer than its slots.

    Raises ValueError for a value out of its range.

    Attributes
    ----------
    ring : RingPlan
    lengths : cycles of each step from 0 to P - 1, `ring.slots` or more
    latency : from the cycle of a column's last slot to the first in which a slot can have the word
        that the column gives, of q or of the result; 1 or more
    """

    ring: RingPlan
    lengths: tuple[int, ...]
    latency: int

    def __post_init__(self) -> None:
        if self.latency < 1:
            raise ValueError(f"latency must be 1 or more, not {self.latency}")
        if len(self.lengths) != self.ring.places:
            raise ValueError(f"lengths must be {self.ring.places}, not {len(self.lengths)}")
        for step, (length, slots) in enumerate(zip(self.lengths, self.ring.slots, strict=True)):
            if length < slots:
                raise ValueError(f"step {step} must have {slots} cycles or more, not {length}")

    @classmethod
    def at_least(cls, ring: RingPlan, step: int, latency: int) -> Self:
        """Every step takes `step` cycles, those with more slots as many as they have."""
        return cls(ring, tuple(max(step, slots) for slots in ring.slots), latency)

    @property
    def period(self) -> int:
        """Cycles from a multiplication's first one to that of the next one."""
        return sum(self.lengths)

    @cached_property
    def begins(self) -> list[int]:
        """First cycle of each step from 0 to 2P - 1; column c is done in step c."""
        return list(accumulate(self.lengths * 2, initial=0))[:-1]

    def reads(self) -> Iterator[tuple[int, ProductSlot]]:
        """Every slot of a multiplication and its cycle."""
        for groups, length in zip(self.ring.steps, self.lengths, strict=True):
            for body, tail in groups:
                cycles = [*range(len(body)), *range(length - len(tail), length)]
                for cycle, row in zip(cycles, body + tail, strict=True):
                    for slot in row:
                        yield self.begins[slot.column] + cycle, slot

    @cached_property
    def written(self) -> list[int]:
        """For each column from 0 to 2D - 1, the first cycle in which its word can be read.

        A column gives its word after the one below it, whose carry it needs.
        """
        last = self.begins[: 2 * self.ring.count]
        for cycle, slot in self.reads():
            last[slot.column] = max(last[slot.column], cycle)
        found: list[int] = []
        for cycle in last:
            found.append(max(cycle + self.latency, found[-1] + 1 if found else 0))
        return found

    def conflicts(self) -> Iterator[str]:
        """Reads of words that are not yet there, or no longer; none if the steps are long enough.

        q_i is written once in a period. x_i and y_i are words of the result of the multiplication
        before, which gives them in its column D + i, and are overwritten by those of this result.
        """
        D, period, written = self.ring.count, self.period, self.written
        for cycle, slot in self.reads():
            for index in {slot.i, slot.j}:
                first = written[index] if slot.quotient else written[D + index] - period
                if not first <= cycle < first + period:
                    name = "q" if slot.quotient else "x"
                    state = "not yet written" if cycle < first else "overwritten"
                    yield f"column {slot.column}, cycle {cycle}: {name}_{index} is {state}"


def least_step(ring: RingPlan, latency: int, *, equal: bool = False) -> int:
    """The smallest step of `Timing.at_least` with which every word is read when it is there.

    With `equal`, all steps have this length; without, those with more slots are longer, and the
    period is shorter. ValueError if there is none: with too few places for its delay, q_i can be
    overwritten before its last read, however long a step is.
    """
    shortest, longest = min(ring.slots), max(ring.slots)
    for step in range(longest if equal else shortest, longest + latency + 2):
        if not any(Timing.at_least(ring, step, latency).conflicts()):
            return step
    raise ValueError(
        f"{ring.places} places are too few for {ring.count} words and a delay of {ring.delay}"
    )
