"""A DSP slice that multiplies differences: pre-adder, multiplier, accumulator.

The DSP48E1's pre-adder computes one difference, fabric logic the other (UG479, figure 2-1). A
MULT18X18D has neither a pre-adder nor a third input to its sum: on ECP5 both are fabric logic.
"""

import enum

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib.wiring import In

from .dsp_slice import AccumulatingSlice
from .primitives import dsp48e1
from .product import Product
from .target import Target


class Addend(enum.Enum):
    """What the product is added to. The values are the DSP48E1's OPMODE[5:4]."""

    ZERO = 0b00
    P = 0b10  # the accumulator
    C = 0b11  # the input `c`


class DifferenceSlice(AccumulatingSlice):
    """One multiplier of differences of digits, with its accumulator.

    In cycle t a, b and the operation are taken, in cycle t+1 x and y; in cycle t+4 `p` is

        base + (a - b) * (x - y)   or   base - (a - b) * (x - y)   where `subtract` is 1,

    with base = 0, `p` as of cycle t+3, or `c` as of cycle t+2. One operation a cycle. Digits are
    unsigned 17 bits, so a difference is signed 18 bits. x should come from a register; y may come
    from a little logic, which shares the LUTs of x - y.

    Parameters
    ----------
    accumulator_width : int
        Bits of `p` and `c`, 36 to 48, signed. The caller keeps `p` in its range.
    target : Target
        XC7 places one DSP48E1; ECP5 one MULT18X18D with difference and accumulator in logic.

    Members
    -------
    a, b, x, y : unsigned 17 bits, in
    subtract : 1 bit, in
    base : Addend, in
    c : signed `accumulator_width` bits, in
    p : signed `accumulator_width` bits, out
    """

    DIGIT_WIDTH = 17
    LATENCY = 4

    def __init__(self, accumulator_width: int = 48, target: Target = Target.GENERIC):
        digits = dict.fromkeys(("a", "b", "x", "y"), In(self.DIGIT_WIDTH))
        ports = {**digits, "subtract": In(1), "base": In(2)}
        super().__init__(ports, accumulator_width, target, adds_c=True)

    def elaborate(self, platform: object) -> Module:
        """Choose the target's primitive, or its behavioural twin."""
        m = Module()
        difference = Signal(signed(self.DIGIT_WIDTH + 1))
        m.d.comb += difference.eq(self.x - self.y)
        # The operation enters with its digits and waits here for their product.
        base, subtract = [Signal(2) for _ in range(2)], [Signal() for _ in range(2)]
        m.d.sync += [
            base[0].eq(self.base),
            base[1].eq(base[0]),
            subtract[0].eq(self.subtract),
            subtract[1].eq(subtract[0]),
        ]
        if self.target is Target.XC7:
            p = Signal(signed(48))
            opmode = Signal(7)
            m.d.comb += [opmode.eq(base[1] << 4 | 0b0101), self.p.eq(p)]
            m.submodules.dsp48e1 = dsp48e1(
                self.b,
                difference,
                p,
                opmode=opmode,
                opmode_register=True,
                d=self.a,
                c=self.c,
                subtract=subtract[1],
            )
        else:
            self._in_logic(m, difference, base[1], subtract[1])
        return m

    def _in_logic(self, m: Module, difference: Signal, base: Signal, subtract: Signal) -> None:
        a, b = Signal(self.DIGIT_WIDTH), Signal(self.DIGIT_WIDTH)
        m.submodules.multiplier = multiplier = Product(target=self.target)
        m.d.sync += [a.eq(self.a), b.eq(self.b)]
        m.d.comb += [multiplier.a.eq(a - b), multiplier.b.eq(difference)]
        c, operation, subtracts = Signal.like(self.c), Signal(2), Signal()
        m.d.sync += [c.eq(self.c), operation.eq(base), subtracts.eq(subtract)]
        to, addend = Signal.like(c), Signal.like(c)
        m.d.comb += [
            to.eq(Mux(operation[1], Mux(operation[0], c, self.p), 0)),
            addend.eq(multiplier.p ^ subtracts.replicate(36).as_signed()),
        ]
        # The lowest position makes the carry an input of one carry chain.
        m.d.sync += self.p.eq((Cat(subtracts, to) + Cat(subtracts, addend))[1:])
