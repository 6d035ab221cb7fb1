"""A multiply-accumulate DSP slice: registered inputs, registered product, accumulator.

Source: FDFM, section 5.1.1 and figure 2; the accumulator's 17-bit right shift back into its own
addition is the DSP48E1's (UG479, OPMODE[6:4] = 110).
"""

import enum
from collections.abc import Mapping

from amaranth.hdl import Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.parameters import check_ranges

from .facts import DSP_LATENCY
from .primitives import dsp48e1
from .product import Product
from .target import Target


class Accumulate(enum.Enum):
    """What the product is added to. The values are the DSP48E1's OPMODE[6:4]."""

    LOAD = 0b000  # zero
    ADD = 0b010  # the accumulator
    SHIFT_ADD = 0b110  # the accumulator shifted right by 17 bits (arithmetically)


ADD_C = 0b011
"""The same of the input `c`, of slices with `adds_c`. Not one of Accumulate, whose names stand in
the Verilog of slices that have no `c`."""


class AccumulatingSlice(wiring.Component):
    """A DSP slice with the accumulator `p`, a signed output of `accumulator_width` bits.

    Raises TypeError or ValueError unless `accumulator_width` is 36 to 48. `ports` are all
    others, except `c`, an input of the accumulator's shape, which there is with `adds_c`.
    """

    def __init__(
        self,
        ports: Mapping[str, wiring.Member],
        accumulator_width: int,
        target: Target,
        *,
        adds_c: bool = False,
    ):
        check_ranges(accumulator_width=(accumulator_width, range(36, 49)))
        self.accumulator_width = accumulator_width
        self.target = Target(target)
        shape = signed(accumulator_width)
        addend = {"c": In(shape)} if adds_c else {}
        super().__init__({**ports, **addend, "p": Out(shape)})


class DspSlice(AccumulatingSlice):
    """One multiplier with its accumulator.

    In cycle t, `a`, `b`, `accumulate` and `product` are taken; in cycle t+3 `p` is

        base + (a * b if product else 0),   base = 0, p, c or p >> 17 as `accumulate` says,

    with p as of cycle t+2 and c as of cycle t+1. One operation a cycle.

    Parameters
    ----------
    accumulator_width (int): bits of `p`, 36 to 48. The caller keeps `p` in its range.
    target (Target): XC7 places one DSP48E1; ECP5 one MULT18X18D with its accumulator in logic
    adds_c (bool): there is an input `c`
    chooses (bool): there are inputs `d` and `takes_d`

    Members
    -------
    a, b (signed 18 bits, in)
    c (signed `accumulator_width` bits, in): with `adds_c` only
    d (signed 18 bits, in), takes_d (1 bit, in): with `chooses` only: d is taken in place of a. On
        XC7 that needs no LUT
    accumulate (Accumulate, in)
    product (1 bit, in): 0 adds no product
    p (signed `accumulator_width` bits, out)
    """

    SHIFT = 17
    LATENCY = DSP_LATENCY

    def __init__(
        self,
        accumulator_width: int = 48,
        target: Target = Target.GENERIC,
        *,
        adds_c: bool = False,
        chooses: bool = False,
    ):
        factors = dict.fromkeys(("a", "b"), In(signed(18)))
        ports = {**factors, "accumulate": In(3), "product": In(1)}
        if chooses:
            ports |= {"d": In(signed(18)), "takes_d": In(1)}
        self.adds_c, self.chooses = adds_c, chooses
        super().__init__(ports, accumulator_width, target, adds_c=adds_c)

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
            m.d.comb += [opmode.eq(accumulate << 4 | Mux(product, 0b0101, 0)), self.p.eq(p)]
            m.submodules.dsp48e1 = dsp48e1(
                *(self.a, self.b, p),
                opmode=opmode,
                opmode_register=True,
                c=self.c if self.adds_c else None,
                d=self.d if self.chooses else None,
                takes_d=self.takes_d if self.chooses else None,
            )
        else:
            self._accumulator(m, accumulate, product)
        return m

    def _accumulator(self, m: Module, accumulate: Signal, product: Signal) -> None:
        m.submodules.multiplier = multiplier = Product(target=self.target)
        a = Mux(self.takes_d, self.d, self.a) if self.chooses else self.a
        m.d.comb += [multiplier.a.eq(a), multiplier.b.eq(self.b)]
        operation = Signal(3)
        enable = Signal()
        m.d.sync += [operation.eq(accumulate), enable.eq(product)]
        held = self.p
        if self.adds_c:
            c = Signal.like(self.c)
            m.d.sync += c.eq(self.c)
            held = Mux(operation[0], c, self.p)
        base = Mux(
            operation[1],
            Mux(operation[2], self.p >> self.SHIFT, held),
            Const(0, signed(self.accumulator_width)),
        )
        m.d.sync += self.p.eq(base + Mux(enable, multiplier.p, 0))
