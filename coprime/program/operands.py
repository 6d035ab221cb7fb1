"""What a step works on: the host's operands, scratch locations and addressing modes.

The host's operands have published numbers. Intermediate values and modes have none: a layout
(`engine/layout.py`) numbers what a lane has, for its program memory.
"""

import enum
from collections.abc import Mapping


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
    SECRET = 16
    """The secret scalar of a signature on a curve, as long as Q; below the order of the points."""
    POINT = 17
    """A point of a curve, as long as M: its two affine coordinates."""
    TABLE_0 = 18
    """TABLE_0 to TABLE_7: the points of a table, each as POINT is; of an Edwards curve (y - x) / 2
    and (y + x) / 2, in Montgomery form."""
    TABLE_1 = 19
    TABLE_2 = 20
    TABLE_3 = 21
    TABLE_4 = 22
    TABLE_5 = 23
    TABLE_6 = 24
    TABLE_7 = 25
    TABLE_8 = 26
    """TABLE_8 to TABLE_11: of the points of an Edwards curve d x y, of two points each."""
    TABLE_9 = 27
    TABLE_10 = 28
    TABLE_11 = 29

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
    Operand.SECRET: Length.Q,
    Operand.M_INVERSE: Length.DIGIT,
    Operand.P_INVERSE: Length.DIGIT,
    Operand.Q_INVERSE: Length.DIGIT,
}


class _Unnumbered(enum.Enum):
    """Names without published numbers. Sets of them have the same order in every process."""

    def __hash__(self) -> int:
        return hash(self._value_)


class Scratch(_Unnumbered):
    """A location of an intermediate value. The routines that use a number declare it in their file,
    in a class of these, and those that the machine knows are declared here.

    A number's value is its rank, which no other number of any class has. In this order numbers are
    placed in memory (`numbers/places.py`), so that with other ranks the Verilog is another one. A
    new number takes the next rank that is free.
    """

    @property
    def entry(self) -> int | None:
        """Which entry of the table it is; None of the others."""
        return None


class Core(Scratch):
    """What the machine itself reads or writes: its units, its checks and its addressing modes."""

    ACCUMULATOR = 1
    """The intermediate result C of an exponentiation."""
    SPARE = 2
    """Changes places with ACCUMULATOR, see `Mode.NEXT`."""
    BASE = 3
    """The base P in Montgomery form."""
    RESULT = 4
    PART = 5
    """S_q, the other half's share of the result."""
    SCALED = 6
    """The scaled modulus, where the multiplier keeps it in memory."""
    ADDED_MODULUS = 7
    """A multiple of the modulus that is above what sums subtract: c * M, where the multiplier works
    modulo a scaled modulus."""
    QUOTIENT = 8
    """The quotient, where the multiplier keeps it in memory."""
    SUM = 11
    """A result that is checked before the host may read it, as the multiplier of the check."""
    SUM_COPY = 12
    """A copy of that result, so that no single fault can change both."""
    KEPT_E = 13
    """E, while its own location holds something else."""
    CLAIMED = 21
    """X + 2 (2^mask_bits - 1) * M - t * M, which the result is checked with."""


class UpperHalf(Scratch):
    """The upper halves of numbers as long as M, where these are two as long as a prime."""

    X_HIGH = 83
    Y_HIGH = 84
    RESULT_HIGH = 85
    SUM_HIGH = 86
    POINT_HIGH = 87
    M_HIGH = 88


class Exchanged(Scratch):
    """Numbers that change places by a bit of the exponent: of a ladder's two points, and others."""

    X_2 = 70
    """X_2 : Z_2 and X_3 : Z_3 are the ladder's two multiples of the point."""
    Z_2 = 71
    X_3 = 72
    Z_3 = 73
    SUM_2 = 74
    """X_2 + Z_2; the copies of a sum and a difference lie right."""
    SUM_2_COPY = 75
    DIFFERENCE_2 = 76
    DIFFERENCE_2_COPY = 77
    SUM_3 = 78
    SUM_3_COPY = 79
    DIFFERENCE_3 = 80
    DIFFERENCE_3_COPY = 81
    Y_2 = 106
    """With X_2 and X_3, and Z_2 and Z_3, a ladder's two points, one of which a bit selects."""
    Y_2_COPY = 107
    Y_3 = 108
    Y_3_COPY = 109


