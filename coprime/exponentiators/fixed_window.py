"""Left-to-right exponentiation with a fixed window: the same products for every exponent.

Source: COMPRESSION, Algorithm 7 (m-ary), with every window multiplied, a window of zeros too. Each
table entry is read in the same cycles, so that the cycles tell the exponent's length and nothing
else.
"""

from .steps import Context, Slot, Step, StepKind, Then, multiply
from .table import enter, more

__all__ = ["fixed_window"]


def fixed_window(context: Context, bits: int, *, banked: bool = False) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, at most that modulus.

    A window has `bits` bits, 1, 2 or 4. X is as in `left_to_right`. `banked`, an entry is no
    product of two entries, which are in one bank of memory, but of BASE and the one before; the
    window counts them, so that there is one step for all.
    """
    square = f"square_{context.name}"
    if banked:
        table = [
            enter(context, Slot.BASE, Slot.X),
            multiply(
                Slot.ENTRY, Slot.BASE, Slot.WINDOW, context, "T_(k+1) = B * T_k", then=Then.ENTRY
            ),
        ]
    else:
        table = [enter(context, Slot.T_1, Slot.X), *more(context, 2, (1 << bits) - 1)]
    return [
        enter(context, Slot.T_0, Slot.ONE),
        *table,
        enter(context, Slot.NEXT, Slot.ONE),
        Step(
            kind=StepKind.SCAN_WINDOWS, modulus=context, note="from the highest window of E, of any"
        ),
        multiply(
            Slot.NEXT,
            Slot.ACCUMULATOR,
            Slot.ACCUMULATOR,
            context,
            "C = C * C, once for each bit of the window",
            then=Then.WINDOW,
            label=square,
        ),
        multiply(
            Slot.NEXT,
            Slot.ACCUMULATOR,
            Slot.WINDOW,
            context,
            "C = C * T_window",
            then=Then.MULTIPLIED,
            target=square,
        ),
        multiply(
            Slot.NEXT,
            Slot.ACCUMULATOR,
            Slot.ONE,
            context,
            "C = C * 1, out of Montgomery form",
        ),
    ]
