"""What a step works on: the host's operands, scratch locations and addressing modes.

A reference to an operand has seven bits, of which the upper ones are its class:

    000xxxx  Operand   what the host writes; these numbers are published
    001xxxx  Scratch   intermediate values in the operand memory
    01xxxxx  Scratch   the table of powers, T_0 to T_31
    100xxxx  Mode      a rule that gives a location as the step is executed

A program memory has fewer bits for them where not all occur: a layout (`engine/layout.py`) numbers
those that a lane has.
"""

import enum
from collections.abc import Mapping

__all__ = [
    "MODULI",
    "Context",
    "Length",
    "Location",
    "Mode",
    "Operand",
    "Reference",
    "Scratch",
]


class Length(enum.IntEnum):
    """The length classes of operands; each has a length in bits, and from it a count of digits."""

    MODULUS = 0
    EXPONENT = 1
    P = 2
    Q = 3
    DIGIT = 4
    """Exactly one digit."""

    @property
    def field(self) -> str:
        """The class's field of a bundle with a number for each class; DIGIT has none."""
        return self.name.lower()


class Operand(enum.IntEnum):
    """What the host can write. d, dp, dq: digits of modulus, p and q; W: the digit's width."""

    X = 0
    """Message, base or first factor; below M."""
    Y = 1
    """Second factor; below M."""
    E = 2
    """Exponent."""
    M = 3
    """Modulus: odd, unless DIGITS.RADIX is 0."""
    P = 4
    Q = 5
    DP = 6
    """D mod (P - 1)."""
    DQ = 7
    M_INVERSE = 8
    """-M^-1 mod 2^W."""
    P_INVERSE = 9
    Q_INVERSE = 10
    M_POWER = 11
    """R^2 mod M; R is as DIGITS.RADIX specifies, 2^(W*d) where a round takes a digit."""
    P_POWER = 12
    """R * R_p mod P: brings X, which has as many rounds as M, into Montgomery form modulo P."""
    Q_POWER = 13
    CRT_P = 14
    """(Q^-1 mod P) * Q * R_p mod M."""
    CRT_Q = 15
    """(P^-1 mod Q) * P * R_q mod M."""

    @property
    def length(self) -> Length:
        """The operand's length class."""
        return _LENGTHS.get(self, Length.MODULUS)

    @property
    def is_exponent(self) -> bool:
        """Whether it is scanned for its bits, and never aligned."""
        return self in (Operand.E, Operand.DP, Operand.DQ)


_LENGTHS: Mapping[Operand, Length] = {
    Operand.E: Length.EXPONENT,
    Operand.P: Length.P,
    Operand.DP: Length.P,
    Operand.P_POWER: Length.P,
    Operand.Q: Length.Q,
    Operand.DQ: Length.Q,
    Operand.Q_POWER: Length.Q,
    Operand.M_INVERSE: Length.DIGIT,
    Operand.P_INVERSE: Length.DIGIT,
    Operand.Q_INVERSE: Length.DIGIT,
}


class Scratch(enum.IntEnum):
    """Locations of intermediate values; the host reads RESULT and writes none."""

    ACCUMULATOR = 16
    """The intermediate result C of an exponentiation."""
    SPARE = 17
    """Changes places with ACCUMULATOR, see `Mode.NEXT`."""
    BASE = 18
    """The base P in Montgomery form."""
    RESULT = 19
    PART = 20
    """S_q, the other half's share of the result."""
    SCALED = 21
    """The scaled modulus, where the multiplier keeps it in memory."""
    QUOTIENT = 22
    """The quotient, where the multiplier keeps it in memory."""
    FACTOR = 23
    """What becomes a multiplier, where these have a memory of their own."""
    TERM = 24
    """The same, of a value as long as a prime."""
    SUM = 25
    """A result that is checked before the host may read it, as the multiplier of the check."""
    SUM_COPY = 26
    """A copy of that result, so that no single fault can change both."""
    KEPT_E = 27
    """E, while its own location holds something else."""
    RANDOM = 28
    """The random number r of base blinding, in Montgomery form."""
    UNBLINDING = 29
    """r ^ (E - 1) * X: what the power of r ^ E * X is multiplied by."""
    BLINDED = 30
    """The exponent D_p + k (P - 1), `exponent_blinding_bits` longer than P."""
    MULTIPLE = 31
    """P - 1 times a power of two."""
    T_0 = 32
    """T_0 to T_31: powers of the base, for an exponentiation with windows."""
    T_1 = 33
    T_2 = 34
    T_3 = 35
    T_4 = 36
    T_5 = 37
    T_6 = 38
    T_7 = 39
    T_8 = 40
    T_9 = 41
    T_10 = 42
    T_11 = 43
    T_12 = 44
    T_13 = 45
    T_14 = 46
    T_15 = 47
    T_16 = 48
    T_17 = 49
    T_18 = 50
    T_19 = 51
    T_20 = 52
    T_21 = 53
    T_22 = 54
    T_23 = 55
    T_24 = 56
    T_25 = 57
    T_26 = 58
    T_27 = 59
    T_28 = 60
    T_29 = 61
    T_30 = 62
    T_31 = 63

    @staticmethod
    def table(entry: int) -> "Scratch":
        """The base to the power `entry`, 0 to 31."""
        return Scratch(Scratch.T_0 + entry)