class Retained(Scratch):
    """What stays from one operation to the next, besides operands."""

    BLINDED_P = 16
    """The exponent D_p + k (P - 1), `exponent_blinding_bits` longer than P; and the same of Q. Both
    stay from one operation to the next."""
    BLINDED_Q = 17
    KEY_0 = 147
    """KEY_0 and KEY_1 are random numbers whose sum is the private key modulo Q; they stay from one
    operation to the next."""
    KEY_1 = 148
    CHECKED_KEY_0 = 149
    """The same of other random numbers: what signatures are checked with."""
    CHECKED_KEY_1 = 150


class PerPrime(Scratch):
    """Numbers of P, and of Q, which stand for each other as CURRENT does: see `OF_Q`."""

    SCALED_P = 24
    """SCALED of P, and t * P more; the same of Q. It takes the place of SCALED for each half."""
    SCALED_Q = 25
    MASKED_POWER_P = 26
    """P_POWER + t * P, and the same of Q."""
    MASKED_POWER_Q = 27


class Entry(Scratch):
    """Entries of the table of an exponentiation with windows: T_k is the power k of the base."""

    T_0 = 33
    T_1 = 34
    T_2 = 35
    T_3 = 36
    T_4 = 37
    T_5 = 38
    T_6 = 39
    T_7 = 40
    T_8 = 41
    T_9 = 42
    T_10 = 43
    T_11 = 44
    T_12 = 45
    T_13 = 46
    T_14 = 47
    T_15 = 48
    T_16 = 49
    T_17 = 50
    T_18 = 51
    T_19 = 52
    T_20 = 53
    T_21 = 54
    T_22 = 55
    T_23 = 56
    T_24 = 57
    T_25 = 58
    T_26 = 59
    T_27 = 60
    T_28 = 61
    T_29 = 62
    T_30 = 63
    T_31 = 64

    @property
    def entry(self) -> int:
        """Which one it is."""
        return int(self.name[2:])

    @staticmethod
    def at(entry: int) -> "Entry":
        """The base to the power `entry`, 0 to 31."""
        return Entry[f"T_{entry}"]


class Mode(_Unnumbered):
    """Addressing modes: each names a location, or a constant, as the step is executed."""

    NEXT = enum.auto()
    """As a destination: SPARE, which changes places with ACCUMULATOR after the step. So a product
    never overwrites its own factor, and nothing is copied."""
    NEXT_BASE = enum.auto()
    """As a destination: SPARE, which changes places with BASE after the step."""
    HALF = enum.auto()
    """As a destination: PART where the current context is Q, else ACCUMULATOR."""
    WINDOW = enum.auto()
    """The table entry that the exponent's window selects. As the y of a multiplication, where the
    table has no T_0: the product of a window of 0 is not written, in the same cycles; of a column
    it is."""
    ENTRY = enum.auto()
    """As a destination: the table entry after the one that the window selects; where products
    overlap, ACCUMULATOR, too."""
    THIRD = enum.auto()
    """Of the point that a column of the exponent selects, the third number: that of WINDOW and
    ENTRY is the entry T_2k and the one after it, this one is T_(16 + k)."""
    ONE = enum.auto()
    """As the y of a multiplication: the number 1, which is not in memory."""
    OTHER_ACCUMULATOR = enum.auto()
    """As a multiplicand: what the other lane has as its multiplicand in the same cycles."""
    OTHER_PART = enum.auto()
    """The other lane's PART, once that lane has ended."""
    OTHER = enum.auto()
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
        return _LENGTH_OF_CONTEXT[self]


_LENGTH_OF_CONTEXT: Mapping[Context, Length] = {
    Context.WHOLE: Length.MODULUS,
    Context.P: Length.P,
    Context.Q: Length.Q,
}
_OF_P = (Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP)
_OF_CONTEXT: Mapping[Context, tuple[Operand, Operand, Operand, Operand]] = {
    Context.WHOLE: (Operand.M, Operand.M_INVERSE, Operand.M_POWER, Operand.E),
    Context.P: _OF_P,
    Context.Q: (Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER, Operand.DQ),
    Context.CURRENT: _OF_P,
}

