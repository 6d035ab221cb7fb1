"""A multiply-accumulate DSP slice: registered inputs, registered product, accumulator.

Source: FDFM, section 5.1.1 and figure 2; the accumulator's 17-bit right shift back into its own
addition is the DSP48E1's (UG479, OPMODE[6:4] = 110).
"""

import enum

from amaranth.hdl import Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .primitives import dsp48e1, mult18x18d
from .target import Target

__all__ = ["Accumulate", "DspSlice", "check_accumulator_width"]


def check_accumulator_width(bits: int) -> None:
    """Raise TypeError or ValueError unless an accumulator may have so many bits, 36 to 48."""
    if not isinstance(bits, int):
        raise TypeError(f"accumulator_width must be an int, not {bits!r}")
    if bits not in range(36, 49):
        raise ValueError(f"accumulator_width must be in 36..48, not {bits}")


class Accumulate(enum.Enum):
    """What the product is added to. The values are the DSP48E1's OPMODE[6:4]."""

    LOAD = 0b000
    """Zero."""
    ADD = 0b010
    """The accumulator."""
    SHIFT_ADD = 0b110
    """The accumulator shifted right by 17 bits (arithmetically)."""


class DspSlice(wiring.Component):
    """One multiplier with its accumulator.

    In cycle t, `a`, `b`, `accumulate` and `product` are taken; in cycle t+3 `p` is

        base + (a * b if product else 0),   base = 0, p or p >> 17 as `accumulate` says,

    with p as of cycle t+2. One operation a cycle.

    Parameters
    ----------
    accumulator_width : int
        Bits of `p`, 36 to 48. The caller sees to it that `p` never leaves its range.
    target : Target
        XC7 places one DSP48E1; ECP5 one MULT18X18D with its accumulator in logic.

    Members
    -------
    a, b : signed 18 bits, in
    accumulate : Accumulate, in
    product : 1 bit, in
        0 leaves the product out.
    p : signed `accumulator_width` bits, out
    """

    SHIFT = 17
    LATENCY = 3

    def __init__(self, accumulator_width: int = 48, target: Target = Target.GENERIC):
        check_accumulator_width(accumulator_width)
        self.accumulator_width = accumulator_width
        self.target = Target(target)
        super().__init__(
            {
                "a": In(signed(18)),
                "b": In(signed(18)),
                "accumulate": In(3),
                "product": In(1),
                "p": Out(signed(accumulator_width)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Choose the target's primitive, or its behavioural twin."""
        m = Module()
        # The operation enters with its operands and waits here for their product.
        accumulate = Signal(3)
        product = Signal()
        m.d.sync += [accumulate.eq(self.accumulate), product.eq(self.product)]
        if self.target is Target.XC7:
            p = Signal(signed(48))
            # OPMODE[3:0] = 0101 takes the product as X and Y; 0000 takes zero.
            opmode = Signal(7)
            m.d.comb += [
                opmode.eq(accumulate << 4 | Mux(product, 0b0101, 0)),
                self.p.eq(p),
            ]
            m.submodules.dsp48e1 = dsp48e1(self.a, self.b, p, opmode=opmode, opmode_register=True)
        else:
            self._accumulator(m, accumulate, product)
        return m

    def _accumulator(self, m: Module, accumulate: Signal, product: Signal) -> None:
        partial = Signal(signed(36))  # |a * b| <= 2**34
        if self.target is Target.ECP5:
            registers = {"INPUTA": True, "INPUTB": True, "OUTPUT": True}
            m.submodules.multiplier = mult18x18d(self.a, self.b, partial, registers)
        else:
            a = Signal(signed(18))
            b = Signal(signed(18))
            m.d.sync += [a.eq(self.a), b.eq(self.b), partial.eq(a * b)]
        operation = Signal(3)
        enable = Signal()
        m.d.sync += [operation.eq(accumulate), enable.eq(product)]
        base = Mux(
            operation[1],
            Mux(operation[2], self.p >> self.SHIFT, self.p),
            Const(0, signed(self.accumulator_width)),
        )
        m.d.sync += self.p.eq(base + Mux(enable, partial, 0))
