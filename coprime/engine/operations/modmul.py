"""MODMUL: X * Y mod M."""

from coprime.exponentiators.steps import Context, Slot, Step, multiply
from coprime.multipliers.contract import Multiplication

from .common import (
    REDUCE,
    REDUCE_BELOW_3M,
    below_modulus,
    give,
    normalized,
    prepare,
    test_modulus,
)

__all__ = ["modmul"]


def modmul(own: Multiplication) -> list[Step]:
    """Bring X into Montgomery form, if there is one; the product with Y leaves it again."""
    whole = Context.WHOLE
    enter = [multiply(Slot.BASE, Slot.M_POWER, Slot.X, whole, "X * R mod M")]
    factor = Slot.BASE if own.montgomery else Slot.X
    return [
        test_modulus(whole),
        below_modulus(Slot.X),
        below_modulus(Slot.Y),
        *normalized(own, whole),
        *prepare(own, whole),
        *(enter if own.montgomery else []),
        give(
            own,
            multiply(Slot.NEXT, factor, Slot.Y, whole, "X * Y mod M"),
            REDUCE_BELOW_3M if own.scaled else REDUCE,
        ),
    ]
