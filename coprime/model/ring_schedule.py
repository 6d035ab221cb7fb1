"""When a ring of places reads and writes each word, if every step has the same number of slots.

Result word j of a multiplication is word x_j of the next one in an exponentiation. So step s does
column s of the new multiplication and column s + P of the one before: with i + j = s modulo P,
place i of a ring of P places meets place s - i. Seen from one multiplication, column c is done in
step c, and the next multiplication begins in its step P.

Only indices and times are here, no values; `model/ring.py` has the arithmetic, and says what d and
D are. A slot is one product of words on one tile, and takes a cycle. The slots of a step, in order:

======== ==========================================================================
body     pairs of the old multiplication's column s + P: of X and Y, then of q and M'
body     pairs of the new multiplication's column s, but for those below
         (idle, where a step is longer than its slots)
tail     X and Y: the pair (0, s) and the diagonal product x_s * y_s
tail     q and M': the diagonal product of q_(s-1-d) and the pair (0, s - 1 - d)
======== ==========================================================================

The tail has all that needs the newest words. With two tiles, one does X * Y and the other q * M';
with four, two do each. What the tiles do in the same cycle is a row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, zip_longest
from typing import NamedTuple

__all__ = ["Ring", "Slot", "Timing", "least_step"]

TILES = (1, 2, 4)


class Slot(NamedTuple):
    """A product of words: (x_i - x_j) * (y_i - y_j), or x_i * y_i where i = j.

    With `quotient`, the same of q and M'. `column` is the one of the multiplication in which the
    product is added up.
    """

    column: int
    quotient: bool
    i: int
    j: int


Row = list[Slot]
"""Slots of a cycle, one for each tile or fewer."""


@dataclass(frozen=True)
class Ring:
    """What is done in each step of a multiplication on a ring.

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

    def column(self, column: int, *, quotient: bool) -> list[Slot]:
        """Slots of a column, of X * Y or of q * M': pairs, innermost first, then those of its tail.

        The tail, of a column below D, is of the slots with the newest word.
        """
        D = self.count
        total = column - 1 - self.delay if quotient else column  # i + j
        limit = D - 1 - self.delay if quotient else D  # of i: above it M' has only zeros
        found = [
            Slot(column, quotient, i, total - i)
            for i in reversed(range(max(0, total - D + 1), min(limit, (total + 1) // 2)))
        ]
        if 0 <= total < limit:
            # The pair with the newest q is last of all, the one with the newest x before x_s * y_s.
            found.insert(
                len(found) - (quotient and total > 0), Slot(column, quotient, total, total)
            )
        return found

    @cached_property
    def steps(self) -> list[tuple[list[Row], list[Row]]]:
        """Rows of body and of tail of each step from 0 to P - 1."""
        return [self._rows(step) for step in range(self.places)]

    @property
    def slots(self) -> list[int]:
        """Rows of each step, which cannot be shorter; not all are equal about step D - 1."""
        return [len(body) + len(tail) for body, tail in self.steps]

    def _rows(self, step: int) -> tuple[list[Row], list[Row]]:
        body: list[Row] = [[], []]  # of X * Y, of q * M'
        tail: list[Row] = [[], []]
        for column in (step + self.places, step):
            for quotient in (False, True):
                newest = column - 1 - self.delay if quotient else column
                for slot in self.column(column, quotient=quotient):
                    late = column == step and slot.j == newest
                    (tail if late else body)[quotient].append(slot)
        if self.tiles == 1:
            return [[slot] for slot in body[0] + body[1]], [[slot] for slot in tail[0] + tail[1]]
        return self._side_by_side(body), self._side_by_side(tail)

    def _side_by_side(self, groups: Sequence[list[Slot]]) -> list[Row]:
        """Rows of both groups, ending together."""
        width = self.tiles // 2
        XY, QM = (
            [group[max(0, end - width) : end] for end in range(len(group), 0, -width)]
            for group in groups
        )
        none: Row = []
        return [xy + qm for xy, qm in zip_longest(XY, QM, fillvalue=none)][::-1]


@dataclass(frozen=True)
class Timing:
    """Slots and words of a ring in cycles, from the first cycle of a multiplication's column 0.

    Attributes
    ----------
    ring : Ring
    step : cycles of a step at least, idle between body and tail; more only where it has more slots
    latency : from the cycle of a column's last slot to the first in which a slot can have the word
        that the column gives, of q or of the result; 1 or more
    """

    ring: Ring
    step: int
    latency: int

    def __post_init__(self) -> None:
        if self.latency < 1:
            raise ValueError(f"latency must be 1 or more, not {self.latency}")

    @cached_property
    def lengths(self) -> list[int]:
        """Cycles of each step from 0 to P - 1."""
        return [max(self.step, slots) for slots in self.ring.slots]

    @property
    def period(self) -> int:
        """Cycles from a multiplication's first one to that of the next one."""
        return sum(self.lengths)

    @cached_property
    def begins(self) -> list[int]:
        """First cycle of each step from 0 to 2P - 1; column c is done in step c."""
        return list(accumulate(self.lengths * 2, initial=0))[:-1]

    def reads(self) -> Iterator[tuple[int, Slot]]:
        """Every slot of a multiplication and its cycle."""
        for (body, tail), length in zip(self.ring.steps, self.lengths, strict=True):
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


def least_step(ring: Ring, latency: int, *, equal: bool = False) -> int:
    """The smallest `step` with which every word is read when it is there.

    With `equal`, all steps have this length; without, those with more slots are longer, and the
    period is shorter. ValueError if there is none: with too few places for its delay, q_i can be
    overwritten before its last read, however long a step is.
    """
    shortest, longest = min(ring.slots), max(ring.slots)
    for step in range(longest if equal else shortest, longest + latency + 2):
        if not any(Timing(ring, step, latency).conflicts()):
            return step
    raise ValueError(
        f"{ring.places} places are too few for {ring.count} words and a delay of {ring.delay}"
    )
