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
    """Locations of intermediate values; the host reads RESULT and writes none."""

    ACCUMULATOR = enum.auto()
    """The intermediate result C of an exponentiation."""
    SPARE = enum.auto()
    """Changes places with ACCUMULATOR, see `Mode.NEXT`."""
    BASE = enum.auto()
    """The base P in Montgomery form."""
    RESULT = enum.auto()
    PART = enum.auto()
    """S_q, the other half's share of the result."""
    SCALED = enum.auto()
    """The scaled modulus, where the multiplier keeps it in memory."""
    ADDED_MODULUS = enum.auto()
    """A multiple of the modulus that is above what sums subtract: c * M, where the multiplier works
    modulo a scaled modulus."""
    QUOTIENT = enum.auto()
    """The quotient, where the multiplier keeps it in memory."""
    FACTOR = enum.auto()
    """What becomes a multiplier, where these have a memory of their own."""
    TERM = enum.auto()
    """The same, of a value as long as a prime."""
    SUM = enum.auto()
    """A result that is checked before the host may read it, as the multiplier of the check."""
    SUM_COPY = enum.auto()
    """A copy of that result, so that no single fault can change both."""
    KEPT_E = enum.auto()
    """E, while its own location holds something else."""
    RANDOM = enum.auto()
    """The random number r of a blinded base, in Montgomery form."""
    UNBLINDING = enum.auto()
    """r ^ (E - 1) * X: what the power of r ^ E * X is multiplied by."""
    BLINDED_P = enum.auto()
    """The exponent D_p + k (P - 1), `exponent_blinding_bits` longer than P; and the same of Q. Both
    stay from one operation to the next."""
    BLINDED_Q = enum.auto()
    MULTIPLE = enum.auto()
    """P - 1, M or the order of points, times a power of two."""
    MASK = enum.auto()
    """t * M, with a random t of `mask_bits` and 2^(mask_bits - 1) more."""
    MASKED = enum.auto()
    """X + t * M, which is blinded and raised to a power."""
    CLAIMED = enum.auto()
    """X + 2 (2^mask_bits - 1) * M - t * M, which the result is checked with."""
    MASKED_SUM = enum.auto()
    """S + t * M, of which the check is."""
    PRIME_MASK = enum.auto()
    """t * P, with a random t from 1 to 2^mask_bits, of the current prime."""
    SCALED_P = enum.auto()
    """SCALED of P, and t * P more; the same of Q. It takes the place of SCALED for each half."""
    SCALED_Q = enum.auto()
    MASKED_POWER_P = enum.auto()
    """P_POWER + t * P, and the same of Q."""
    MASKED_POWER_Q = enum.auto()
    NEGATIVE_POWER = enum.auto()
    """t * P - P_POWER, of the current prime."""
    CHECK_POWER = enum.auto()
    """P_POWER + t * P of the current prime, made anew for the check of a result."""
    BLINDED_BASE = enum.auto()
    """r ^ E * X modulo M."""
    EXPECTED = enum.auto()
    """-(r + 1) ^ E * X modulo a prime: what the power of (r + 1) * S is compared with."""
    DIFFERENCE = enum.auto()
    """A number as long as the whole modulus, of which only a borrow counts."""
    T_0 = enum.auto()
    """T_0 to T_31: powers of the base, for an exponentiation with windows."""
    T_1 = enum.auto()
    T_2 = enum.auto()
    T_3 = enum.auto()
    T_4 = enum.auto()
    T_5 = enum.auto()
    T_6 = enum.auto()
    T_7 = enum.auto()
    T_8 = enum.auto()
    T_9 = enum.auto()
    T_10 = enum.auto()
    T_11 = enum.auto()
    T_12 = enum.auto()
    T_13 = enum.auto()
    T_14 = enum.auto()
    T_15 = enum.auto()
    T_16 = enum.auto()
    T_17 = enum.auto()
    T_18 = enum.auto()
    T_19 = enum.auto()
    T_20 = enum.auto()
    T_21 = enum.auto()
    T_22 = enum.auto()
    T_23 = enum.auto()
    T_24 = enum.auto()
    T_25 = enum.auto()
    T_26 = enum.auto()
    T_27 = enum.auto()
    T_28 = enum.auto()
    T_29 = enum.auto()
    T_30 = enum.auto()
    T_31 = enum.auto()

    UNIT = enum.auto()
    """The number 1."""
    ONE_FORM = enum.auto()
    """1 in Montgomery form."""
    KEPT_SCALAR = enum.auto()
    """E as the host has written it, while its own location holds another exponent; or a nonce that
    the engine has drawn, in Montgomery form."""
    U_1 = enum.auto()
    """The coordinate u of a point of a Montgomery curve."""
    A_24 = enum.auto()
    """(A - 2) / 4 of a Montgomery curve."""
    X_2 = enum.auto()
    """X_2 : Z_2 and X_3 : Z_3 are the ladder's two multiples of the point."""
    Z_2 = enum.auto()
    X_3 = enum.auto()
    Z_3 = enum.auto()
    SUM_2 = enum.auto()
    """X_2 + Z_2; the copies of a sum and a difference lie right."""
    SUM_2_COPY = enum.auto()
    DIFFERENCE_2 = enum.auto()
    DIFFERENCE_2_COPY = enum.auto()
    SUM_3 = enum.auto()
    SUM_3_COPY = enum.auto()
    DIFFERENCE_3 = enum.auto()
    DIFFERENCE_3_COPY = enum.auto()

    POWER = enum.auto()
    """R^2 modulo the current prime: what brings numbers of the left bank into Montgomery form."""
    X_HIGH = enum.auto()
    """The upper halves of numbers as long as M, where these are two as long as a prime."""
    Y_HIGH = enum.auto()
    RESULT_HIGH = enum.auto()
    SUM_HIGH = enum.auto()
    POINT_HIGH = enum.auto()
    M_HIGH = enum.auto()
    POINT_X = enum.auto()
    """A point of a short Weierstrass curve; the copies lie right."""
    POINT_X_COPY = enum.auto()
    POINT_Y = enum.auto()
    CURVE_A = enum.auto()
    """The coefficient a of a short Weierstrass curve."""
    EDWARDS_A = enum.auto()
    """That of an Edwards curve, which lies in the other bank."""
    CURVE_3B = enum.auto()
    """Three times its coefficient b."""
    CURVE_D = enum.auto()
    """The coefficient d of an Edwards curve."""
    PLAIN_A = enum.auto()
    """That a as the host has written it, 1 or P - 1."""
    X_1 = enum.auto()
    """X_1 : Y_1 : Z_1 is the sum of points that is made."""
    Y_1 = enum.auto()
    Z_1 = enum.auto()
    Z_1_COPY = enum.auto()
    Y_1_COPY = enum.auto()
    XY_1 = enum.auto()
    """X_1 Y_1 / Z_1, the fourth of the extended coordinates on an Edwards curve."""
    X_ADDED = enum.auto()
    """X_ADDED : Y_ADDED : Z_ADDED is added to it."""
    Y_ADDED = enum.auto()
    Z_ADDED = enum.auto()
    Y_2 = enum.auto()
    """With X_2 and X_3, and Z_2 and Z_3, a ladder's two points, one of which a bit selects."""
    Y_2_COPY = enum.auto()
    Y_3 = enum.auto()
    Y_3_COPY = enum.auto()
    SLOPE = enum.auto()
    """That of the line through the ladder's two points."""
    SLOPE_COPY = enum.auto()
    CLAIMED_0 = enum.auto()
    CLAIMED_1 = enum.auto()
    """Coordinates that a result claims, in Montgomery form."""
    SQUARE = enum.auto()
    """That of the difference of their coordinates x."""
    X_KEPT = enum.auto()
    """X_KEPT : Y_KEPT : Z_KEPT is a sum of points that waits for another one."""
    Y_KEPT = enum.auto()
    Z_KEPT = enum.auto()
    OLD_SCALAR = enum.auto()
    """E as multiples of the base point have scanned it, while it is made again."""
    NONCE = enum.auto()
    """A signature's secret number k, in Montgomery form."""
    INVERSE = enum.auto()
    """The inverse of k, or of the number s of a signature, modulo Q."""
    SIGNATURE_R = enum.auto()
    """The numbers r and s of a signature."""
    SIGNATURE_S = enum.auto()
    FACTOR_2 = enum.auto()
    """What the public key is multiplied by."""
    FORM_Z = enum.auto()
    """The hash in Montgomery form."""
    FORM_D = enum.auto()
    """The private key in Montgomery form."""
    FORM_SUM = enum.auto()
    """z + r d in Montgomery form."""
    LEFT_0 = enum.auto()
    """LEFT_k and RIGHT_k, which have one block of both banks: intermediate values of formulas."""
    RIGHT_0 = enum.auto()
    LEFT_1 = enum.auto()
    RIGHT_1 = enum.auto()
    LEFT_2 = enum.auto()
    RIGHT_2 = enum.auto()
    LEFT_3 = enum.auto()
    RIGHT_3 = enum.auto()
    LEFT_4 = enum.auto()
    RIGHT_4 = enum.auto()
    LEFT_5 = enum.auto()
    RIGHT_5 = enum.auto()
    LEFT_6 = enum.auto()
    RIGHT_6 = enum.auto()
    LEFT_7 = enum.auto()
    RIGHT_7 = enum.auto()
    MINUS_3 = enum.auto()
    """P - a - 3, which is 0 where the coefficient a is -3."""
    SQUARE_OF_Z = enum.auto()
    """Z_1^2 where it is -3, else 0."""
    TERM_OF_A = enum.auto()
    """a Z_1^4 where it is another one, else 0."""
    PRODUCT = enum.auto()
    """A product that is moved to one of its factors, which the multiplier must not write over."""
    KEY_0 = enum.auto()
    """KEY_0 and KEY_1 are random numbers whose sum is the private key modulo Q; they stay from one
    operation to the next."""
    KEY_1 = enum.auto()
    CHECKED_KEY_0 = enum.auto()
    """The same of other random numbers: what signatures are checked with."""
    CHECKED_KEY_1 = enum.auto()
    SQUARE_R = enum.auto()
    """A signature's r times R^2 modulo Q: it brings the product with a plain number into Montgomery
    form."""
    FORM_SUM_1 = enum.auto()
    """What is to be added to FORM_SUM, where z + r d is in two shares."""

    @property
    def entry(self) -> int | None:
        """Which entry of the table it is; None of the others."""
        return int(self.name[2:]) if self.name.startswith("T_") else None

    @staticmethod
    def table(entry: int) -> "Scratch":
        """The base to the power `entry`, 0 to 31."""
        return Scratch[f"T_{entry}"]


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
    Scratch.SCALED_P: Scratch.SCALED_Q,
    Scratch.MASKED_POWER_P: Scratch.MASKED_POWER_Q,
}
"""What stands for P's numbers, as x or y, where CURRENT is Q."""

