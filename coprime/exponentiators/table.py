"""Powers of the base in a table, for an exponentiation with windows."""

from coprime.program.builder import Builder
from coprime.program.operands import Context, Entry, Reference


def enter(code: Builder, slot: Reference, factor: Reference, note: str = "") -> None:
    """`slot` = `factor`, X or ONE, in Montgomery form: a power of the base.

    X is as long as the whole modulus, and is reduced.
    """
    note = note or f"{slot.name} = {factor.name}"
    code.multiply(slot, code.context.power, factor, note, outer=Context.WHOLE)


def more(code: Builder, first: int, last: int) -> None:
    """T_first to T_last, each from the one before it and T_1."""
    for k in range(first, last + 1):
        entry, before = Entry.at(k), Entry.at(k - 1)
        code.multiply(entry, before, Entry.T_1, f"T_{k} = T_{k - 1} * T_1")
