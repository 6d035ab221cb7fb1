"""Left-to-right binary exponentiation: square, and multiply where the exponent's bit is 1.

Source: FDFM, Algorithm 2. What differs: the bits above the exponent's highest 1 are passed over,
and line 2 reduces its operand at the same time, so that it may have more digits than the modulus.
Not constant time: the cycles tell the exponent's length and number of ones.
"""

from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, multiply, scan, times

__all__ = ["left_to_right"]


def left_to_right(context: Context) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, at most that modulus.

    X is as long as the whole modulus: lines 1 and 2 divide by its R, and power = R * R_context
    leaves their results in Montgomery form. Where the multiplier knows no such form, R is 1.
    """
    square, leave = f"square_{context.name}", f"leave_{context.name}"
    power = context.power
    return [
        multiply(
            Mode.NEXT, power, Mode.ONE, context, "line 1: C = 2^dr mod M", outer=Context.WHOLE
        ),
        multiply(
            Scratch.BASE,
            power,
            Operand.X,
            context,
            "line 2: P = P * 2^dr mod M",
            outer=Context.WHOLE,
        ),
        scan(StepKind.SCAN, context, "line 3: from the highest 1 of E", target=leave),
        times(
            Scratch.ACCUMULATOR,
            context,
            "line 4: C = C * C",
            next=Next.IF_BIT,
            target=leave,
            label=square,
        ),
        times(
            Scratch.BASE,
            context,
            "line 5: C = C * P, where E_i = 1",
            next=Next.NEXT_BIT,
            target=square,
        ),
        times(Mode.ONE, context, "line 7: C = C * 1, out of Montgomery form", label=leave),
    ]
