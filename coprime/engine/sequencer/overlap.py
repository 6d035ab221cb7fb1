"""When products that overlap begin and end: the twin of `StreamPorts` and the phases of `ring`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from coprime.multipliers.multiplication import WRITES_LATER
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.program.operands import OF_TABLE, SWAPPED_BY_BIT, Core, Mode, Reference
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
    joins : the cycle in which it is found to follow
    """

    multiplication: RingMultiplication
    step: Step
    count: int
    takes: int
    follows: "ProductUnderWay | None"
    bit: int
    joins: int = 0

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
        return [cycle - 1 for cycle in self.begins[self.count + 1 :]]

    @property
    def closes(self) -> int:
        """The last cycle of its steps."""
        return self.begins[-1] - 1

    @cached_property
    def wants(self) -> frozenset[int]:
        """The cycles from which on the next words of X and Y are asked for."""
        multiplication, last = self.multiplication, self.count - self.multiplication.asks_earlier
        found = [cycle + 1 for cycle in self.begins[: last - 1]]
        if self.follows is not None:
            found.append(self.joins + 1)
            if multiplication.asks_earlier:
                found.append(self.follows.begins[self.count + 1] + 1)
        return frozenset(found)

    @cached_property
    def x_taken(self) -> frozenset[int]:
        """The cycles in which a word of X cannot be asked for, as one of q would meet it."""
        after = self.multiplication.x_taken_after
        return frozenset(cycle - 1 + after for cycle in self.begins[1 : self.count + 1])

    @cached_property
    def writes_of_last(self) -> list[int]:
        """The cycles in which port B writes the result of the product that it follows."""
        if self.follows is None:
            return []
        multiplication, count = self.multiplication, self.count
        ends = (
            self.begins[s] + multiplication.old_slots(s, count)[-1] - 1
            for s in range(multiplication.left(count))
        )
        return [cycle + multiplication.written_after for cycle in (*self.follows.ends_alone, *ends)]

    @cached_property
    def writes(self) -> list[int]:
        """The cycles in which port B writes its own result, if no product follows it."""
        multiplication, count = self.multiplication, self.count
        at, found = self.begins[-1], self.ends_alone
        for s in range(multiplication.left(count)):
            found.append(at + multiplication.old_slots(s, count)[-1] - 1)
            at += multiplication.draining_step(s, count)
        return [cycle + multiplication.written_after for cycle in found]


class SumUnderWay:
    """A sum or a move that runs beside products, and the ports that it takes, cycle by cycle.

    Parameters
    ----------
    first : the first cycle in which a digit may be asked for
    digits : of its numbers
    made : the cycles in which the digits of a product's result are written that it takes
    before : the one before it
    result : where it is written
    """

    def __init__(
        self,
        first: int,
        digits: int,
        made: list[int],
        before: "SumUnderWay | None",
        result: set[Reference],
    ):
        self.result = result
        self.first, self.digits, self.made = first, digits, made
        self.asked: list[int] = []
        """The cycles in which its digits have been asked for."""
        self._writes = set() if before is None else set(before.writes[-2:])
        self._at = first - _LONGEST_WAIT
        self._wanted_x = self._wanted_y = 0
        self._asks = False

    @property
    def writes(self) -> list[int]:
        """The cycles in which the write of a digit is asked for."""
        return [cycle + WRITES_LATER for cycle in self.asked]

    @property
    def ends(self) -> int:
        """The last cycle of the linear unit; all digits have been asked for."""
        return self.writes[-1]

    def advance(
        self, new: ProductUnderWay | None, *, digits: int, until: int | None = None
    ) -> None:
        """Go on until so many digits have been asked for, or to a cycle, which is not done."""
        digits = min(digits, self.digits)
        if len(self.asked) >= digits:
            return
        if new is None or self._is_alone(max(new.writes[-1], new.closes)):
            self._alone(digits, until)
            return
        wants, written = new.wants, {*new.writes_of_last, *new.writes}
        x_taken, follows = new.x_taken, new.follows
        if follows:
            x_taken |= follows.x_taken
        while len(self.asked) < digits and (until is None or self._at < until):
            at = self._at
            wanted = at in wants
            self._wanted_x += wanted
            self._wanted_y += wanted
            asks_second, index = self._asks, len(self.asked)
            b_is_free = at not in written and at not in self._writes
            self._asks = (
                at >= self.first
                and not asks_second
                and b_is_free
                and not self._wanted_x
                and not self._wanted_y
                and at + WRITES_LATER not in written
                and not (index < len(self.made) and at <= self.made[index])
            )
            if self._asks:
                self.asked.append(at)
                self._writes.add(at + WRITES_LATER)
            if self._wanted_x and not asks_second and at not in x_taken:
                self._wanted_x -= 1
            if self._wanted_y and b_is_free:
                self._wanted_y -= 1
            self._at += 1

    def _is_alone(self, last: int) -> bool:
        """After the cycle `last`, the product's last one, nothing is in the way of two cycles a
        digit: not even a write of a digit that was asked for before, as digits that once were three
        cycles apart stay so."""
        at = max(self._at, self.first)
        written = any(cycle >= at and (cycle - at) % 2 == 0 for cycle in self._writes)
        return at > last and not written

    def _alone(self, digits: int, until: int | None) -> None:
        """Two cycles a digit."""
        at = max(self.first, self._at + self._asks)
        while len(self.asked) < digits and (until is None or at < until):
            self.asked.append(at)
            at += 2
        self._at, self._asks = at, False


