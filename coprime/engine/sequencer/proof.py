"""Which checks a result has passed that is given only after them."""

from collections.abc import Sequence

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.program.operands import Context

_NONE, _REDUCED = 0, 1
"""Checks that have been passed, which follow each other: none; S < M, which is what the others look
at. Then comes a check modulo each prime, after that: S^E = X, or what an operation on a curve has
modulo n and p; the last one, or that there is nothing to be checked, is the proof."""


class Proof(wiring.Component):
    """Nothing but the checks, one after the other, leads to a result that may be read.

    A fault that makes the program go elsewhere may skip steps or repeat them: whichever it is, from
    CHECK_REDUCED on every step of the check has been executed, or the proof is not complete.

    Each of two lanes proves its part. Both begin with it in the same cycle, or neither does, so
    that it is of one S; complete is what both have proved.

    Parameters
    ----------
    moduli : sequence of Context
        The primes modulo which it is checked, in this order.
    shared : bool
        The other lane checks it, too, modulo another prime.

    Members
    -------
    begins, checked : a command begins; its result is to be checked, and has passed nothing
    voids : the multiplier has seen a fault, or the memory is wiped: nothing is proved
    reduced, zero : CHECK_REDUCED, CHECK_ZERO was passed
    modulus : the context of that CHECK_ZERO
    complete : the result may be read
    began, proved : CHECK_REDUCED was passed a cycle ago; this lane's part is complete; these and
        the next ones only where it is shared
    other_began, other_proved : the other lane's
    """

    def __init__(self, moduli: Sequence[Context], shared: bool = False):
        self.moduli = moduli
        self.shared = shared
        flags = ("begins", "checked", "voids", "reduced", "zero")
        super().__init__(
            {**dict.fromkeys(flags, In(1)), "modulus": In(Context), "complete": Out(1)}
            | (dict.fromkeys(("began", "proved"), Out(1)) if shared else {})
            | (dict.fromkeys(("other_began", "other_proved"), In(1)) if shared else {})
        )

    def elaborate(self, platform: object) -> Module:
        """One register."""
        m = Module()
        last = _REDUCED + len(self.moduli)
        passed = Signal(range(last + 1), init=last)
        m.d.comb += self.complete.eq(passed == last)
        if self.shared:
            m.d.comb += self.proved.eq(passed == last)
            m.d.comb += self.complete.eq(self.proved & self.other_proved)
            m.d.sync += self.began.eq(self.reduced)
        with m.If(self.reduced):
            m.d.sync += passed.eq(_REDUCED)
        if self.shared:
            with m.If(self.began ^ self.other_began):
                m.d.sync += passed.eq(_NONE)
        with m.If(self.zero):
            m.d.sync += passed.eq(_NONE)
            for before, prime in enumerate(self.moduli, _REDUCED):
                with m.If((self.modulus == prime) & (passed == before)):
                    m.d.sync += passed.eq(before + 1)
        with m.If(self.begins):
            m.d.sync += passed.eq(Mux(self.checked, _NONE, last))
        with m.If(self.voids):
            m.d.sync += passed.eq(_NONE)
        return m
