"""The vendors' multipliers, with everything switched off that no cell of ours uses."""

from collections.abc import Mapping

from amaranth.hdl import Cat, ClockSignal, Const, Instance, ResetSignal, Signal, Value, ValueLike

__all__ = ["dsp48e1", "mult18x18d"]


def dsp48e1(
    a: Value,
    b: Value,
    p: Signal,
    *,
    opmode: ValueLike,
    inputs: bool = True,
    middle: bool = True,
    output: bool = True,
    opmode_register: bool = False,
    d: Value | None = None,
    c: Value | None = None,
    subtract: ValueLike = 0,
) -> Instance:
    """AMD 7 series: a multiplier and its accumulator (UG479). C is 0.

    With `d` the pre-adder makes the factor d - a, of registers of its own; then C is `c`, and
    there are registers of C and of ALUMODE.

    Parameters
    ----------
    a, b : signed 18 bits, the factors; with d, a has 17 bits without a sign
    p : signed 48 bits, driven
    opmode : 7 bits
        What is added: the multiplexers X, Y and Z.
    inputs, middle, output : bool
        Whether there are registers of A and B, M, and P.
    opmode_register : bool
        Whether there is one of OPMODE.
    d : 17 bits without a sign
    c : signed, at most 48 bits
    subtract : 1 bit, taken with opmode: the product is subtracted
    """
    if d is not None:
        return _pre_adding(a, b, p, opmode, d, c, subtract)
    one, zero, reset = Const(1, 1), Const(0, 1), ResetSignal()
    ports: dict[str, object] = {}
    for name in ("CREG", "DREG", "ALUMODEREG", "INMODEREG", "CARRYINREG", "CARRYINSELREG"):
        ports[f"p_{name}"] = 0
    for name in ("CEA1", "CEB1", "CEC", "CED", "CEAD", "CEALUMODE", "CECARRYIN", "CEINMODE"):
        ports[f"i_{name}"] = zero
    for name in ("RSTC", "RSTD", "RSTALUMODE", "RSTALLCARRYIN", "RSTINMODE"):
        ports[f"i_{name}"] = zero
    for name in ("CARRYIN", "CARRYCASCIN", "MULTSIGNIN"):
        ports[f"i_{name}"] = zero
    return Instance(
        "DSP48E1",
        p_AREG=int(inputs),
        p_ACASCREG=int(inputs),
        p_BREG=int(inputs),
        p_BCASCREG=int(inputs),
        # Not used: so Yosys leaves alone a register in front, that it would merge with A's.
        p_ADREG=int(inputs),
        p_MREG=int(middle),
        p_PREG=int(output),
        p_OPMODEREG=int(opmode_register),
        p_A_INPUT="DIRECT",
        p_B_INPUT="DIRECT",
        p_USE_DPORT="FALSE",
        p_USE_MULT="MULTIPLY",
        p_USE_SIMD="ONE48",
        p_USE_PATTERN_DETECT="NO_PATDET",
        i_CLK=ClockSignal(),
        i_A=Cat(a, a[-1].replicate(12)),
        i_B=b,
        i_C=Const(0, 48),
        # Not used: so it stays, as Yosys moves no subtraction here, before a register of A.
        i_D=Const(-1, 25),
        i_ACIN=Const(0, 30),
        i_BCIN=Const(0, 18),
        i_PCIN=Const(0, 48),
        i_CARRYINSEL=Const(0, 3),
        i_ALUMODE=Const(0, 4),
        i_INMODE=Const(0, 5),
        i_OPMODE=opmode,
        i_CEA2=one,
        i_CEB2=one,
        i_CEM=one,
        i_CEP=one,
        i_CECTRL=one if opmode_register else zero,
        i_RSTA=reset,
        i_RSTB=reset,
        i_RSTM=reset,
        i_RSTP=reset,
        i_RSTCTRL=reset if opmode_register else zero,
        o_P=p,
        **ports,
    )


def _pre_adding(
    a: Value,
    b: Value,
    p: Signal,
    opmode: ValueLike,
    d: Value,
    c: Value | None,
    subtract: ValueLike,
) -> Instance:
    one, zero, reset = Const(1, 1), Const(0, 1), ResetSignal()
    addend = Const(0, 48) if c is None else c
    ports: dict[str, object] = {}
    for name in ("A", "B", "ACASC", "BCASC", "C", "D", "AD", "M", "P", "OPMODE", "ALUMODE"):
        ports[f"p_{name}REG"] = 1
    ports |= {"p_INMODEREG": 1, "p_CARRYINREG": 0, "p_CARRYINSELREG": 0}
    for name in ("A2", "B2", "C", "D", "AD", "M", "P", "CTRL", "ALUMODE", "INMODE"):
        ports[f"i_CE{name}"] = one
    for name in ("A1", "B1", "CARRYIN"):
        ports[f"i_CE{name}"] = zero
    for name in ("A", "B", "C", "D", "M", "P", "CTRL", "ALUMODE", "INMODE"):
        ports[f"i_RST{name}"] = reset
    for name in ("RSTALLCARRYIN", "CARRYIN", "CARRYCASCIN", "MULTSIGNIN"):
        ports[f"i_{name}"] = zero
    return Instance(
        "DSP48E1",
        p_A_INPUT="DIRECT",
        p_B_INPUT="DIRECT",
        p_USE_DPORT="TRUE",
        p_USE_MULT="MULTIPLY",
        p_USE_SIMD="ONE48",
        p_USE_PATTERN_DETECT="NO_PATDET",
        i_CLK=ClockSignal(),
        i_A=Cat(a, Const(0, 30 - len(a))),
        i_B=b,
        i_C=Cat(addend, addend[-1].replicate(48 - len(addend))),
        i_D=Cat(d, Const(0, 25 - len(d))),
        i_ACIN=Const(0, 30),
        i_BCIN=Const(0, 18),
        i_PCIN=Const(0, 48),
        i_CARRYINSEL=Const(0, 3),
        # Z - (X + Y) or Z + X + Y.
        i_ALUMODE=Cat(subtract, subtract, Const(0, 2)),
        # D - A; INMODE[0] takes A2.
        i_INMODE=Cat(zero, zero, one, one, zero),
        i_OPMODE=opmode,
        o_P=p,
        **ports,
    )


def mult18x18d(a: Value, b: Value, p: Value, registers: Mapping[str, bool]) -> Instance:
    """Lattice ECP5: a signed multiplier (FPGA-TN-02205).

    Parameters
    ----------
    a, b : signed 18 bits, the factors
    p : signed 36 bits, driven
    registers : names with bool
        Whether it uses INPUTA, INPUTB, PIPELINE, OUTPUT; what is not named is not used.
    """
    ports: dict[str, object] = {}
    for bit in range(18):
        ports[f"i_A{bit}"] = a[bit]
        ports[f"i_B{bit}"] = b[bit]
    for bit in range(36):
        ports[f"o_P{bit}"] = p[bit]
    for name in ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT"):
        ports[f"p_REG_{name}_CLK"] = "CLK0" if registers.get(name, False) else "NONE"
    for name in registers:
        ports[f"p_REG_{name}_CE"] = "CE0"
        ports[f"p_REG_{name}_RST"] = "RST0"
    return Instance(
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
