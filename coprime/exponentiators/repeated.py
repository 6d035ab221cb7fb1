"""Repeated multiplication: as many products by the base as the exponent says.

Source: COMPRESSION, Algorithm 3. What differs: the exponent is counted down in a register, so it
may have at most COUNTER_BITS bits; a longer one is an error. For short exponents, and to teach:
65537 takes as many multiplications. Not constant time: the cycles reveal the exponent.
"""

from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import COUNTER_BITS, Next, Step, StepKind, scan, times

from .table import enter


def short(context: Context) -> Step:
    """Refuse an exponent that is too long, before anything is done."""
    return scan(StepKind.LOAD_COUNTER, context, f"{context.exponent.name} < 2^{COUNTER_BITS}?")


def repeated(context: Context) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, at most that modulus.

    X is as in `left_to_right`.
    """
    again, leave = f"again_{context.name}", f"leave_{context.name}"
    return [
        enter(context, Mode.NEXT, Mode.ONE),
        enter(context, Scratch.BASE, Operand.X),
        scan(StepKind.LOAD_COUNTER, context, "line 2: E times", target=leave),
        times(
            Scratch.BASE,
            context,
            "line 3: C = C * X",
            next=Next.COUNT_DOWN,
            target=again,
            label=again,
        ),
        times(Mode.ONE, context, "C = C * 1, out of Montgomery form", label=leave),
    ]
