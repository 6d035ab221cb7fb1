"""Repeated multiplication: the base as often as the exponent tells.

Source: COMPRESSION, Algorithm 3. What differs: the exponent is counted down in a register, so it
may have COUNTER_BITS bits at the most; a longer one is an error. For short exponents, and to teach:
65537 takes as many multiplications. Not constant time: the cycles tell the exponent.
"""

from .steps import COUNTER_BITS, Context, Slot, Step, StepKind, Then, times
from .table import enter

__all__ = ["repeated", "short"]


def short(context: Context) -> Step:
    """Refuse an exponent that is too long, before anything is done."""
    return Step(
        kind=StepKind.COUNT,
        modulus=context,
        note=f"{Slot.exponent(context).name} < 2^{COUNTER_BITS}?",
    )


def repeated(context: Context) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, at most that modulus.

    X is as in `left_to_right`.
    """
    again, leave = f"again_{context.name}", f"leave_{context.name}"
    return [
        enter(context, Slot.NEXT, Slot.ONE),
        enter(context, Slot.BASE, Slot.X),
        Step(
            kind=StepKind.COUNT, modulus=context, target=leave, note="line 2: as often as E tells"
        ),
        times(
            Slot.BASE, context, "line 3: C = C * X", then=Then.COUNTED, target=again, label=again
        ),
        times(Slot.ONE, context, "C = C * 1, out of Montgomery form", label=leave),
    ]
