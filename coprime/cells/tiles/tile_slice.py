"""A DSP slice of a tile: pre-adder, multiplier, accumulator."""

from amaranth.hdl import Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.facts import ACCUMULATOR_BITS
from coprime.cells.primitives import dsp48e1
from coprime.cells.target import Target

DIFFERENCE_BITS = 25
FACTOR_BITS = 18


class TileSlice(wiring.Component):
    """One multiplier of a DSP48E1, with its pre-adder and its accumulator (UG479, figure 2-1).

    `minuend` and `subtrahend` are taken in cycle t, `factor` in cycle t+1, the operation in cycle
    t+2; in cycle t+4 `p` is

        base + (minuend - subtrahend) * factor   or, with `subtract`,   base - ...,

    where base is 0 with `first`, else `p` of cycle t+3. One operation a cycle.

    Raises ValueError for another target.

    Parameters
    ----------
    target (Target): XC7, or GENERIC for its behavioural twin

    Members
    -------
    minuend, subtrahend (signed 25 bits, in): the caller keeps their difference within 25 bits, too
    factor (signed 18 bits, in)
    subtract, first (1 bit, in)
    p (signed 48 bits, out): the caller keeps it in its range
    """

    LATENCY = 4

    def __init__(self, target: Target = Target.GENERIC):
        self.target = Target(target)
        if self.target not in (Target.GENERIC, Target.XC7):
            raise ValueError(f"a tile's slice is for xc7 or generic, not {self.target.value}")
        terms = dict.fromkeys(("minuend", "subtrahend"), In(signed(DIFFERENCE_BITS)))
        operation = {"factor": In(signed(FACTOR_BITS)), "subtract": In(1), "first": In(1)}
        super().__init__({**terms, **operation, "p": Out(signed(ACCUMULATOR_BITS))})

    def elaborate(self, platform: object) -> Module:
        """Place the slice, or describe it."""
        m = Module()
        if self.target is Target.XC7:
            # X and Y are the product, Z is P, or C, which is 0.
            opmode = Signal(7)
            m.d.comb += opmode.eq(0b0100101 | self.first << 4)
            m.submodules.dsp48e1 = dsp48e1(
                self.subtrahend,
                self.factor,
                self.p,
                opmode=opmode,
                opmode_register=True,
                d=self.minuend,
                c=Const(0, 1),
                subtract=self.subtract,
            )
            return m
        minuend, subtrahend = Signal.like(self.minuend), Signal.like(self.subtrahend)
        difference, factor = Signal.like(self.minuend), Signal.like(self.factor)
        product = Signal(signed(DIFFERENCE_BITS + FACTOR_BITS))
        subtract, first = Signal(), Signal()
        base = Mux(first, 0, self.p)
        m.d.sync += [
            minuend.eq(self.minuend),
            subtrahend.eq(self.subtrahend),
            difference.eq(minuend - subtrahend),
            factor.eq(self.factor),
            product.eq(difference * factor),
            subtract.eq(self.subtract),
            first.eq(self.first),
            self.p.eq(Mux(subtract, base - product, base + product)),
        ]
        return m