class OverlapModel:
    """The multiplier of a lane on integers; cycles are counted as those of the lane.

    Parameters
    ----------
    numbers : of the memory's places, two of which may be one; only where sums are beside products

    Attributes
    ----------
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
                (location, other)
                for location, other in SWAPPED_BY_BIT.items()
                if {location, other} <= numbers.keys()
            )
            self._pairs = {numbers[location]: numbers[other] for location, other in pairs}
        self.bit = 0
        self._idle = 0
        """The first cycle in which no product is under way."""
        self._new: ProductUnderWay | None = None
        """The last one, if another one may follow it, or a sum be beside it."""
        self._rounds = 0
        self._sum: SumUnderWay | None = None
        """The last one, if it may be under way."""

    @property
    def idle(self) -> int:
        """The first cycle in which nothing is under way, if nothing else is asked for, and a sum's
        last digit is written."""
        return max(self._idle, self.sum_ends + 1 if self._sum else 0)

    @property
    def sum_ends(self) -> int:
        """The first cycle in which no sum is under way; no product is asked for before."""
        if self._sum is None:
            return 0
        self._sum.advance(self._new, digits=self._sum.digits)
        return self._sum.ends + 1

    def waits(self, step: Step) -> bool:
        """Whether a step other than a product waits until nothing is under way."""
        if self.numbers is None:
            return True
        is_sum = step.kind in BESIDE_PRODUCTS and not isinstance(step.destination, Mode)
        return not is_sum and step.kind is not StepKind.PASS

    def prepare(self, longest: int) -> None:
        """A preparation, asked for in the cycle before."""
        multiplication = self.multiplication
        count = multiplication.words(longest)
        self._finish(multiplication.rounds_after(self._loads(count), count))

    def multiply(self, step: Step, inner: int, rounds: int) -> None:
        """A product, asked for in the cycle before: up to when the next one can be."""
        multiplication, count = self.multiplication, self.multiplication.words(inner, rounds)
        asked = self.lane.cycles - 1
        follows = None
        new, joins = self._new, asked + multiplication.ASKING
        if new and self._may_follow(step, rounds) and joins <= new.joins_until:
            joins = max(joins, new.turns)
            if self._sum:
                self._sum.advance(new, digits=self._sum.digits, until=joins)
            follows, takes = replace(new, follows=None), new.closes  # no longer chain is kept
        else:
            takes = self._loads(count, multiplication.shift(rounds, count, step.descale))
        made = ProductUnderWay(multiplication, step, count, takes, follows, self.bit, joins)
        self._new, self._rounds = made, rounds
        if self._sum and follows and self.numbers is not None:
            self._hand_over(self._sum, made)
        drained = takes + multiplication.period(count) + multiplication.draining(count)
        self._idle = drained + 1
        self.lane.cycles = takes + 1
        if step.descale:
            self._finish(multiplication.rounds_after(drained - multiplication.settling, count))

    def add(self, step: Step, digits: int) -> None:
        """A sum or a move, fetched in the cycle before: up to when the next step can be.

        That is when two digits have been asked for, if it `runs_on`, else after the last one.
        """
        at = max(self.lane.cycles, self.sum_ends)
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
        written = {step.destination} if step.copy is None else {step.destination, step.copy}
        self._sum = under_way = SumUnderWay(at + 1, digits, made, self._sum, written)
        if digits > 1 and step.runs_on:
            under_way.advance(new, digits=2)
            self.lane.cycles = under_way.asked[1] + 3
            return
        self.lane.cycles = self.sum_ends + 1

    def _hand_over(self, last: SumUnderWay, product: ProductUnderWay) -> None:
        """A product that follows while a sum is under way reads no digit before it is written."""
        last.advance(product, digits=last.digits)
        assert last.ends < product.turns
        if {product.step.x, product.step.y} & last.result:
            reads = sorted(product.wants)
            assert all(write < read for write, read in zip(last.writes, reads, strict=False)), (
                product.step.note,
                last.writes,
                reads,
            )

    def _may_follow(self, step: Step, rounds: int) -> bool:
        assert self._new is not None
        last = self._new.step
        may_be_entry = last.destination is Mode.ENTRY and step.y in OF_TABLE
        same = (last.modulus, self._rounds) == (step.modulus, rounds)
        makes_x = step.x is last.destination or (
            last.destination is Mode.ENTRY and step.x is Core.ACCUMULATOR
        )
        must_load = self.numbers is None and not makes_x
        return same and not may_be_entry and not (step.y is step.x and (step.descale or must_load))

    def _places(self, *references: Reference | None) -> set[int]:
        assert self.numbers is not None
        return {self.numbers[reference] for reference in references if reference is not None}

    def _makes(self, product: ProductUnderWay, numbers: set[int], step: Step) -> bool:
        """The product's result is one of the step's numbers, or may be."""
        own = product.step
        results = self._places(own.destination, own.copy)
        return own.destination is Mode.ENTRY or self._meet(product, results, numbers, step)

    def _meet(self, product: ProductUnderWay, some: set[int], others: set[int], step: Step) -> bool:
        """There is one in both. It may be either of what has changed places by different bits, or
        by a bit in the product or the step alone."""
        if product.bit != self.bit or product.step.by_bit != step.by_bit:
            some = some | {self._pairs.get(number, number) for number in some}
        return not some.isdisjoint(others)

    def _loads(self, count: int, shift: int = 0) -> int:
        """The last cycle of reading X, of a product or a preparation that follows no other."""
        multiplication = self.multiplication
        asked = self.lane.cycles - 1 + multiplication.ASKING
        return max(self._idle, self.sum_ends, asked) + multiplication.loading(count, shift)

    def _finish(self, last: int) -> None:
        self._new = self._sum = None
        self._idle = self.lane.cycles = last + 1
