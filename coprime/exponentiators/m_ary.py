"""m-ary exponentiation: a window of the exponent at once, and no product for one of zeros.

Source: COMPRESSION, Algorithm 7, with m = 2^w. What differs: windows stand where the exponent's
lowest bit is the lowest one of a window, so that the highest may be shorter. Not constant time: the
cycles reveal the exponent's length and the number of windows that are not zero.
"""

from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, scan

from .loop import square_and_multiply
from .table import enter, more


def m_ary(context: Context, bits: int) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, at most that modulus.

    A window has `bits` bits, 1, 2 or 4. X is as in `left_to_right`.
    """
    return [
        enter(context, Scratch.T_1, Operand.X),
        *more(context, 2, (1 << bits) - 1),
        enter(context, Mode.NEXT, Mode.ONE),
        scan(StepKind.SCAN_WINDOWS, context, "from the highest window of E, of any"),
        *square_and_multiply(
            context,
            Mode.WINDOW,
            Next.IF_NONZERO_WINDOW,
            square="line 4: C = C ^ m, a squaring for each bit of the window",
            product="line 6: C = C * T_window, where that is not 0",
        ),
    ]
