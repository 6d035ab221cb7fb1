"""When products that overlap begin and end: the twin of `StreamPorts` and the phases of `ring`."""

from typing import Protocol

from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.program.operands import Context, Reference
from coprime.program.steps import Step


class CycleCounter(Protocol):
    """Something that counts cycles."""

    cycles: int


class OverlapModel:
    """The multiplier of a lane on integers; cycles are counted as those of the lane.

    Attributes
    ----------
    idle : the first cycle in which nothing is under way
    """

    def __init__(self, lane: CycleCounter, multiplication: RingMultiplication):
        self.lane = lane
        self.multiplication = multiplication
        self.idle = 0
        self._closes = -1
        """The last cycle of the last product's steps."""
        self._taken: tuple[Reference, Context, int] | None = None
        """Destination, modulus and rounds of the product that another one may follow."""

    def prepare(self, longest: int) -> None:
        """A preparation, asked for in the cycle before."""
        own = self.multiplication
        count = own.words(longest)
        self._finish(own.rounds_after(self._loads(count), count))

    def multiply(self, destination: Reference, step: Step, inner: int, rounds: int) -> None:
        """A product, asked for in the cycle before: up to when the next one can be."""
        own, count = self.multiplication, self.multiplication.words(inner, rounds)
        asked = self.lane.cycles - 1
        joins = self._closes - own.closing(count) + 1  # the first cycle of step D
        chained = self._taken == (step.x, step.modulus, rounds) and asked + own.ASKING <= joins
        shift = own.shift(rounds, count, step.descale)
        takes = self._closes if chained else self._loads(count, shift)
        self._closes = takes + own.period(count)
        drained = self._closes + own.draining(count)
        self.idle = drained + 1
        self._taken = (destination, step.modulus, rounds)
        self.lane.cycles = takes + 1
        if step.descale:
            self._taken = None
            self._finish(own.rounds_after(drained - own.settling, count))

    def _loads(self, count: int, shift: int = 0) -> int:
        """The last cycle of reading X, of a product or a preparation that follows no other."""
        own = self.multiplication
        return max(self.idle, self.lane.cycles - 1 + own.ASKING) + own.loading(count, shift)

    def _finish(self, last: int) -> None:
        self._taken = None
        self.idle = self.lane.cycles = last + 1
