"""m-ary exponentiation: a window of the exponent at once, and no product for one of zeros.

Source: COMPRESSION, Algorithm 7, with m = 2^w. What differs: windows stand where the exponent's
lowest bit is the lowest one of a window, so that the highest may be shorter. Not constant time: the
cycles reveal the exponent's length and the number of windows that are not zero.
"""

from coprime.program.builder import Builder
from coprime.program.operands import Entry, Mode, Operand
from coprime.program.steps import Next, StepKind

from .loop import square_and_multiply
from .table import enter, more


def m_ary(code: Builder, bits: int) -> None:
    """ACCUMULATOR = X ^ exponent modulo the modulus, at most that.

    A window has `bits` bits, 1, 2 or 4. X is as in `left_to_right`.
    """
    enter(code, Entry.T_1, Operand.X)
    more(code, 2, (1 << bits) - 1)
    enter(code, Mode.NEXT, Mode.ONE)
    code.scan(StepKind.SCAN_WINDOWS, "from the highest window of E, of any")
    square_and_multiply(
        code,
        Mode.WINDOW,
        Next.IF_NONZERO_WINDOW,
        square="line 4: C = C ^ m, a squaring for each bit of the window",
        product="line 6: C = C * T_window, where that is not 0",
    )