OF_TABLE = (Mode.WINDOW, Mode.ENTRY, Mode.THIRD)
"""Modes that name an entry of the table."""

OF_ONE: Mapping[Location, Scratch] = {
    Scratch.X_2: Scratch.X_3,
    Scratch.X_3: Scratch.X_2,
    Scratch.Z_2: Scratch.Z_3,
    Scratch.Z_3: Scratch.Z_2,
    Scratch.Y_2: Scratch.Y_3,
    Scratch.Y_3: Scratch.Y_2,
    Scratch.Y_2_COPY: Scratch.Y_3_COPY,
    Scratch.Y_3_COPY: Scratch.Y_2_COPY,
    Scratch.SUM_2: Scratch.SUM_3,
    Scratch.SUM_3: Scratch.SUM_2,
    Scratch.SUM_2_COPY: Scratch.SUM_3_COPY,
    Scratch.SUM_3_COPY: Scratch.SUM_2_COPY,
    Scratch.DIFFERENCE_2: Scratch.DIFFERENCE_3,
    Scratch.DIFFERENCE_3: Scratch.DIFFERENCE_2,
    Scratch.DIFFERENCE_2_COPY: Scratch.DIFFERENCE_3_COPY,
    Scratch.DIFFERENCE_3_COPY: Scratch.DIFFERENCE_2_COPY,
}
"""What stands for numbers in a step `by_bit` where the exponent's bit is 1. Each pair lies in one
bank, in blocks whose numbers differ in the bit of weight 2."""

