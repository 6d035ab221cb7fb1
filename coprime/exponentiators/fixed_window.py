"""Left-to-right exponentiation with a fixed window: the same products for every exponent.

Source: COMPRESSION, Algorithm 4 (m-ary), with every window multiplied, a window of zeros too. Each
table entry is read in the same cycles, so that the cycles tell the exponent's length and nothing
else.
"""

from .steps import Context, Slot, Step, StepKind, Then, multiply

__all__ = ["fixed_window"]


def fixed_window(context: Context, bits: int) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, at most that modulus.

    A window has `bits` bits, 1, 2 or 4, which divide a digit's. X is as in `left_to_right`.
    """
    square = f"square_{context.name}"
    power, table = Slot.power(context), [Slot.table(k) for k in range(1 << bits)]
    one, first, *others = table
    return [
        multiply(one, power, Slot.ONE, context, "T_0 = 1", outer=Context.WHOLE),
        multiply(first, power, Slot.X, context, "T_1 = X", outer=Context.WHOLE),
        *(
            multiply(entry, before, first, context, f"{entry.name} = {before.name} * T_1")
            for before, entry in zip(table[1:], others, strict=False)
        ),
        multiply(Slot.NEXT, power, Slot.ONE, context, "C = 1", outer=Context.WHOLE),
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
