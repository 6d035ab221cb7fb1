"""Left-to-right binary exponentiation: square, and multiply where the exponent's bit is 1.

Source: FDFM, Algorithm 2. What differs: the bits above the exponent's highest 1 are passed over,
and line 2 reduces its operand at the same time, so that it may have more digits than the modulus.
Not constant time: the cycles reveal the exponent's length and number of ones.
"""

from coprime.program.builder import Builder
from coprime.program.operands import Core, Mode, Operand
from coprime.program.steps import Next

from .loop import LEAVE_FORM, scan_bits, square_and_multiply
from .table import enter


def left_to_right(code: Builder) -> None:
    """ACCUMULATOR = X ^ exponent modulo the modulus, at most that.

    X is as long as the whole modulus: lines 1 and 2 divide by its R, and power = R * R_context
    leaves their results in Montgomery form. Where the multiplier knows no such form, R is 1.
    """
    enter(code, Mode.NEXT, Mode.ONE, "line 1: C = 2^dr mod M")
    enter(code, Core.BASE, Operand.X, "line 2: P = P * 2^dr mod M")
    scan_bits(code)
    square_and_multiply(
        code,
        Core.BASE,
        Next.IF_BIT,
        square="line 4: C = C * C",
        product="line 5: C = C * P, where E_i = 1",
        leave=f"line 7: {LEAVE_FORM}",
    )
