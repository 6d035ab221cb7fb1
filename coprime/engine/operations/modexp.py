"""MODEXP and RSA_PUBLIC: X ^ E mod M, the direct exponentiation without CRT."""

from coprime.exponentiators.exponentiation import Exponentiation
from coprime.exponentiators.right_to_left import right_to_left_on_two
from coprime.multipliers.contract import Multiplication
from coprime.program.operands import Context, Operand
from coprime.program.steps import BARRIER, Step

from .common import check_below_modulus, check_modulus, check_normalized, finish_with, jump, prepare

__all__ = ["modexp"]


def modexp(multiplication: Multiplication, lanes: int, alone: Exponentiation) -> list[list[Step]]:
    """One exponentiation with the whole modulus, on one lane or on two: a list for each.

    `alone` is the exponentiation of a lane that works alone.
    """
    whole = Context.WHOLE
    checks = [
        check_modulus(whole),
        check_below_modulus(Operand.X),
        *check_normalized(multiplication, whole),
    ]
    ready = prepare(multiplication, whole)
    if lanes == 1:
        *power, last = alone.steps(whole)
        return [[*checks, *alone.checks(whole), *ready, *power, finish_with(multiplication, last)]]
    (*power, last), (*squares, met) = right_to_left_on_two(whole)
    return [
        [*checks, BARRIER, *ready, *power, finish_with(multiplication, last)],
        [BARRIER, *ready, *squares, jump(met, "")],
    ]
