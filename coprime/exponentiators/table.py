"""Powers of the base in a table, for an exponentiation with windows."""

from .steps import Context, Slot, Step, multiply

__all__ = ["enter", "more"]


def enter(context: Context, slot: Slot, factor: Slot) -> Step:
    """The slot's power of the base: X, or ONE, in Montgomery form.

    As the first line of `left_to_right`: X is as long as the whole modulus, and is reduced.
    """
    power, note = Slot.power(context), f"{slot.name} = {factor.name}"
    return multiply(slot, power, factor, context, note, outer=Context.WHOLE)


def more(context: Context, first: int, last: int) -> list[Step]:
    """T_first to T_last, each from the one before it and T_1."""
    return [
        multiply(
            Slot.table(k),
            Slot.table(k - 1),
            Slot.T_1,
            context,
            f"T_{k} = T_{k - 1} * T_1",
        )
        for k in range(first, last + 1)
    ]
