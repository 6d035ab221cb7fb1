"""One DSP slice for two users, of which one works at a time: one multiplies signed 18 by 18 bits
and adds a constant, the other one signed 25 by 18 bits in two passes.
"""

from amaranth.hdl import Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .dsp_slice import Accumulate
from .primitives import dsp48e1
from .product import Product
from .target import Target
from .wide_slice import LOW_BITS, WIDE_BITS

_P_BITS = 48
_FACTOR = signed(18)


def narrow_user(accumulator_width: int) -> wiring.Signature:
    """A DspSlice with `adds_c` and `chooses`, seen from its user."""
    shape = signed(accumulator_width)
    return wiring.Signature(
        {
            **dict.fromkeys(("a", "b", "d"), Out(_FACTOR)),
            "takes_d": Out(1),
            "c": Out(shape),
            "accumulate": Out(3),
            "product": Out(1),
            "p": In(shape),
        }
    )


WIDE_USER = wiring.Signature(
    {
        "a": Out(signed(WIDE_BITS)),
        "b": Out(_FACTOR),
        "shift_add": Out(1),
        "p": In(signed(_P_BITS)),
    }
)
"""A WideSlice, seen from its user."""


class SharedSlice(wiring.Component):
    """A DspSlice of one user and a WideSlice of another one, as `is_wide` says.

    Both users' values are those of their own slices, with the same latency, in the cycles whose
    operations `is_wide` gives them.

    Parameters
    ----------
    accumulator_width (int): of the narrow user, 36 to 48
    target (Target): XC7 places one DSP48E1; ECP5 two MULT18X18D with an accumulator in logic

    Members
    -------
    is_wide (1 bit, in): whose operation enters
    narrow, wide: the users' ports. `product` of the narrow one is 1
    """

    LATENCY = 3

    def __init__(self, accumulator_width: int, target: Target = Target.GENERIC):
        self.target = Target(target)
        super().__init__(
            {
                "is_wide": In(1),
                "narrow": In(narrow_user(accumulator_width)),
                "wide": In(WIDE_USER),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Select the operands of a slice with the ports of both."""
        m = Module()
        narrow, wide, is_wide = self.narrow, self.wide, self.is_wide
        a, b, p = Signal(signed(WIDE_BITS)), Signal(_FACTOR), Signal(signed(_P_BITS))
        accumulate, takes_d = Signal(3), Signal()
        shifts = Mux(wide.shift_add, Accumulate.SHIFT_ADD.value, Accumulate.LOAD.value)
        m.d.comb += [
            a.eq(Mux(is_wide, wide.a, narrow.a)),
            b.eq(Mux(is_wide, wide.b, narrow.b)),
            takes_d.eq(~is_wide & narrow.takes_d),
            narrow.p.eq(p),
            wide.p.eq(p),
        ]
        m.d.sync += accumulate.eq(Mux(is_wide, shifts, narrow.accumulate))
        if self.target is Target.XC7:
            opmode = Signal(7)
            m.d.comb += opmode.eq(accumulate << 4 | 0b0101)
            m.submodules.dsp48e1 = dsp48e1(
                *(a, b, p),
                opmode=opmode,
                opmode_register=True,
                c=narrow.c,
                d=narrow.d,
                takes_d=takes_d,
            )
            return m
        factor = Signal.like(a)
        m.d.comb += factor.eq(Mux(takes_d, narrow.d, a))
        operation, c = Signal(3), Signal.like(narrow.c)
        m.d.sync += [operation.eq(accumulate), c.eq(narrow.c)]
        held = Mux(operation[0], c, p)
        base = Mux(operation[1], Mux(operation[2], p >> 17, held), Const(0, signed(_P_BITS)))
        if self.target is Target.ECP5:
            low, high = (Product(target=self.target) for _ in range(2))
            m.submodules += [low, high]
            m.d.comb += [
                low.a.eq(factor[:LOW_BITS]),
                high.a.eq(factor[LOW_BITS:].as_signed()),
                low.b.eq(b),
                high.b.eq(b),
            ]
            product = low.p + (high.p << LOW_BITS)
        else:
            first, second = Signal.like(factor), Signal.like(b)
            product = Signal(signed(WIDE_BITS + 18))
            m.d.sync += [first.eq(factor), second.eq(b), product.eq(first * second)]
        m.d.sync += p.eq(base + product)
        return m
