"""A multiply-accumulate DSP slice: registered inputs, registered product, accumulator.

Source: FDFM, section 5.1.1 and figure 2; the accumulator's 17-bit right shift back into its own
addition is the DSP48E1's (UG479, OPMODE[6:4] = 110).
"""

import enum

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Mux, ResetSignal, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .target import Target

__all__ = ["Accumulate", "DspSlice"]


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
        if not isinstance(accumulator_width, int):
            raise TypeError(f"accumulator_width must be an int, not {accumulator_width!r}")
        if accumulator_width not in range(36, 49):
            raise ValueError(f"accumulator_width must be in 36..48, not {accumulator_width}")
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
            self._dsp48e1(m, accumulate, product)
        else:
            self._accumulator(m, accumulate, product)
        return m

    def _accumulator(self, m: Module, accumulate: Signal, product: Signal) -> None:
        partial = Signal(signed(36))  # |a * b| <= 2**34
        if self.target is Target.ECP5:
            self._mult18x18d(m, partial)
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

    def _mult18x18d(self, m: Module, partial: Signal) -> None:
        ports: dict[str, object] = {}
        for bit in range(18):
            ports[f"i_A{bit}"] = self.a[bit]
            ports[f"i_B{bit}"] = self.b[bit]
        for bit in range(36):
            ports[f"o_P{bit}"] = partial[bit]
        for name in ("INPUTA", "INPUTB", "OUTPUT"):
            ports[f"p_REG_{name}_CLK"] = "CLK0"
            ports[f"p_REG_{name}_CE"] = "CE0"
            ports[f"p_REG_{name}_RST"] = "RST0"
        m.submodules.multiplier = Instance(
            "MULT18X18D",
            p_REG_PIPELINE_CLK="NONE",
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

    def _dsp48e1(self, m: Module, accumulate: Signal, product: Signal) -> None:
        p = Signal(signed(48))
        one, zero = Const(1, 1), Const(0, 1)
        # OPMODE[3:0] = 0101 takes the product as X and Y; 0000 takes zero.
        opmode = Signal(7)
        m.d.comb += [
            opmode.eq(accumulate << 4 | Mux(product, 0b0101, 0)),
            self.p.eq(p),
        ]
        m.submodules.dsp48e1 = Instance(
            "DSP48E1",
            p_AREG=1,
            p_ACASCREG=1,
            p_BREG=1,
            p_BCASCREG=1,
            p_CREG=0,
            p_DREG=0,
            p_ADREG=0,
            p_MREG=1,
            p_PREG=1,
            p_OPMODEREG=1,
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
            i_D=Const(0, 25),
            i_ACIN=Const(0, 30),
            i_BCIN=Const(0, 18),
            i_PCIN=Const(0, 48),
            i_CARRYIN=zero,
            i_CARRYCASCIN=zero,
            i_MULTSIGNIN=zero,
            i_CARRYINSEL=Const(0, 3),
            i_ALUMODE=Const(0, 4),
            i_INMODE=Const(0, 5),
            i_OPMODE=opmode,
            i_CEA1=one,
            i_CEA2=one,
            i_CEB1=one,
            i_CEB2=one,
            i_CEC=zero,
            i_CED=zero,
            i_CEAD=zero,
            i_CEM=one,
            i_CEP=one,
            i_CEALUMODE=zero,
            i_CECTRL=one,
            i_CECARRYIN=zero,
            i_CEINMODE=zero,
            i_RSTA=ResetSignal(),
            i_RSTB=ResetSignal(),
            i_RSTC=zero,
            i_RSTD=zero,
            i_RSTM=ResetSignal(),
            i_RSTP=ResetSignal(),
            i_RSTCTRL=ResetSignal(),
            i_RSTALUMODE=zero,
            i_RSTALLCARRYIN=zero,
            i_RSTINMODE=zero,
            o_P=p,
        )
