"""Left-to-right binary exponentiation: square, and multiply where the exponent's bit is 1.

Source: FDFM, Algorithm 2. What differs: the bits above the exponent's highest 1 are passed over,
and line 2 reduces its operand at the same time, so that it may have more digits than the modulus.
Not constant time: the cycles reveal the exponent's length and number of ones.
"""

from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import Next, Step, multiply

from .loop import LEAVE_FORM, scan_bits, square_and_multiply


def left_to_right(context: Context) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, at most that modulus.

    X is as long as the whole modulus: lines 1 and 2 divide by its R, and power = R * R_context
    leaves their results in Montgomery form. Where the multiplier knows no such form, R is 1.
    """
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
        scan_bits(context),
        *square_and_multiply(
            context,
            Scratch.BASE,
            Next.IF_BIT,
            square="line 4: C = C * C",
            product="line 5: C = C * P, where E_i = 1",
            leave=f"line 7: {LEAVE_FORM}",
        ),
    ]
