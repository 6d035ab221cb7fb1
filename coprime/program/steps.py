"""The steps of a program: what a step does, on what, and which step comes next.

An operation of the engine (modular exponentiation, RSA private, ...) is a list of steps for each
lane, where a lane is an operand memory with a multiplier of its own. The same list becomes the
sequencer's program memory (engine/sequencer/program_memory.py) and is executed on integers to
predict result and cycles (engine/prediction.py).
"""

import enum
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from coprime.model.widths import residue_width

from .operands import SWAPPED_BY_BIT, Context, Mode, Operand, Reference

COUNTER_BITS = 17
"""Bits of the counter that an exponent can be loaded into: as many as 65537 has."""


MOST_TIMES_MODULUS = 32
"""The greatest multiple of the modulus that a sum adds."""


def drawn_bits(digit_width: int) -> int:
    """Bits of a random digit that ADD_IF_DRAWN uses: a power of two."""
    return 1 << (digit_width.bit_length() - 1)


def mask_bits(digit_width: int) -> int:
    """Bits of the random t of X + t M: 2^mask_bits - 1 is what residues are taken of."""
    return residue_width(digit_width)


SIGNS = 65
"""Random bits of an exponent's multiple of P - 1: the sum is below 2^(SIGNS + 1) (P - 1)."""


