"""MODEXP: X ^ E mod M, the direct exponentiation without CRT."""

from coprime.exponentiators.right_to_left import right_to_left_on_two
from coprime.program.operands import Context, Operand
from coprime.program.steps import BARRIER, Step

from . import banked
from .operation import Input, Machine, Operation
from .shared_steps import (
    check_below_modulus,
    check_modulus,
    check_normalized,
    finish_with,
    jump,
    prepare,
)


def modexp(machine: Machine) -> list[list[Step]]:
    """One exponentiation with the whole modulus, on one lane or on two.

    Of two that are `interleaved` on one multiplier the first one works alone, as taking turns would
    gain nothing.
    """
    multiplication, alone, whole = machine.multiplication, machine.exponentiation, Context.WHOLE
    checks = [
        check_modulus(whole),
        check_below_modulus(Operand.X),
        *check_normalized(multiplication, whole),
    ]
    ready = prepare(multiplication, whole)
    if machine.lanes == 1 or multiplication.interleaved:
        *power, last = alone.steps(whole)
        return [[*checks, *alone.checks(whole), *ready, *power, finish_with(multiplication, last)]]
    (*power, last), (*squares, met) = right_to_left_on_two(whole)
    return [
        [*checks, BARRIER, *ready, *power, finish_with(multiplication, last)],
        [BARRIER, *ready, *squares, jump(met, "")],
    ]


MODEXP = Operation(
    name="MODEXP",
    code=2,
    doc="X ** E mod M.",
    formula="x^e mod m",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="first factor, base or message"),
        Input(name="e", operand=Operand.E, meaning="exponent"),
        Input(name="m", operand=Operand.M, meaning="modulus"),
    ),
    result=lambda x, e, m: pow(x, e, m),
    lanes=modexp,
    banked=banked.on_each_lane,
)
