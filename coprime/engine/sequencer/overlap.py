"""When products that overlap begin and end: the twin of `StreamPorts` and the phases of `ring`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from coprime.multipliers.contract import WRITES_LATER
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.program.operands import OF_ONE, OF_TABLE, Mode, Reference, Scratch
from coprime.program.steps import BESIDE_PRODUCTS, Step, StepKind

_LONGEST_WAIT = 8
"""Cycles that a word of Y waits at most, and more: three writes come in a row at most."""


class CycleCounter(Protocol):
    """Something that counts cycles."""

    cycles: int


@dataclass(frozen=True)
class ProductUnderWay:
    """A product, and which cycles of the memory it takes.

    Parameters
    ----------
    multiplication : the multiplier's
    step, count : the step, and D
    takes : the cycle before its step 0
    follows : the product that it follows
    bit : how many of the exponent's bits had come before
    """

    multiplication: RingMultiplication
    step: Step
    count: int
    takes: int
    follows: "ProductUnderWay | None"
    bit: int

    @cached_property
    def begins(self) -> list[int]:
        """The first cycle of each step, and the one after the last step."""
        found = [self.takes + 1]
        for s in range(self.multiplication.places(self.count)):
            found.append(found[-1] + self.multiplication.step(s, self.count))
        return found

    @property
    def turns(self) -> int:
        """The first cycle of step D: from then on no factor is read."""
        return self.begins[self.count]

    @property
    def joins_until(self) -> int:
        """The last cycle of step D, in which another product may be found to follow."""
        return self.begins[self.count + 1] - 1

    @property
    def ends_alone(self) -> list[int]:
        """The last cycles of the steps from D on, with the first columns of its result."""
        return [one - 1 for one in self.begins[self.count + 1 :]]

    @property
    def closes(self) -> int:
        """The last cycle of its steps."""
        return self.begins[-1] - 1

    @cached_property
    def begins_steps(self) -> frozenset[int]:
        """The first cycle of each step."""
        return frozenset(self.begins[:-1])

    @cached_property
    def wants(self) -> frozenset[int]:
        """The cycles from which on the next words of X and Y are asked for."""
        last = self.count - self.multiplication.asks_earlier
        return frozenset(one + 1 for one in self.begins[: last - 1])

    @cached_property
    def writes_of_last(self) -> list[int]:
        """The cycles in which port B writes the result of the product that it follows."""
        if self.follows is None:
            return []
        own, count = self.multiplication, self.count
        ends = (self.begins[s] + own.old_slots(s, count)[-1] - 1 for s in range(own.left(count)))
        return [one + own.written_after for one in (*self.follows.ends_alone, *ends)]

    @cached_property
    def writes(self) -> list[int]:
        """The cycles in which port B writes its own result, if no product follows it."""
        own, count = self.multiplication, self.count
        at, found = self.begins[-1], self.ends_alone
        for s in range(own.left(count)):
            found.append(at + own.old_slots(s, count)[-1] - 1)
            at += own.draining_step(s, count)
        return [one + own.written_after for one in found]


class OverlapModel:
    """The multiplier of a lane on integers; cycles are counted as those of the lane.

    Parameters
    ----------
    numbers : of the memory's places, two of which may be one; only where sums are beside products

    Attributes
    ----------
    idle : the first cycle in which nothing is under way
    bit : how many of the exponent's bits have come
    """

    def __init__(
        self,
        lane: CycleCounter,
        multiplication: RingMultiplication,
        numbers: Mapping[Reference, int] | None,
    ):
        self.lane = lane
        self.multiplication = multiplication
        self.numbers = numbers
        self._pairs = {}
        if numbers is not None:
            pairs = (
                (one, other) for one, other in OF_ONE.items() if {one, other} <= numbers.keys()
            )
            self._pairs = {numbers[one]: numbers[other] for one, other in pairs}
        self.idle = 0
        self.bit = 0
        self._new: ProductUnderWay | None = None
        """The last one, if another one may follow it, or a sum be beside it."""
        self._rounds = 0

    def waits(self, step: Step) -> bool:
        """Whether a step other than a product waits until nothing is under way."""
        if self.numbers is None:
            return True
        is_sum = step.kind in BESIDE_PRODUCTS and not isinstance(step.destination, Mode)
        return not is_sum and step.kind is not StepKind.PASS

    def prepare(self, longest: int) -> None:
        """A preparation, asked for in the cycle before."""
        own = self.multiplication
        count = own.words(longest)
        self._finish(own.rounds_after(self._loads(count), count))

    def multiply(self, step: Step, inner: int, rounds: int) -> None:
        """A product, asked for in the cycle before: up to when the next one can be."""
        own, count = self.multiplication, self.multiplication.words(inner, rounds)
        asked = self.lane.cycles - 1
        follows = None
        if (
            self._new
            and self._may_follow(step, rounds)
            and asked + own.ASKING <= self._new.joins_until
        ):
            follows, takes = self._new, self._new.closes
        else:
            takes = self._loads(count, own.shift(rounds, count, step.descale))
        if follows:
            follows = replace(follows, follows=None)  # no longer chain is kept
        self._new, self._rounds = (
            ProductUnderWay(own, step, count, takes, follows, self.bit),
            rounds,
        )
        drained = takes + own.period(count) + own.draining(count)
        self.idle = drained + 1
        self.lane.cycles = takes + 1
        if step.descale:
            self._finish(own.rounds_after(drained - own.settling, count))

    def add(self, step: Step, digits: int) -> None:
        """A sum or a move, fetched in the cycle before: up to when the next step can be."""
        at = self.lane.cycles
        new, made = self._new, list[int]()
        if new:
            result = self._places(step.destination, step.copy)
            numbers = result | self._places(step.x, step.y)
            factors = self._places(new.step.x, new.step.y)
            takes = self._makes(new, numbers, step)
            if takes or self._meet(new, result, factors, step):
                at = max(at, new.turns)
            if at >= new.turns:
                made = new.writes if takes else []
            elif new.follows and self._makes(new.follows, numbers, step):
                made = new.writes_of_last
        self.lane.cycles = self._last_digit(at + 1, digits, made) + WRITES_LATER + 2

    def _may_follow(self, step: Step, rounds: int) -> bool:
        assert self._new is not None
        last = self._new.step
        may_be_entry = last.destination is Mode.ENTRY and step.y in OF_TABLE
        same = (last.modulus, self._rounds) == (step.modulus, rounds)
        makes_x = step.x is last.destination or (
            last.destination is Mode.ENTRY and step.x is Scratch.ACCUMULATOR
        )
        must_load = self.numbers is None and not makes_x
        return same and not may_be_entry and not (step.y is step.x and (step.descale or must_load))

    def _places(self, *references: Reference | None) -> set[int]:
        assert self.numbers is not None
        return {self.numbers[one] for one in references if one is not None}

    def _makes(self, product: ProductUnderWay, numbers: set[int], step: Step) -> bool:
        """The product's result is one of the step's numbers, or may be."""
        own = product.step
        results = self._places(own.destination, own.copy)
        return own.destination is Mode.ENTRY or self._meet(product, results, numbers, step)

    def _meet(self, product: ProductUnderWay, some: set[int], others: set[int], step: Step) -> bool:
        """There is one in both. It may be either of what has changed places by different bits, or
        by a bit in the product or the step alone."""
        if product.bit != self.bit or product.step.by_bit != step.by_bit:
            some = some | {self._pairs.get(one, one) for one in some}
        return not some.isdisjoint(others)

    def _last_digit(self, first: int, digits: int, made: list[int]) -> int:
        """The cycle in which the last digit is asked for; the first one may be in cycle `first`.

        `made` are the cycles in which the digits of a product's result are written that it takes.
        """
        new = self._new
        if new is None or first > new.writes[-1]:
            return first + 2 * (digits - 1)
        written, mine = {*new.writes_of_last, *new.writes}, set[int]()
        wants_y = asks = False
        at, index = first - _LONGEST_WAIT, 0
        while index < digits:
            at += 1
            wants_y |= at in new.wants
            is_free = at not in written and at not in mine
            held = wants_y or at in new.begins_steps or at in new.wants
            held |= index < len(made) and at <= made[index]
            asks = (
                at >= first
                and not asks
                and is_free
                and not held
                and at + WRITES_LATER not in written
            )
            wants_y &= not is_free
            if asks:
                mine.add(at + WRITES_LATER)
                index += 1
        return at

    def _loads(self, count: int, shift: int = 0) -> int:
        """The last cycle of reading X, of a product or a preparation that follows no other."""
        own = self.multiplication
        return max(self.idle, self.lane.cycles - 1 + own.ASKING) + own.loading(count, shift)

    def _finish(self, last: int) -> None:
        self._new = None
        self.idle = self.lane.cycles = last + 1
