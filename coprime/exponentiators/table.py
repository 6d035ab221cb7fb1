"""Powers of the base in a table, for an exponentiation with windows."""

from coprime.program.operands import Context, Reference, Scratch
from coprime.program.steps import Step, multiply


def enter(context: Context, slot: Reference, factor: Reference) -> Step:
    """`slot` = `factor`, X or ONE, in Montgomery form: a power of the base.

    As the first line of `left_to_right`: X is as long as the whole modulus, and is reduced.
    """
    power, note = context.power, f"{slot.name} = {factor.name}"
    return multiply(slot, power, factor, context, note, outer=Context.WHOLE)


def more(context: Context, first: int, last: int) -> list[Step]:
    """T_first to T_last, each from the one before it and T_1."""
    return [
        multiply(
            Scratch.table(k), Scratch.table(k - 1), Scratch.T_1, context, f"T_{k} = T_{k - 1} * T_1"
        )
        for k in range(first, last + 1)
    ]
