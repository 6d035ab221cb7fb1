"""Right-to-left binary exponentiation: on one multiplier, or on two side by side.

One multiplier: COMPRESSION, Algorithm 5, with the entry to Montgomery form and the way out of
Algorithm 6. Not constant time: the cycles reveal the exponent's length and number of ones.

Two: COMPRESSION, Algorithm 6; KARATSUBA, Algorithm 2. One squares, the other multiplies. Every bit
of the exponent takes the time of one multiplication, whatever it is: the product of a 0 is made and
discarded.
"""

from coprime.program.builder import Builder
from coprime.program.operands import Core, Mode, Operand
from coprime.program.steps import StepKind

from .table import enter


def right_to_left(code: Builder) -> None:
    """ACCUMULATOR = X ^ exponent modulo the modulus, on one lane.

    X is as in `left_to_right`. Two multiplications for a bit that is 1, one for a 0.
    """
    base, square = Core.BASE, f"square_{code.context.name}"
    enter(code, Mode.NEXT, Mode.ONE)
    enter(code, base, Operand.X)
    code.scan(StepKind.SCAN_UPWARDS, "line 2: from the lowest bit of E")
    with code.each_bit(f"bit_{code.context.name}"):
        code.scan(StepKind.BRANCH, "line 3: where E_i = 1", square)
        code.times(base, "line 4: S = S * B")
        code.label(square)
        code.multiply(Mode.NEXT_BASE, base, base, "line 6: B = B * B")
    code.times(Mode.ONE, "S = S * 1, out of Montgomery form")


def multiplies_on_two(code: Builder) -> None:
    """ACCUMULATOR = X ^ exponent modulo the modulus, on the first of two lanes.

    The lanes start in the same cycle and take the same steps, so that in each round the
    multiplicand B, which both need, leaves the second lane's memory once.
    """
    enter(code, Mode.NEXT, Mode.ONE, "S = 1 in Montgomery form")
    code.scan(StepKind.SCAN_UPWARDS, "from the lowest bit of E")
    with code.each_bit("round"):
        b, s = Mode.OTHER_ACCUMULATOR, Core.ACCUMULATOR
        code.multiply(Mode.NEXT, b, s, "S = S * B, where E_i = 1", conditional=True)
    code.barrier()
    code.times(Mode.ONE, "S = S * 1, out of that form")


def squares_on_two(code: Builder) -> None:
    """The squares that the first lane multiplies by, on the second lane."""
    enter(code, Mode.NEXT, Operand.X, "B = X in Montgomery form")
    code.scan(StepKind.SCAN_UPWARDS, "from the lowest bit of E")
    with code.each_bit("round"):
        code.times(Core.ACCUMULATOR, "B = B * B")
    code.barrier()
