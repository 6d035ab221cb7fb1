"""MODMUL: X * Y mod M."""

from coprime.exponentiators.steps import Context, Slot, Step, multiply

from .common import REDUCE, below_modulus, go, test_modulus

__all__ = ["modmul"]


def modmul() -> list[Step]:
    """Bring X into Montgomery form; the product with Y leaves it again."""
    whole = Context.WHOLE
    return [
        test_modulus(whole),
        below_modulus(Slot.X),
        below_modulus(Slot.Y),
        multiply(Slot.BASE, Slot.M_POWER, Slot.X, whole, "X * 2^dr mod M"),
        go(multiply(Slot.NEXT, Slot.BASE, Slot.Y, whole, "X * Y mod M"), REDUCE),
    ]
