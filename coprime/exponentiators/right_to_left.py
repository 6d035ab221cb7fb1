"""Right-to-left binary exponentiation: on one multiplier, or on two side by side.

One multiplier: COMPRESSION, Algorithm 5, with the entry to Montgomery form and the way out of
Algorithm 6. Not constant time: the cycles tell the exponent's length and number of ones.

Two: COMPRESSION, Algorithm 6; KARATSUBA, Algorithm 2. One squares, the other multiplies. Every bit
of the exponent takes the time of one multiplication, whatever it is: the product of a 0 is made and
discarded.
"""

from .steps import MEET, Context, Slot, Step, StepKind, Then, multiply, times
from .table import enter

__all__ = ["right_to_left", "right_to_left_on_two"]

ROUND = "round"


def right_to_left(context: Context) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, on one lane.

    X is as in `left_to_right`. Two multiplications for a bit that is 1, one for a 0.
    """
    bit, square = f"bit_{context.name}", f"square_{context.name}"
    return [
        enter(context, Slot.NEXT, Slot.ONE),
        enter(context, Slot.BASE, Slot.X),
        Step(kind=StepKind.SCAN_UP, modulus=context, note="line 2: from the lowest bit of E"),
        Step(
            kind=StepKind.BRANCH,
            modulus=context,
            target=square,
            note="line 3: where E_i = 1",
            label=bit,
        ),
        times(Slot.BASE, context, "line 4: S = S * B"),
        multiply(
            Slot.NEXT_BASE,
            Slot.BASE,
            Slot.BASE,
            context,
            "line 6: B = B * B",
            then=Then.MULTIPLIED,
            target=bit,
            label=square,
        ),
        times(Slot.ONE, context, "S = S * 1, out of Montgomery form"),
    ]


def right_to_left_on_two(context: Context) -> tuple[list[Step], list[Step]]:
    """ACCUMULATOR of the first lane = X ^ exponent modulo the context's modulus.

    The lanes start in the same cycle and take the same steps, so that in each round the
    multiplicand B, which both need, leaves the second lane's memory once.
    """
    power = Slot.power(context)
    scan = Step(kind=StepKind.SCAN_UP, modulus=context, note="from the lowest bit of E")
    multiplies = [
        multiply(
            Slot.NEXT, power, Slot.ONE, context, "S = 1 in Montgomery form", outer=Context.WHOLE
        ),
        scan,
        multiply(
            Slot.NEXT,
            Slot.OTHER_ACCUMULATOR,
            Slot.ACCUMULATOR,
            context,
            "S = S * B, where E_i = 1",
            then=Then.MULTIPLIED,
            target=ROUND,
            label=ROUND,
            conditional=True,
        ),
        MEET,
        times(Slot.ONE, context, "S = S * 1, out of that form"),
    ]
    squares = [
        multiply(
            Slot.NEXT, power, Slot.X, context, "B = X in Montgomery form", outer=Context.WHOLE
        ),
        scan,
        times(
            Slot.ACCUMULATOR, context, "B = B * B", then=Then.MULTIPLIED, target=ROUND, label=ROUND
        ),
        MEET,
    ]
    return multiplies, squares
