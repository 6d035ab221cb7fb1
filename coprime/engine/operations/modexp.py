"""MODEXP and RSA_PUBLIC: X ^ E mod M, the direct exponentiation without CRT."""

from coprime.exponentiators.exponentiation import Exponentiation
from coprime.exponentiators.right_to_left import right_to_left_on_two
from coprime.exponentiators.steps import MEET, Context, Slot, Step
from coprime.multipliers.contract import Multiplication

from .common import below_modulus, give, go, normalized, prepare, test_modulus

__all__ = ["modexp"]


def modexp(own: Multiplication, lanes: int, alone: Exponentiation) -> list[list[Step]]:
    """One exponentiation with the whole modulus, on one lane or on two: a list for each.

    `alone` is the exponentiation of a lane by itself.
    """
    whole = Context.WHOLE
    checks = [test_modulus(whole), below_modulus(Slot.X), *normalized(own, whole)]
    ready = prepare(own, whole)
    if lanes == 1:
        *power, last = alone.steps(whole)
        return [[*checks, *alone.checks(whole), *ready, *power, give(own, last)]]
    (*power, last), (*squares, met) = right_to_left_on_two(whole)
    return [
        [*checks, MEET, *ready, *power, give(own, last)],
        [MEET, *ready, *squares, go(met, "")],
    ]
