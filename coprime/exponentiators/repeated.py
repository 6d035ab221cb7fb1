"""Repeated multiplication: as many products by the base as the exponent says.

Source: COMPRESSION, Algorithm 3. What differs: the exponent is counted down in a register, so it
may have at most COUNTER_BITS bits; a longer one is an error. For short exponents, and to teach:
65537 takes as many multiplications. Not constant time: the cycles reveal the exponent.
"""

from coprime.program.builder import Builder
from coprime.program.operands import Core, Mode, Operand
from coprime.program.steps import COUNTER_BITS, Next, StepKind

from .table import enter


def short(code: Builder) -> None:
    """Refuse an exponent that is too long, before anything is done."""
    note = f"{code.context.exponent.name} < 2^{COUNTER_BITS}?"
    code.scan(StepKind.LOAD_COUNTER, note)


def repeated(code: Builder) -> None:
    """ACCUMULATOR = X ^ exponent modulo the modulus, at most that.

    X is as in `left_to_right`.
    """
    again, leave = f"again_{code.context.name}", f"leave_{code.context.name}"
    enter(code, Mode.NEXT, Mode.ONE)
    enter(code, Core.BASE, Operand.X)
    code.scan(StepKind.LOAD_COUNTER, "line 2: E times", leave)
    code.label(again)
    code.times(Core.BASE, "line 3: C = C * X")
    code.then(Next.COUNT_DOWN, again)
    code.label(leave)
    code.times(Mode.ONE, "C = C * 1, out of Montgomery form")
