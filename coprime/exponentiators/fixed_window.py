"""Left-to-right exponentiation with a fixed window: the same products for every exponent.

Source: COMPRESSION, Algorithm 7 (m-ary), with every window multiplied, a window of zeros too. Each
table entry is read in the same cycles, so that the cycles tell the exponent's length and nothing
else.
"""

from .steps import Context, Slot, Step, StepKind, Then, times
from .table import enter, more

__all__ = ["fixed_window", "windows"]


def fixed_window(context: Context, bits: int) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, at most that modulus.

    A window has `bits` bits, 1, 2 or 4. X is as in `left_to_right`.
    """
    return [
        enter(context, Slot.T_0, Slot.ONE),
        enter(context, Slot.T_1, Slot.X),
        *more(context, 2, (1 << bits) - 1),
        enter(context, Slot.NEXT, Slot.ONE),
        *windows(context, Slot.NEXT),
    ]


def windows(context: Context, product: Slot) -> list[Step]:
    """ACCUMULATOR = T_1 ^ exponent, from 1 in Montgomery form; the last step leaves that form.

    `product` is the slot that a product with ACCUMULATOR becomes the new one in: NEXT, or itself.
    """
    square = f"square_{context.name}"
    return [
        Step(
            kind=StepKind.SCAN_WINDOWS, modulus=context, note="from the highest window of E, of any"
        ),
        times(
            Slot.ACCUMULATOR,
            context,
            "C = C * C, once for each bit of the window",
            into=product,
            then=Then.WINDOW,
            label=square,
        ),
        times(
            Slot.WINDOW,
            context,
            "C = C * T_window",
            into=product,
            then=Then.MULTIPLIED,
            target=square,
        ),
        times(Slot.ONE, context, "C = C * 1, out of Montgomery form", into=product),
    ]