def exponent_blinding_bits(digit_width: int) -> int:
    """Bits by which a blinded exponent is longer: as many whole digits as it needs."""
    return -(-(SIGNS + 1) // digit_width) * digit_width


class StepKind(enum.IntEnum):
    """What a step does."""

    MULTIPLY = 0
    """destination = x * y / R modulo the modulus: x is the multiplicand, y the multiplier, and R is
    that of the outer context."""
    SCAN = 1
    """Find the exponent's highest 1; go to the target if it has none."""
    CHECK_MODULUS = 2
    """End with an error unless the lengths are allowed and the modulus y is above 0, and odd if the
    multiplier needs that."""
    CHECK_BELOW = 3
    """End with an error unless x < y."""
    SUBTRACT = 4
    """destination = x - y; remembers a borrow."""
    ADD = 5
    """destination = x + y."""
    RESTORE = 6
    """destination = x + y if the last subtraction borrowed, else x."""
    PREPARE = 7
    """Hand the modulus to a multiplier that keeps it."""
    SCAN_UPWARDS = 8
    """Start at the exponent's lowest bit; from there on, the next bit is the next higher one."""
    BARRIER = 9
    """Wait until the other lane is at a BARRIER, too; both continue in the same cycle."""
    CHECK_NORMALIZED = 10
    """End with an error unless the highest bit of the modulus y's highest digit is 1."""
    SCAN_WINDOWS = 11
    """Start at the highest bit of the exponent's highest window, as its length specifies; without
    windows, at its highest bit."""
    CHECK_REDUCED = 12
    """End with the error FAULT and wipe the memory, unless x < y: x is what is checked from here
    on, modulo Q and then modulo P."""
    SCAN_PUBLIC = 13
    """SCAN of E, whatever the modulus."""
    MOVE = 14
    """destination = x."""
    CHECK_ZERO = 15
    """End with the error FAULT and wipe the memory, unless y = 0. After CHECK_REDUCED, the one
    modulo Q and the one modulo P, in this order, there is a result that may be read."""
    LOAD_COUNTER = 16
    """Load the exponent into the counter; go to the target, if there is one, where it is 0. End
    with an error if it has more bits than COUNTER_BITS."""
    DRAW = 17
    """destination = random digits. x is in the other bank, and not read."""
    ADD_IF_DRAWN = 18
    """destination = x + y, not written where a random bit is 0: of a digit that is drawn, the one
    that the counter of loops selects."""
    MAKE_EVEN = 19
    """destination = x with a lowest bit of 0: an odd x less 1."""
    BRANCH = 20
    """The following step if the exponent's bit is 1, else the target."""
    PASS = 21
    """Nothing but what comes next, in two cycles."""
    SCAN_COLUMNS = 27
    """Start at the highest column of E, whose bits are four teeth of equal length. From there on,
    the next bit is that of the next higher tooth, or after the highest one that of the lowest tooth
    in the next lower column. A window is a column."""
    CHECK_ON_CURVE = 22
    """End with the error POINT unless y = 0: a point is on its curve."""
    CHECK_FINITE = 23
    """End with the error POINT if y = 0: a point is not the one at infinity."""
    CHECK_POSITIVE = 25
    """End with the error OPERAND_RANGE if y = 0."""
    CHECK_SIGNATURE = 26
    """End with the error SIGNATURE unless y = 0."""
    ADD_OR_SUBTRACT = 28
    """ADD, or SUBTRACT where a random bit, as of ADD_IF_DRAWN, is 0."""
    MOVE_WRITTEN = 29
    """MOVE of what comes of a secret operand that the host has written since this was last moved to
    the last number that is DERIVED_FROM it; else nothing is read or written, in the same cycles."""
    CHECK_SUM = 24
    """End with the error FAULT and wipe the memory, unless y = 0: the result is on its curve."""


class Next(enum.IntEnum):
    """Which step comes next."""

    FOLLOWING = 0
    """The following one."""
    JUMP = 1
    """The target; address 0 ends the operation."""
    IF_BIT = 2
    """The following one if the exponent's bit is 1. Else on to the next bit and the same step
    again, or the target if that was the last bit."""
    NEXT_BIT = 3
    """On to the next bit and the target, or the following step if that was the last bit."""
    IF_WINDOW = 4
    """The bit goes into the window. The following step if the window is full; else on to the next
    bit and the same step again."""
    IF_NONZERO_WINDOW = 5
    """The bit goes into the window. The following step if the window is full and not zero; else on
    to the next bit and the same step again, or the target if that was the last bit."""
    IF_SLIDING_WINDOW = 6
    """The bit goes into the window, which is full when its highest bit is 1; where fewer bits are
    left than it has, a 1 fills it. The following step if it is full, and NEXT_BIT empties it; else
    on to the next bit and the same step again, or the target if that was the last bit."""
    COUNT_DOWN = 7
    """The counter decrements. The target, or the following step if it is 0 then."""
    EACH_ENTRY = 8
    """The window, which a PREPARE has set to 1, selects the next entry of the table. The following
    step if that is the last one, or modulo a prime the last but one; else the same step again."""
    EACH_MODULUS = 9
    """CURRENT becomes the next one of the operation's moduli, and the target comes; after the last
    one it is the first one again, and the following step."""
    IF_BORROW = 10
    """The following step if the last SUBTRACT has borrowed, x < y, else the target: for public
    numbers, since the cycles depend on it."""
    CALL = 11
    """The target, which is a routine; its RETURN leads to the following step."""
    LOOP = 12
    """The target, one time less than the step's `times`, and then the following step."""
    BARRIER = 13
    """After a linear step: the following one, once the other lane is at a barrier, too."""
    RETURN = 14
    """The step that follows the CALL of this routine."""
    IF_COMMAND = 15
    """The following step in some commands, else the target: where lists part that begin alike, or a
    routine has steps for some commands only."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step. Linear steps (the checks, SUBTRACT to RESTORE, MOVE, DRAW, ADD_IF_DRAWN, MAKE_EVEN)
    work on as many digits as their modulus has."""

    kind: StepKind
    note: str
    """What it computes, in the paper's terms."""
    destination: Reference = Operand.X
    x: Reference = Operand.X
    y: Reference = Operand.X
    modulus: Context = Context.WHOLE
    """Modulus, and digit count of x."""
    outer: Context = Context.WHOLE
    """Length of y, and so the R that a MULTIPLY divides by."""
    conditional: bool = False
    """NEXT becomes ACCUMULATOR only where the exponent's bit is 1; the product of a 0 is discarded,
    in the same cycles."""
    descale: bool = False
    """Where the multiplier works modulo a scaled modulus: the product is one of the modulus."""
    even_exponent: bool = False
    """In a private operation the exponent's lowest bit counts as 0: an odd exponent less 1."""
    next: Next = Next.FOLLOWING
    target: str = ""
    """Label of a step; empty: the end of the operation."""
    label: str = ""
    by_bit: bool = False
    """Where the exponent's bit is 1, the numbers of `SWAPPED_BY_BIT` change places."""
    leaves_two: bool = False
    """Of a NEXT_BIT: on to the following step while two bits of the exponent are left, or two
    columns."""
    commands: frozenset[int] = frozenset()
    """Of an IF_COMMAND: the codes of these commands; where lists part, the assembler adds them."""
    below: Fraction | int = 0
    """Of a step that takes a number from the other lane: how many times the modulus that is at
    most; of a MOVE or a sum for the other lane, the same."""
    fits: str = ""
    """Of an addition whose bound does not show it: why the sum has no more digits than there are.
    """
    times: int = 0
    """Of a LOOP: how often the steps from its target to here are executed, 2 or more; or 0: as
    often as a scalar is blinded with random bits."""
    times_modulus: int = 0
    """Of an ADD or a SUBTRACT: how often the modulus is added, too, so that the result is not below
    0: 0, or a power of two up to MOST_TIMES_MODULUS. It is ADDED_MODULUS where the multiplier works
    modulo a scaled modulus, else the modulus itself."""
    copy: Reference | None = None
    """Of a sum, a MOVE or a MULTIPLY: where the result is written, too, in the right bank, in the
    block that the destination has in the left one; not the y of a MULTIPLY."""

    def __post_init__(self) -> None:
        """Raise ValueError for a multiple that no step adds, or of a step that adds none."""
        times, sums = self.times_modulus, (StepKind.ADD, StepKind.SUBTRACT)
        copied = (*sums, StepKind.MOVE, StepKind.MULTIPLY)
        if times not in (0, *(1 << k for k in range(MOST_TIMES_MODULUS.bit_length()))):
            raise ValueError(
                f"times_modulus must be 0 or a power of two up to {MOST_TIMES_MODULUS}, not {times}"
            )
        if times and self.kind not in sums:
            raise ValueError(f"{self.kind.name} adds no modulus")
        if self.copies and self.kind not in copied:
            raise ValueError(f"{self.kind.name} has no copy")

    @property
    def shift(self) -> int:
        """`times_modulus` as the linear unit has it: 0, or 1 more than its logarithm."""
        return self.times_modulus.bit_length()

    @cached_property
    def swapped(self) -> "Step":
        """A step `by_bit` where the bit is 1."""
        named = (self.x, self.y, self.destination, self.copy)
        x, y, destination, copy = (
            reference
            if reference is None or isinstance(reference, Mode)
            else SWAPPED_BY_BIT.get(reference, reference)
            for reference in named
        )
        assert x is not None and y is not None and destination is not None
        return replace(self, x=x, y=y, destination=destination, copy=copy)

    @property
    def is_zero(self) -> bool:
        """Whether it is a difference of equal numbers, whatever these are."""
        return self.kind is StepKind.SUBTRACT and self.x is self.y and not self.times_modulus

    @property
    def copies(self) -> bool:
        """Whether there is a copy."""
        return self.copy is not None

    @property
    def runs_on(self) -> bool:
        """Whether what is `BESIDE_PRODUCTS` may go on beside the steps that follow it: these do not
        change what its addressing modes name, nor need its borrow at once."""
        named = (self.x, self.y, self.destination)
        return self.next is not Next.IF_BORROW and not any(
            isinstance(reference, Mode) for reference in named
        )


ADDS_DRAWN = frozenset({StepKind.ADD_IF_DRAWN, StepKind.ADD_OR_SUBTRACT})
"""What random bits decide."""
BESIDE_PRODUCTS = frozenset({StepKind.ADD, StepKind.SUBTRACT, StepKind.MOVE})
"""What may be done while products are under way, if these overlap, unless it is written to where an
addressing mode says."""
