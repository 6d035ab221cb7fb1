"""Which checks the result of a private operation has passed."""

import enum

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.program.operands import Context

__all__ = ["Proof"]


class Passed(enum.IntEnum):
    """The checks that have been passed, which follow each other."""

    NONE = 0
    REDUCED = 1
    """S < M; S is what the other two look at."""
    MODULO_Q = 2
    """S^E = X modulo Q, after that."""
    COMPLETE = 3
    """And modulo P, after that; or there is nothing to be checked."""


class Proof(wiring.Component):
    """Nothing but the three checks, one after the other, leads to a result that may be read.

    A fault that makes the program go elsewhere may skip steps or repeat them: whichever it is, from
    CHECK_REDUCED on every step of the check has been executed, or the proof is not complete.

    Members
    -------
    begins, private : a command begins; it is a private operation, which has passed nothing
    voids : the multiplier has seen a fault, or the memory is wiped: nothing is proved
    reduced, zero : CHECK_REDUCED, CHECK_ZERO was passed
    modulus : the context of that CHECK_ZERO
    complete : the result may be read
    """

    def __init__(self) -> None:
        flags = ("begins", "private", "voids", "reduced", "zero")
        super().__init__(
            {**dict.fromkeys(flags, In(1)), "modulus": In(Context), "complete": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        """One register."""
        m = Module()
        passed = Signal(Passed, init=Passed.COMPLETE)
        m.d.comb += self.complete.eq(passed == Passed.COMPLETE)
        with m.If(self.reduced):
            m.d.sync += passed.eq(Passed.REDUCED)
        with m.If(self.zero):
            m.d.sync += passed.eq(Passed.NONE)
            with m.If((self.modulus == Context.Q) & (passed == Passed.REDUCED)):
                m.d.sync += passed.eq(Passed.MODULO_Q)
            with m.If((self.modulus == Context.P) & (passed == Passed.MODULO_Q)):
                m.d.sync += passed.eq(Passed.COMPLETE)
        with m.If(self.begins):
            m.d.sync += passed.eq(Mux(self.private, Passed.NONE, Passed.COMPLETE))
        with m.If(self.voids):
            m.d.sync += passed.eq(Passed.NONE)
        return m