OF_Q: Mapping[Reference, Location] = {
    Operand.P: Operand.Q,
    Operand.P_POWER: Operand.Q_POWER,
    Operand.DP: Operand.DQ,
    PerPrime.SCALED_P: PerPrime.SCALED_Q,
    PerPrime.MASKED_POWER_P: PerPrime.MASKED_POWER_Q,
}
"""What stands for P's numbers, as x or y, where CURRENT is Q."""

OF_TABLE = (Mode.WINDOW, Mode.ENTRY, Mode.THIRD)
"""Modes that name an entry of the table."""

SWAPPED_BY_BIT: Mapping[Location, Scratch] = {
    Exchanged.X_2: Exchanged.X_3,
    Exchanged.X_3: Exchanged.X_2,
    Exchanged.Z_2: Exchanged.Z_3,
    Exchanged.Z_3: Exchanged.Z_2,
    Exchanged.Y_2: Exchanged.Y_3,
    Exchanged.Y_3: Exchanged.Y_2,
    Exchanged.Y_2_COPY: Exchanged.Y_3_COPY,
    Exchanged.Y_3_COPY: Exchanged.Y_2_COPY,
    Exchanged.SUM_2: Exchanged.SUM_3,
    Exchanged.SUM_3: Exchanged.SUM_2,
    Exchanged.SUM_2_COPY: Exchanged.SUM_3_COPY,
    Exchanged.SUM_3_COPY: Exchanged.SUM_2_COPY,
    Exchanged.DIFFERENCE_2: Exchanged.DIFFERENCE_3,
    Exchanged.DIFFERENCE_3: Exchanged.DIFFERENCE_2,
    Exchanged.DIFFERENCE_2_COPY: Exchanged.DIFFERENCE_3_COPY,
    Exchanged.DIFFERENCE_3_COPY: Exchanged.DIFFERENCE_2_COPY,
}
"""What stands for numbers in a step `by_bit` where the exponent's bit is 1. Each pair lies in one
bank, in blocks whose numbers differ in the bit of weight 2."""

HALF_OF: Mapping[Location, Location] = {
    UpperHalf.X_HIGH: Operand.X,
    UpperHalf.Y_HIGH: Operand.Y,
    UpperHalf.RESULT_HIGH: Core.RESULT,
    UpperHalf.SUM_HIGH: Core.SUM,
    UpperHalf.POINT_HIGH: Operand.POINT,
    UpperHalf.M_HIGH: Operand.M,
}
"""Of an upper half, as long as a prime, the number as long as the whole modulus. Steps modulo a
prime that name that number have its lower half."""

TABLE: Mapping[Operand, tuple[Scratch, Scratch]] = {
    Operand[f"TABLE_{k}"]: (Entry.at(2 * k), Entry.at(2 * k + 1)) for k in range(12)
}
"""Entries of the table that are an operand's two numbers."""
POINTS = 8
"""Points of a table."""
PAIRS_OF_TABLE = tuple(TABLE)[:POINTS]
"""Each a point's coordinates, or two numbers of it."""
TABLE_T_COORDINATES = tuple(TABLE)[POINTS:]
"""The third numbers of two points each, where they have them."""


def third_entry(point: int) -> int:
    """The entry of the table that is the third number of a point, 0 to 7."""
    return 2 * POINTS + point


BLINDED_OF: Mapping[Context, Scratch] = {
    Context.P: Retained.BLINDED_P,
    Context.Q: Retained.BLINDED_Q,
}
"""The blinded exponents that stay."""
KEYS = ((Retained.KEY_0, Retained.KEY_1), (Retained.CHECKED_KEY_0, Retained.CHECKED_KEY_1))
"""The shares of a private key on a curve that stay: of signatures, and of their check."""
SHARES = frozenset(share for pair in KEYS for share in pair)
"""Each of them, as long as Q."""
DERIVED_FROM: Mapping[Scratch, tuple[Operand, ...]] = {
    **{blinded: (context.exponent,) for context, blinded in BLINDED_OF.items()},
    **{last: (Operand.SECRET, Operand.Q) for _, last in KEYS},
}
"""The operands that what stays is made of, if the host has written any, the secret one first. Of
two shares it is the second one that is made last."""

MODULI = (Context.WHOLE, Context.P, Context.Q)
"""The contexts that have a modulus of their own."""
