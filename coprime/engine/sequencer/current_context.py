"""The current context: one list of steps for both primes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.steps import Step

__all__ = ["CurrentContext", "CurrentContextModel"]

_OF_Q: Mapping[Reference, Reference] = {
    Operand.P: Operand.Q,
    Operand.P_POWER: Operand.Q_POWER,
    Operand.DP: Operand.DQ,
}


class CurrentContext(wiring.Component):
    """Resolves CURRENT and HALF in a fetched step.

    Parameters
    ----------
    primes : what CURRENT means in a private operation, one after the other; HALF with two only
    layout : of a step
    numbers : mapping of Reference to int
        ValueError unless Q's operands have P's numbers with a lowest bit of 1.

    Members
    -------
    begins, private : the context is the first prime in a private operation, else WHOLE
    swap : on to the other prime, if it is one
    is_q : it is Q
    fetched, resolved : the step without and with what depends on the context
    """

    def __init__(
        self,
        primes: Sequence[Context],
        layout: data.StructLayout,
        numbers: Mapping[Reference, int],
    ):
        self.primes = primes
        self.numbers = numbers
        if any(numbers[p] | 1 != numbers[q] for p, q in _OF_Q.items()):
            raise ValueError("numbers of Q's operands must be those of P's with a lowest bit of 1")
        super().__init__(
            {
                "begins": In(1),
                "private": In(1),
                "swap": In(1),
                "is_q": Out(1),
                "fetched": In(layout),
                "resolved": Out(layout),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """A register, and what is replaced."""
        m = Module()
        numbers, fetched, resolved = self.numbers, self.fetched, self.resolved
        current = Signal(Context)
        has_current = fetched.modulus == Context.CURRENT
        m.d.comb += [resolved.eq(fetched), self.is_q.eq(current == Context.Q)]
        for named, operand in ((fetched.x, resolved.x), (fetched.y, resolved.y)):
            with m.If(has_current & self.is_q & named.matches(*(numbers[p] for p in _OF_Q))):
                m.d.comb += operand[0].eq(1)
        if len(self.primes) > 1:
            with m.If(fetched.destination == numbers[Mode.HALF]):
                half = Mux(self.is_q, numbers[Scratch.PART], numbers[Scratch.ACCUMULATOR])
                m.d.comb += resolved.destination.eq(half)
        with m.If(has_current):
            m.d.comb += resolved.modulus.eq(current)
        with m.If(fetched.outer == Context.CURRENT):
            m.d.comb += resolved.outer.eq(current)
        with m.If(self.begins):
            m.d.sync += current.eq(Mux(self.private, self.primes[0], Context.WHOLE))
        if len(self.primes) > 1:
            with m.If(self.swap):
                m.d.sync += current.eq(Cat(current[1], current[0]))  # P <-> Q
        return m


class CurrentContextModel:
    """The same on steps."""

    def __init__(self, primes: Sequence[Context], *, private: bool):
        self.current = primes[0] if private else Context.WHOLE

    @property
    def is_q(self) -> int:
        """Whether it is Q."""
        return int(self.current is Context.Q)

    def swap(self) -> None:
        """On to the other prime, if it is one."""
        self.current = {Context.P: Context.Q, Context.Q: Context.P}.get(self.current, self.current)

    def resolved(self, step: Step) -> Step:
        """The step with what depends on the context."""
        if Context.CURRENT not in (step.modulus, step.outer) and step.destination is not Mode.HALF:
            return step
        of_q = _OF_Q if self.is_q and step.modulus is Context.CURRENT else {}
        half = Scratch.PART if self.is_q else Scratch.ACCUMULATOR
        return replace(
            step,
            modulus=self.current if step.modulus is Context.CURRENT else step.modulus,
            outer=self.current if step.outer is Context.CURRENT else step.outer,
            x=of_q.get(step.x, step.x),
            y=of_q.get(step.y, step.y),
            destination=half if step.destination is Mode.HALF else step.destination,
        )
