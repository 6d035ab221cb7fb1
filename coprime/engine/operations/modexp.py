"""MODEXP and RSA_PUBLIC: X ^ E mod M, the direct exponentiation without CRT."""

from collections.abc import Callable

from coprime.exponentiators.right_to_left import right_to_left
from coprime.exponentiators.steps import MEET, Context, Slot, Step

from .common import Arithmetic, below_modulus, give, go, normalized, prepare, test_modulus

__all__ = ["modexp"]


def modexp(
    own: Arithmetic, lanes: int, power_of: Callable[[Context], list[Step]]
) -> list[list[Step]]:
    """One exponentiation with the whole modulus, on one lane or on two: a list for each.

    `power_of` is the exponentiation of a lane by itself.
    """
    whole = Context.WHOLE
    checks = [test_modulus(whole), below_modulus(Slot.X), *normalized(own, whole)]
    ready = prepare(own, whole)
    if lanes == 1:
        *power, last = power_of(whole)
        return [[*checks, *ready, *power, give(own, last)]]
    (*power, last), (*squares, met) = right_to_left(whole)
    return [
        [*checks, MEET, *ready, *power, give(own, last)],
        [MEET, *ready, *squares, go(met, "")],
    ]
