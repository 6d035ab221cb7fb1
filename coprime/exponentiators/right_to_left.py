"""Right-to-left binary exponentiation: on one multiplier, or on two side by side.

One multiplier: COMPRESSION, Algorithm 5, with the entry to Montgomery form and the way out of
Algorithm 6. Not constant time: the cycles reveal the exponent's length and number of ones.

Two: COMPRESSION, Algorithm 6; KARATSUBA, Algorithm 2. One squares, the other multiplies. Every bit
of the exponent takes the time of one multiplication, whatever it is: the product of a 0 is made and
discarded.
"""

from dataclasses import replace

from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import BARRIER, Next, Step, StepKind, multiply, scan, times

from .table import enter

ROUND = "round"


def right_to_left(context: Context) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, on one lane.

    X is as in `left_to_right`. Two multiplications for a bit that is 1, one for a 0.
    """
    bit, square = f"bit_{context.name}", f"square_{context.name}"
    return [
        enter(context, Mode.NEXT, Mode.ONE),
        enter(context, Scratch.BASE, Operand.X),
        scan(StepKind.SCAN_UPWARDS, context, "line 2: from the lowest bit of E"),
        replace(scan(StepKind.BRANCH, context, "line 3: where E_i = 1", target=square), label=bit),
        times(Scratch.BASE, context, "line 4: S = S * B"),
        multiply(
            Mode.NEXT_BASE,
            Scratch.BASE,
            Scratch.BASE,
            context,
            "line 6: B = B * B",
            next=Next.NEXT_BIT,
            target=bit,
            label=square,
        ),
        times(Mode.ONE, context, "S = S * 1, out of Montgomery form"),
    ]


def right_to_left_on_two(context: Context) -> tuple[list[Step], list[Step]]:
    """ACCUMULATOR of the first lane = X ^ exponent modulo the context's modulus.

    The lanes start in the same cycle and take the same steps, so that in each round the
    multiplicand B, which both need, leaves the second lane's memory once.
    """
    power = context.power
    from_lowest = scan(StepKind.SCAN_UPWARDS, context, "from the lowest bit of E")
    multiplies = [
        multiply(
            Mode.NEXT, power, Mode.ONE, context, "S = 1 in Montgomery form", outer=Context.WHOLE
        ),
        from_lowest,
        multiply(
            Mode.NEXT,
            Mode.OTHER_ACCUMULATOR,
            Scratch.ACCUMULATOR,
            context,
            "S = S * B, where E_i = 1",
            next=Next.NEXT_BIT,
            target=ROUND,
            label=ROUND,
            conditional=True,
        ),
        BARRIER,
        times(Mode.ONE, context, "S = S * 1, out of that form"),
    ]
    squares = [
        multiply(
            Mode.NEXT, power, Operand.X, context, "B = X in Montgomery form", outer=Context.WHOLE
        ),
        from_lowest,
        times(
            Scratch.ACCUMULATOR, context, "B = B * B", next=Next.NEXT_BIT, target=ROUND, label=ROUND
        ),
        BARRIER,
    ]
    return multiplies, squares
