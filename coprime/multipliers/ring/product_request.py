"""The product that is asked for in `ring`, until it is taken."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..delays import history
from .multiplication import RingMultiplication

__all__ = ["ProductRequest"]


class ProductRequest(wiring.Component):
    """Keeps that a product or a preparation is asked for, and how many words it has.

    Parameters
    ----------
    place_bits, count_bits : bits of a place in a ring, of a count of words
    multiplication : RingMultiplication

    Members
    -------
    start, prepare, takes, descale, inner_digits, rounds, longest_digits
        As in `OverlappingMultiplierSignature`.
    drops : what is asked for is not wanted any more
    waits : something is asked for, from the cycle after `start` on
    asked : the same, with `count` and `shift` of it: `ASKING` cycles after `start`
    prepares : it is a preparation
    count : D
    shift : places by which Y is higher than its words
    """

    def __init__(self, place_bits: int, count_bits: int, multiplication: RingMultiplication):
        self.multiplication = multiplication
        flags = ("start", "prepare", "takes", "drops", "descale")
        super().__init__(
            {
                **dict.fromkeys(flags, In(1)),
                **dict.fromkeys(("inner_digits", "rounds", "longest_digits"), In(count_bits)),
                **dict.fromkeys(("waits", "asked", "prepares"), Out(1)),
                "count": Out(place_bits),
                "shift": Out(place_bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The flag, and the greatest of the counts."""
        m = Module()
        least, ahead = self.multiplication.least, self.multiplication.ahead
        with m.If(self.start | self.prepare):
            m.d.sync += [self.waits.eq(1), self.prepares.eq(self.prepare)]
        with m.Elif(self.takes | self.drops):
            m.d.sync += self.waits.eq(0)
        greater, count = Signal.like(self.inner_digits), Signal.like(self.count)
        # What is compared comes late in its cycle, and is compared with `least` in the next one.
        m.d.sync += greater.eq(
            Mux(
                self.prepares,
                self.longest_digits,
                Mux(self.rounds > self.inner_digits, self.rounds, self.inner_digits),
            )
        )
        m.d.comb += [
            count.eq(Mux(greater < least, least, greater)),
            self.asked.eq(
                Cat(
                    history(m, "waited", self.waits, self.multiplication.ASKING - 1, reset=True)
                ).all()
            ),
        ]
        m.d.sync += [
            self.count.eq(count),
            self.shift.eq(count - self.rounds + Mux(self.descale, ahead, 0)),
        ]
        return m
