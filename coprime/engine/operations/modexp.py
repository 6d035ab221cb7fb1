"""MODEXP and RSA_PUBLIC: X ^ E mod M, the direct exponentiation without CRT."""

from collections.abc import Callable

from coprime.exponentiators.steps import Context, Slot, Step

from .common import REDUCE, below_modulus, go, test_modulus

__all__ = ["modexp"]


def modexp(exponentiator: Callable[[Context], list[Step]]) -> list[Step]:
    """One exponentiation with the whole modulus."""
    power = exponentiator(Context.WHOLE)
    return [
        test_modulus(Context.WHOLE),
        below_modulus(Slot.X),
        *power[:-1],
        go(power[-1], REDUCE),
    ]
