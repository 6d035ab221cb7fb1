"""Right-to-left binary exponentiation on two multipliers: one squares, the other multiplies.

Source: COMPRESSION, Algorithm 6; KARATSUBA, Algorithm 2. Every bit of the exponent takes the time
of one multiplication, whatever it is: the product of a 0 is made and discarded.
"""

from .steps import MEET, Context, Slot, Step, StepKind, Then, multiply

__all__ = ["right_to_left"]

ROUND = "round"


def right_to_left(context: Context) -> tuple[list[Step], list[Step]]:
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
        multiply(Slot.NEXT, Slot.ACCUMULATOR, Slot.ONE, context, "S = S * 1, out of that form"),
    ]
    squares = [
        multiply(
            Slot.NEXT, power, Slot.X, context, "B = X in Montgomery form", outer=Context.WHOLE
        ),
        scan,
        multiply(
            Slot.NEXT,
            Slot.ACCUMULATOR,
            Slot.ACCUMULATOR,
            context,
            "B = B * B",
            then=Then.MULTIPLIED,
            target=ROUND,
            label=ROUND,
        ),
        MEET,
    ]
    return multiplies, squares
