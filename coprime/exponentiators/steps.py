"""The steps that an engine's sequencer executes, and where their operands lie.

An operation of the engine (modular exponentiation, RSA private, ...) is a list of steps for each
lane, where a lane is an operand memory with a multiplier of its own. The same list becomes the
sequencer's program memory (engine/sequencer.py) and is executed on integers to predict result and
cycles (engine/prediction.py), so the two cannot drift.
"""

import enum
from dataclasses import dataclass

__all__ = [
    "COUNTER_BITS",
    "EXPONENT_BLINDING_BITS",
    "MEET",
    "MODULI",
    "Context",
    "Slot",
    "Step",
    "StepKind",
    "Then",
    "multiply",
    "times",
]

COUNTER_BITS = 17
"""Of an exponent that is counted down: as many as 65537 has."""

EXPONENT_BLINDING_BITS = 68
"""Of the random k of D_p + k (P - 1): four digits of 17 bits."""


class Context(enum.IntEnum):
    """Which modulus a step works with; its digit count, inverse, power and exponent go with it."""

    WHOLE = 0
    P = 1
    Q = 2
    TURN = 3
    """The one whose turn it is: WHOLE, but in a private operation Q or P. With it, P's modulus and
    power mean Q's in Q's turn."""


MODULI = (Context.WHOLE, Context.P, Context.Q)
"""The contexts that have a modulus."""


class Slot(enum.IntEnum):
    """Where an operand lies in the operand memory. 0 to 15 are the contract's operand numbers."""

    X = 0
    Y = 1
    E = 2
    M = 3
    P = 4
    Q = 5
    DP = 6
    DQ = 7
    M_INVERSE = 8
    P_INVERSE = 9
    Q_INVERSE = 10
    M_POWER = 11
    P_POWER = 12
    Q_POWER = 13
    CRT_P = 14
    CRT_Q = 15
    ACCUMULATOR = 16
    """The intermediate result C of an exponentiation: the current one of two slots."""
    NEXT = 17
    """The other of the two. A step that writes it makes it the current one, so a product never
    overwrites its own factor and nothing is copied."""
    BASE = 18
    """The base P in Montgomery form."""
    RESULT = 19
    PART = 20
    """S_q, the other half's share of the result."""
    OTHER_ACCUMULATOR = 21
    """As a multiplicand: what the other lane has as its multiplicand in the same cycles."""
    OTHER_PART = 22
    """The other lane's PART, once that lane has ended."""
    NEXT_BASE = 23
    """As a destination: the slot that is NEXT, which changes places with BASE. ACCUMULATOR, NEXT
    and BASE then are three slots that all change places."""
    SCALED = 24
    """The scaled modulus, where the multiplier keeps it in memory."""
    QUOTIENT = 25
    """The quotient, where the multiplier keeps it in memory."""
    FACTOR = 26
    """What becomes a multiplier, where these have a memory of their own."""
    TERM = 27
    """The same, of a value as long as a prime."""
    SUM = 28
    """A result that is checked before it is given, as the multiplier of the check."""
    SUM_COPY = 29
    """That result once more, so that no fault can change both."""
    KEPT_E = 30
    """E, while its own place is used for something else."""
    ONE = 31
    """As a multiplication's y: the number 1. Not in memory."""
    T_0 = 32
    """T_0 and so on: powers of the base, for an exponentiation with windows."""
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
    RANDOM = 48
    """Base blinding's random number r, in Montgomery form."""
    UNBLINDING = 49
    """r ^ (E - 1) * X: what the power of r ^ E * X is multiplied by."""
    BLINDED = 50
    """The exponent D_p + k (P - 1), of EXPONENT_BLINDING_BITS more bits than P."""
    MULTIPLE = 51
    """P - 1 times a power of two."""
    ENTRY = 62
    """As a multiplication's destination: the table's entry after the one that the window names."""
    HALF = 61
    """As a destination: ACCUMULATOR, but PART in Q's turn."""
    WINDOW = 63
    """The table's entry that the window names. As a multiplication's y, where the table is without
    T_0: a window of 0 has a product that is not written, in the same cycles."""

    @staticmethod
    def modulus(context: Context) -> "Slot":
        """M, P or Q."""
        return Slot(Slot.M + (Context.P if context is Context.TURN else context))

    @staticmethod
    def inverse(context: Context) -> "Slot":
        """-M^-1 mod 2^W, of that modulus."""
        return Slot(Slot.M_INVERSE + context)

    @staticmethod
    def power(context: Context) -> "Slot":
        """R * R_context modulo that modulus."""
        return Slot(Slot.M_POWER + (Context.P if context is Context.TURN else context))

    @staticmethod
    def exponent(context: Context) -> "Slot":
        """E, DP or DQ."""
        return (Slot.E, Slot.DP, Slot.DQ)[context]

    @staticmethod
    def table(entry: int) -> "Slot":
        """The base to the power `entry`, 0 to 15."""
        return Slot(Slot.T_0 + entry)

    @staticmethod
    def crt(context: Context) -> "Slot":
        """The weight of that prime's residue; not for WHOLE."""
        return Slot(Slot.CRT_P + context - 1)


