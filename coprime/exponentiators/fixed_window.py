"""Left-to-right exponentiation with a fixed window: the same products for every exponent.

Source: COMPRESSION, Algorithm 7 (m-ary), with every window multiplied, a window of zeros too. Each
table entry is read in the same cycles, so that the cycles depend on the exponent's length
and nothing else.
"""

from coprime.program.builder import Builder
from coprime.program.operands import Context, Core, Entry, Mode, Operand, Reference
from coprime.program.steps import StepKind

from .loop import LEAVE_FORM
from .table import enter, more

FROM_HIGHEST = "from the highest window of E, of any"


def fixed_window(code: Builder, bits: int) -> None:
    """ACCUMULATOR = X ^ exponent modulo the modulus, at most that.

    A window has `bits` bits, 1, 2 or 4. X is as in `left_to_right`.
    """
    enter(code, Entry.T_0, Mode.ONE)
    enter(code, Entry.T_1, Operand.X)
    more(code, 2, (1 << bits) - 1)
    enter(code, Mode.NEXT, Mode.ONE)
    code.scan(StepKind.SCAN_WINDOWS, FROM_HIGHEST)
    windows(code, Mode.NEXT)
    code.times(Mode.ONE, LEAVE_FORM)


def windows(code: Builder, product: Reference, *, even_exponent: bool = False) -> None:
    """C = T_1 ^ exponent, of C = 1, for the windows from where a scan is.

    `product` is where C is written: NEXT, or ACCUMULATOR itself.
    """
    with code.each_bit(square(code.context)):
        note = "C = C * C, once for each bit of the window"
        code.times(Core.ACCUMULATOR, note, product, even_exponent=even_exponent)
        code.if_window()
        code.times(Mode.WINDOW, "C = C * T_window", product)


def square(context: Context) -> str:
    """Label of the first step of `windows`."""
    return f"square_{context.name}"
