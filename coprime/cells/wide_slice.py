"""A multiply-accumulate DSP slice with a wide factor: signed 25 by 18 bits.

Source: UG479; on ecp5 two multipliers of 18 bits, whose products and the accumulator are added in
one sum of logic.
"""

from amaranth.hdl import Const, Module, Mux, Signal, signed
from amaranth.lib.wiring import In

from .dsp_slice import AccumulatingSlice
from .facts import DSP_LATENCY
from .primitives import dsp48e1
from .product import Product
from .target import Target

WIDE_BITS = 25
LOW_BITS = 13
"""Of the wide factor, for one of ecp5's two multipliers."""


class WideSlice(AccumulatingSlice):
    """One multiplier with its accumulator; as DspSlice, but for the width of `a`.

    In cycle t, `a`, `b` and `shift_add` are taken; in cycle t+3 `p` is a * b, with `shift_add` plus
    p >> 17 as of cycle t+2. One operation a cycle.

    Parameters
    ----------
    target (Target): XC7 places one DSP48E1; ECP5 two MULT18X18D with an accumulator in logic

    Members
    -------
    a (signed 25 bits, in), b (signed 18 bits, in)
    shift_add (1 bit, in)
    p (signed 48 bits, out)
    """

    SHIFT = 17
    LATENCY = DSP_LATENCY

    def __init__(self, target: Target = Target.GENERIC):
        ports = {"a": In(signed(WIDE_BITS)), "b": In(signed(18)), "shift_add": In(1)}
        super().__init__(ports, 48, target)

    def elaborate(self, platform: object) -> Module:
        """Choose the target's primitive, or its behavioural twin."""
        m = Module()
        adds = Signal()
        m.d.sync += adds.eq(self.shift_add)
        if self.target is Target.XC7:
            # OPMODE[6:4] = 110 is P shifted right by 17 bits; [3:0] = 0101 the product.
            m.submodules.dsp48e1 = dsp48e1(
                *(self.a, self.b, self.p),
                opmode=Mux(adds, 0b1100101, 0b0000101),
                opmode_register=True,
            )
            return m
        later = Signal()
        m.d.sync += later.eq(adds)
        base = Mux(later, self.p >> self.SHIFT, Const(0, signed(48)))
        if self.target is Target.ECP5:
            low, high = (Product(target=self.target) for _ in range(2))
            m.submodules += [low, high]
            m.d.comb += [
                low.a.eq(self.a[:LOW_BITS]),
                high.a.eq(self.a[LOW_BITS:].as_signed()),
                low.b.eq(self.b),
                high.b.eq(self.b),
            ]
            product = low.p + (high.p << LOW_BITS)
        else:
            a, b = Signal.like(self.a), Signal.like(self.b)
            product = Signal(signed(WIDE_BITS + 18))
            m.d.sync += [a.eq(self.a), b.eq(self.b), product.eq(a * b)]
        m.d.sync += self.p.eq(base + product)
        return m