class StepKind(enum.IntEnum):
    """What a step does."""

    MULTIPLY = 0
    """destination = x * y / R modulo the modulus: x is the multiplicand, y the multiplier, and R is
    that of the outer context."""
    SCAN = 1
    """Find the exponent's highest 1; go to the target if it has none."""
    TEST = 2
    """End with an error unless the lengths are allowed and the modulus y is odd and above 0."""
    BELOW = 3
    """End with an error unless x < y."""
    SUBTRACT = 4
    """destination = x - y; remembers a borrow."""
    ADD = 5
    """destination = x + y."""
    RESTORE = 6
    """destination = x + y if the last subtraction borrowed, else x."""
    PREPARE = 7
    """Hand the modulus to a multiplier that keeps it."""
    SCAN_UP = 8
    """Stand at the exponent's lowest bit; from there on, the next bit is the next higher one."""
    MEET = 9
    """Wait until the other lane is at its MEET, too; both go on in the same cycle."""
    NORMALIZED = 10
    """End with an error unless the highest bit of the modulus y's highest digit is 1."""
    SCAN_WINDOWS = 11
    """Stand at the highest bit of the exponent's highest window, which its length tells."""
    BRANCH = 12
    """The next step if the exponent's bit is 1, else the target."""
    SCAN_PUBLIC = 13
    """SCAN of E, whatever the modulus."""
    MOVE = 14
    """destination = x."""
    ZERO = 15
    """End with the error FAULT and wipe the memory, unless y = 0. After the one modulo P, which is
    the last one, there is a result that may be read."""
    DRAW = 17
    """destination = random digits. x is in the other bank, and not read."""
    ADD_DRAWN = 18
    """destination = x + y, which is not written where a bit that is drawn is 0."""
    EVEN = 19
    """destination = x with a lowest bit of 0: an odd x less 1."""
    COUNT = 16
    """The exponent goes into the counter; the target, if there is one, where that is 0. End with an
    error if it has more bits than COUNTER_BITS."""


class Then(enum.IntEnum):
    """Which step comes after."""

    NEXT = 0
    """The next one."""
    GO = 1
    """The target; address 0 ends the operation."""
    SQUARED = 2
    """The next one if the exponent's bit is 1. Else on to the next bit and the same step again, or
    the target if that was the last bit."""
    MULTIPLIED = 3
    """On to the next bit and the target, or the next step if that was the last bit."""
    WINDOW = 4
    """The bit goes into the window. The next step if the window is full; else on to the next bit
    and the same step again."""
    NONZERO = 5
    """The bit goes into the window. The next step if the window is full and not zero; else on to
    the next bit and the same step again, or the target if that was the last bit."""
    SLIDE = 6
    """The bit goes into the window, which is full when its highest bit is 1; where fewer bits are
    left than it has, a 1 fills it. The next step if it is full, and MULTIPLIED empties it; else on
    to the next bit and the same step again, or the target if that was the last bit."""
    COUNTED = 7
    """The counter goes down by 1. The target, or the next step if that made it 0."""
    ENTRY = 8
    """The window, which a PREPARE has set to 1, names the next entry of the table. The next step if
    that is the last one, or modulo a prime the last but one; else the same step again."""
    NEXT_TURN = 9
    """In Q's turn it is P's then, and the target comes. In P's turn it is Q's, and the next step;
    and if it is nobody's turn the next step."""
    UNLESS_PRIVATE = 10
    """The target, but the next step in a private operation."""
    IF_MODMUL = 11
    """The target if the command is MODMUL, else the next step."""
    DRAWN = 12
    """The target, for EXPONENT_BLINDING_BITS times, and then the next step."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step. Linear steps (TEST to RESTORE, NORMALIZED, MOVE and ZERO) work on as many digits as
    their modulus has."""

    kind: StepKind
    note: str
    """What it computes, in the paper's terms."""
    destination: Slot = Slot.X
    x: Slot = Slot.X
    y: Slot = Slot.X
    modulus: Context = Context.WHOLE
    """Modulus, and digit count of x."""
    outer: Context = Context.WHOLE
    """Length of y, and so the R that a MULTIPLY divides by."""
    conditional: bool = False
    """NEXT becomes the current one only where the exponent's bit is 1; the product of a 0 is
    discarded, in the same cycles."""
    leaves: bool = False
    """Where the multiplier works modulo a scaled modulus: the product is one of the modulus."""
    drops_last: bool = False
    """In a private operation the exponent's lowest bit counts as 0: an odd exponent less 1."""
    then: Then = Then.NEXT
    target: str = ""
    """Label of a step; empty: the end of the operation."""
    label: str = ""


MEET = Step(kind=StepKind.MEET, note="both lanes, in the same cycle")


def multiply(
    destination: Slot,
    x: Slot,
    y: Slot,
    modulus: Context,
    note: str,
    *,
    outer: Context | None = None,
    then: Then = Then.NEXT,
    target: str = "",
    label: str = "",
    conditional: bool = False,
) -> Step:
    """A modular multiplication; y has the modulus's length unless `outer` tells otherwise."""
    return Step(
        kind=StepKind.MULTIPLY,
        destination=destination,
        x=x,
        y=y,
        modulus=modulus,
        outer=modulus if outer is None else outer,
        note=note,
        then=then,
        target=target,
        label=label,
        conditional=conditional,
    )


def times(
    factor: Slot,
    modulus: Context,
    note: str,
    *,
    into: Slot = Slot.NEXT,
    then: Then = Then.NEXT,
    target: str = "",
    label: str = "",
) -> Step:
    """C = C * factor, where C is the intermediate result: ACCUMULATOR, and `into` from then on."""
    product = (into, Slot.ACCUMULATOR, factor, modulus, note)
    return multiply(*product, then=then, target=target, label=label)