class Mode(enum.IntEnum):
    """Addressing modes: each names a location, or a constant, as the step is executed."""

    NEXT = 64
    """As a destination: SPARE, which changes places with ACCUMULATOR after the step. So a product
    never overwrites its own factor, and nothing is copied."""
    NEXT_BASE = 65
    """As a destination: SPARE, which changes places with BASE after the step."""
    HALF = 66
    """As a destination: PART where the current context is Q, else ACCUMULATOR."""
    WINDOW = 67
    """The table entry that the exponent's window selects. As the y of a multiplication, where the
    table has no T_0: the product of a window of 0 is not written, in the same cycles."""
    ENTRY = 68
    """As a destination: the table entry after the one that the window selects; where products
    overlap, ACCUMULATOR, too."""
    ONE = 69
    """As the y of a multiplication: the number 1, which is not in memory."""
    OTHER_ACCUMULATOR = 70
    """As a multiplicand: what the other lane has as its multiplicand in the same cycles."""
    OTHER_PART = 71
    """The other lane's PART, once that lane has ended."""
    OTHER = 72
    """As the x of a MOVE: what the other lane's linear step writes in the same cycles."""


Location = Operand | Scratch
"""What has an address in the operand memory."""
Reference = Operand | Scratch | Mode
"""What a step can name as x, y or destination."""


class Context(enum.IntEnum):
    """The modulus of a step; its digit count, inverse, power and exponent follow from it."""

    WHOLE = 0
    """M."""
    P = 1
    Q = 2
    CURRENT = 3
    """Resolved at run time: Q, then P, in a private operation, else WHOLE. The operands named with
    it are those of P, and Q's where it is Q."""

    @property
    def modulus(self) -> Operand:
        """M, P or Q."""
        return _OF_CONTEXT[self][0]

    @property
    def inverse(self) -> Operand:
        """-M^-1 mod 2^W of that modulus."""
        return _OF_CONTEXT[self][1]

    @property
    def power(self) -> Operand:
        """R * R_context modulo that modulus."""
        return _OF_CONTEXT[self][2]

    @property
    def exponent(self) -> Operand:
        """E, DP or DQ."""
        return _OF_CONTEXT[self][3]

    @property
    def weight(self) -> Operand:
        """The CRT weight of that prime's residue. KeyError for WHOLE."""
        return {Context.P: Operand.CRT_P, Context.Q: Operand.CRT_Q}[self]

    @property
    def length(self) -> Length:
        """Length class of the modulus. KeyError for CURRENT."""
        return {Context.WHOLE: Length.MODULUS, Context.P: Length.P, Context.Q: Length.Q}[self]


_OF_P = (Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP)
_OF_CONTEXT: Mapping[Context, tuple[Operand, Operand, Operand, Operand]] = {
    Context.WHOLE: (Operand.M, Operand.M_INVERSE, Operand.M_POWER, Operand.E),
    Context.P: _OF_P,
    Context.Q: (Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER, Operand.DQ),
    Context.CURRENT: _OF_P,
}

MODULI = (Context.WHOLE, Context.P, Context.Q)
"""The contexts that have a modulus of their own."""
