"""Sliding-window exponentiation: windows begin with a 1, zeros between them are squared only.

Source: COMPRESSION, Algorithm 8. What differs: a window ends after its w bits, whatever they are,
where the thesis ends it with its last 1. So nothing has to be known of the bits to come, and each
squaring of a window is done as its bit is read. As many windows begin, one for each w + 1 bits of a
long random exponent; the powers are those whose first of w bits is 1, in place of the odd ones.
Where fewer than w bits are left, each 1 is a window of its own. Not constant time: the cycles show
the exponent's length without leading zeros, and the number of windows.
"""

from coprime.program.builder import Builder
from coprime.program.operands import Core, Entry, Mode, Operand, Scratch
from coprime.program.steps import Next

from .loop import scan_bits, square_and_multiply
from .table import enter, more


def sliding_table(bits: int) -> list[int]:
    """Powers of the base that windows of `bits` bits need."""
    return sorted({1, *range(1 << (bits - 1), 1 << bits)})


def sliding_window(code: Builder, bits: int) -> None:
    """ACCUMULATOR = X ^ exponent modulo the modulus, at most that.

    A window has `bits` bits, 1, 2 or 4. X is as in `left_to_right`.
    """
    highest = 1 << (bits - 1)
    power: Scratch = Entry.T_1
    enter(code, Entry.T_1, Operand.X)
    for k in (1 << k for k in range(1, bits)):
        doubled = Entry.at(k) if k == highest else Mode.NEXT
        code.multiply(doubled, power, power, f"X ^ {k} = X ^ {k // 2} * X ^ {k // 2}")
        power = Core.ACCUMULATOR
    more(code, highest + 1, 2 * highest - 1)
    enter(code, Mode.NEXT, Mode.ONE)
    scan_bits(code)
    square_and_multiply(
        code,
        Mode.WINDOW,
        Next.IF_SLIDING_WINDOW,
        square="lines 5 and 12: C = C * C",
        product="line 15: C = C * T_window",
    )