HALF_OF: Mapping[Location, Location] = {
    Scratch.X_HIGH: Operand.X,
    Scratch.Y_HIGH: Operand.Y,
    Scratch.RESULT_HIGH: Scratch.RESULT,
    Scratch.SUM_HIGH: Scratch.SUM,
    Scratch.POINT_HIGH: Operand.POINT,
    Scratch.M_HIGH: Operand.M,
}
"""Of an upper half, as long as a prime, the number as long as the whole modulus. Steps modulo a
prime that name that number have its lower half."""

TABLE: Mapping[Operand, tuple[Scratch, Scratch]] = {
    Operand[f"TABLE_{k}"]: (Scratch.table(2 * k), Scratch.table(2 * k + 1)) for k in range(12)
}
"""Entries of the table that are an operand's two numbers."""
POINTS = 8
"""Points of a table."""
PAIRS_OF_TABLE = tuple(TABLE)[:POINTS]
"""Each a point's coordinates, or two numbers of it."""
THIRDS_OF_TABLE = tuple(TABLE)[POINTS:]
"""The third numbers of two points each, where they have them."""


def third_entry(point: int) -> int:
    """The entry of the table that is the third number of a point, 0 to 7."""
    return 2 * POINTS + point


BLINDED_OF: Mapping[Context, Scratch] = {
    Context.P: Scratch.BLINDED_P,
    Context.Q: Scratch.BLINDED_Q,
}
"""The blinded exponents that stay."""
KEYS = ((Scratch.KEY_0, Scratch.KEY_1), (Scratch.CHECKED_KEY_0, Scratch.CHECKED_KEY_1))
"""The shares of a private key on a curve that stay: of signatures, and of their check."""
SHARES = frozenset(share for pair in KEYS for share in pair)
"""Each of them, as long as Q."""
STAYING = frozenset({*BLINDED_OF.values(), *SHARES})
"""What stays from one operation to the next, beside operands."""
MADE_OF: Mapping[Scratch, tuple[Operand, ...]] = {
    **{blinded: (context.exponent,) for context, blinded in BLINDED_OF.items()},
    **{last: (Operand.SECRET, Operand.Q) for _, last in KEYS},
}
"""The operands that what stays is made of, if the host has written any, the secret one first. Of
two shares it is the second one that is made last."""

MODULI = (Context.WHOLE, Context.P, Context.Q)
"""The contexts that have a modulus of their own."""
