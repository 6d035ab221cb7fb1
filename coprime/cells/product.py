"""One product of a DSP slice: signed 18 by 18 bits, with up to three pipeline registers."""

from amaranth.hdl import Const, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .primitives import dsp48e1, mult18x18d
from .target import Target


class Product(wiring.Component):
    """`p` is a * b, as many cycles later as there are registers.

    Parameters
    ----------
    inputs, middle, output (bool): whether there are registers before, in and after the multiplier
    target (Target): XC7 places one DSP48E1; ECP5 one MULT18X18D

    Members
    -------
    a, b (signed 18 bits, in)
    p (signed 36 bits, out)
    """

    def __init__(
        self,
        *,
        inputs: bool = True,
        middle: bool = False,
        output: bool = True,
        target: Target = Target.GENERIC,
    ):
        self.inputs, self.middle, self.output = inputs, middle, output
        self.target = Target(target)
        super().__init__({"a": In(signed(18)), "b": In(signed(18)), "p": Out(signed(36))})

    @property
    def latency(self) -> int:
        """Cycles from the factors to their product, 0 to 3."""
        return self.inputs + self.middle + self.output

    def elaborate(self, platform: object) -> Module:
        """Choose the target's primitive, or its behavioural twin."""
        m = Module()
        if self.target is Target.XC7:
            p = Signal(signed(48))
            m.d.comb += self.p.eq(p)
            m.submodules.dsp48e1 = dsp48e1(
                self.a,
                self.b,
                p,
                # X and Y are the product, Z is C, zero: so it stays, as Yosys moves no addition
                # here, which would come before the register of P, too.
                opmode=Const(0b0110101, 7),
                inputs=self.inputs,
                middle=self.middle,
                output=self.output,
            )
        elif self.target is Target.ECP5:
            registers = {
                "INPUTA": self.inputs,
                "INPUTB": self.inputs,
                "PIPELINE": self.middle,
                "OUTPUT": self.output,
            }
            m.submodules.multiplier = mult18x18d(self.a, self.b, self.p, registers)
        else:
            a, b = self.a, self.b
            if self.inputs:
                a, b = Signal.like(a), Signal.like(b)
                m.d.sync += [a.eq(self.a), b.eq(self.b)]
            product = Signal.like(self.p)
            (m.d.sync if self.middle else m.d.comb).__iadd__(product.eq(a * b))
            (m.d.sync if self.output else m.d.comb).__iadd__(self.p.eq(product))
        return m
