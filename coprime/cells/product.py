"""One product of a DSP slice: signed 18 by 18 bits, with up to three registers on its way."""

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, ResetSignal, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .target import Target

__all__ = ["Product"]


class Product(wiring.Component):
    """`p` is a * b, as many cycles later as there are registers.

    Parameters
    ----------
    inputs, middle, output : bool
        Whether there are registers before the multiplier, in it, and behind it.
    target : Target
        XC7 places one DSP48E1; ECP5 one MULT18X18D.

    Members
    -------
    a, b : signed 18 bits, in
    p : signed 36 bits, out
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
            self._dsp48e1(m)
        elif self.target is Target.ECP5:
            self._mult18x18d(m)
        else:
            a, b = self.a, self.b
            if self.inputs:
                a, b = Signal.like(a), Signal.like(b)
                m.d.sync += [a.eq(self.a), b.eq(self.b)]
            product = Signal.like(self.p)
            (m.d.sync if self.middle else m.d.comb).__iadd__(product.eq(a * b))
            (m.d.sync if self.output else m.d.comb).__iadd__(self.p.eq(product))
        return m

    def _mult18x18d(self, m: Module) -> None:
        ports: dict[str, object] = {}
        for bit in range(18):
            ports[f"i_A{bit}"] = self.a[bit]
            ports[f"i_B{bit}"] = self.b[bit]
        for bit in range(36):
            ports[f"o_P{bit}"] = self.p[bit]
        for name, used in (
            ("INPUTA", self.inputs),
            ("INPUTB", self.inputs),
            ("PIPELINE", self.middle),
            ("OUTPUT", self.output),
        ):
            ports[f"p_REG_{name}_CLK"] = "CLK0" if used else "NONE"
            ports[f"p_REG_{name}_CE"] = "CE0"
            ports[f"p_REG_{name}_RST"] = "RST0"
        m.submodules.multiplier = Instance(
            "MULT18X18D",
            p_GSR="DISABLED",
            p_RESETMODE="SYNC",
            i_CLK0=ClockSignal(),
            i_CE0=Const(1),
            i_RST0=ResetSignal(),
            i_SIGNEDA=Const(1),
            i_SIGNEDB=Const(1),
            i_SOURCEA=Const(0),
            i_SOURCEB=Const(0),
            **ports,
        )

    def _dsp48e1(self, m: Module) -> None:
        p = Signal(signed(48))
        one, zero = Const(1, 1), Const(0, 1)
        inputs, middle, output = int(self.inputs), int(self.middle), int(self.output)
        m.d.comb += self.p.eq(p)
        m.submodules.dsp48e1 = Instance(
            "DSP48E1",
            p_AREG=inputs,
            p_ACASCREG=inputs,
            p_BREG=inputs,
            p_BCASCREG=inputs,
            p_CREG=0,
            p_DREG=0,
            # Not used: so Yosys leaves alone a register in front, that it would merge with A's.
            p_ADREG=inputs,
            p_MREG=middle,
            p_PREG=output,
            p_OPMODEREG=0,
            p_ALUMODEREG=0,
            p_INMODEREG=0,
            p_CARRYINREG=0,
            p_CARRYINSELREG=0,
            p_A_INPUT="DIRECT",
            p_B_INPUT="DIRECT",
            p_USE_DPORT="FALSE",
            p_USE_MULT="MULTIPLY",
            p_USE_SIMD="ONE48",
            p_USE_PATTERN_DETECT="NO_PATDET",
            i_CLK=ClockSignal(),
            i_A=Cat(self.a, self.a[-1].replicate(12)),
            i_B=self.b,
            i_C=Const(0, 48),
            # Not used: so it stays, as Yosys moves no subtraction here, before a register of A.
            i_D=Const(-1, 25),
            i_ACIN=Const(0, 30),
            i_BCIN=Const(0, 18),
            i_PCIN=Const(0, 48),
            i_CARRYIN=zero,
            i_CARRYCASCIN=zero,
            i_MULTSIGNIN=zero,
            i_CARRYINSEL=Const(0, 3),
            i_ALUMODE=Const(0, 4),
            i_INMODE=Const(0, 5),
            # X and Y are the product, Z is C, zero: so it stays, as Yosys moves no addition here,
            # which would come before the register of P, too.
            i_OPMODE=Const(0b0110101, 7),
            i_CEA1=zero,
            i_CEA2=one,
            i_CEB1=zero,
            i_CEB2=one,
            i_CEC=zero,
            i_CED=zero,
            i_CEAD=zero,
            i_CEM=one,
            i_CEP=one,
            i_CEALUMODE=zero,
            i_CECTRL=zero,
            i_CECARRYIN=zero,
            i_CEINMODE=zero,
            i_RSTA=ResetSignal(),
            i_RSTB=ResetSignal(),
            i_RSTC=zero,
            i_RSTD=zero,
            i_RSTM=ResetSignal(),
            i_RSTP=ResetSignal(),
            i_RSTCTRL=zero,
            i_RSTALUMODE=zero,
            i_RSTALLCARRYIN=zero,
            i_RSTINMODE=zero,
            o_P=p,
        )
