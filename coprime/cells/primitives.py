"""The vendors' multipliers, without the features that none of our cells uses."""

from collections.abc import Mapping

from amaranth.hdl import Cat, ClockSignal, Const, Instance, ResetSignal, Signal, Value, ValueLike


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
    takes_d: Value | None = None,
    c: Value | None = None,
    subtract: ValueLike = 0,
) -> Instance:
    """AMD 7 series: a multiplier and its accumulator (UG479). C is `c`, or 0.

    With `d` the pre-adder computes the factor d - a, through registers of its own; then ALUMODE and
    INMODE have registers, too. With `d` or `c` C has one. With `takes_d` the factor is a or d, and
    the pre-adder's own register is left out: so d takes as many cycles as b.

    Parameters
    ----------
    a, b : signed 18 bits, the factors; with d, a is at most 25 bits
    p : signed 48 bits, driven
    opmode (7 bits): what is added: the multiplexers X, Y and Z
    inputs, middle, output (bool): whether A and B, M, and P have registers
    opmode_register (bool): whether OPMODE has one
    d : at most 25 bits; as a, extended by its own sign, if it has one
    takes_d (1 bit, with a and d): the factor is d
    c : signed, at most 48 bits
    subtract (1 bit, taken with opmode: the product is subtracted)
    """
    one, zero, reset = Const(1, 1), Const(0, 1), ResetSignal()
    pre_adds = d is not None
    adds_c = pre_adds or c is not None
    # An unused D is all ones, lest Yosys move a subtraction here, before a register of A.
    d = Const(-1, 25) if d is None else d
    c = Const(0, 48) if c is None else c
    used = {
        **dict.fromkeys(("A", "ACASC", "AD", "B", "BCASC"), inputs),
        "M": middle,
        "P": output,
        "OPMODE": opmode_register,
        "C": adds_c,
        **dict.fromkeys(("D", "ALUMODE", "INMODE"), pre_adds),
        **dict.fromkeys(("CARRYIN", "CARRYINSEL"), False),
    }
    if takes_d is not None:
        used["AD"] = False
    return Instance(
        "DSP48E1",
        p_A_INPUT="DIRECT",
        p_B_INPUT="DIRECT",
        p_USE_DPORT="TRUE" if pre_adds else "FALSE",
        p_USE_MULT="MULTIPLY",
        p_USE_SIMD="ONE48",
        p_USE_PATTERN_DETECT="NO_PATDET",
        i_CLK=ClockSignal(),
        i_A=_extend(a, 30),
        i_B=b,
        i_C=_extend(c, 48),
        i_D=_extend(d, 25),
        i_ACIN=Const(0, 30),
        i_BCIN=Const(0, 18),
        i_PCIN=Const(0, 48),
        i_CARRYINSEL=Const(0, 3),
        # Z - (X + Y) or Z + X + Y.
        i_ALUMODE=Cat(subtract, subtract, Const(0, 2)),
        i_INMODE=_inmode(takes_d) if takes_d is not None else Const(0b01100 if pre_adds else 0, 5),
        i_OPMODE=opmode,
        i_CECTRL=one if opmode_register else zero,
        i_RSTCTRL=reset if opmode_register else zero,
        o_P=p,
        **_register_ports(used),
    )


def _register_ports(used: Mapping[str, bool]) -> dict[str, object]:
    """Parameters and ports of a DSP48E1's registers: which of them are `used`.

    ADREG is set without a pre-adder too, lest Yosys merge a register in front of A with A's.
    """
    one, zero, reset = Const(1, 1), Const(0, 1), ResetSignal()
    ports: dict[str, object] = {f"p_{name}REG": int(is_used) for name, is_used in used.items()}
    for name in ("A2", "B2", "M", "P"):
        ports[f"i_CE{name}"] = one
    for name in ("A1", "B1", "CARRYIN"):
        ports[f"i_CE{name}"] = zero
    for name in ("A", "B", "M", "P"):
        ports[f"i_RST{name}"] = reset
    for name in ("RSTALLCARRYIN", "CARRYIN", "CARRYCASCIN", "MULTSIGNIN"):
        ports[f"i_{name}"] = zero
    registered = {"C": used["C"], **dict.fromkeys(("D", "AD", "ALUMODE", "INMODE"), used["D"])}
    for name, is_used in registered.items():
        ports[f"i_CE{name}"] = one if is_used else zero
    for name in ("C", "D", "ALUMODE", "INMODE"):
        ports[f"i_RST{name}"] = reset if registered[name] else zero
    return ports


def _inmode(takes_d: Value) -> Value:
    """A2 + 0, or 0 + D."""
    return Cat(Const(0, 1), takes_d, takes_d, Const(0, 2))


def _extend(value: Value, width: int) -> Value:
    """The bits of a value of `width` bits, with copies of its sign, or zeros if it has none."""
    fill = value[-1] if value.shape().signed else Const(0, 1)
    return Cat(value, fill.replicate(width - len(value)))


def mult18x18d(a: Value, b: Value, p: Value, registers: Mapping[str, bool]) -> Instance:
    """Lattice ECP5: a signed multiplier (FPGA-TN-02205).

    Parameters
    ----------
    a, b : signed 18 bits, the factors
    p : signed 36 bits, driven
    registers : INPUTA, INPUTB, PIPELINE or OUTPUT, each with a bool
        Whether this register is used; one without an entry is not.
    """
    ports: dict[str, object] = {}
    for bit in range(18):
        ports[f"i_A{bit}"] = a[bit]
        ports[f"i_B{bit}"] = b[bit]
    for bit in range(36):
        ports[f"o_P{bit}"] = p[bit]
    for name in ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT"):
        ports[f"p_REG_{name}_CLK"] = "CLK0" if registers.get(name, False) else "NONE"
    for name in (name for name, used in registers.items() if used):
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
