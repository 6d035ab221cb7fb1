"""MODEXP: X ^ E mod M, the direct exponentiation without CRT."""

from coprime.exponentiators.right_to_left import right_to_left_on_two
from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import BARRIER, Step, multiply

from .banked import POWER, after_power, canonical_result, ending, enter_whole, fill_table, move
from .operation import Input, Machine, Operation
from .shared_steps import (
    call,
    check_below_modulus,
    check_modulus,
    check_normalized,
    finish_with,
    jump,
    prepare,
)

_ACC, _WHOLE = Scratch.ACCUMULATOR, Context.WHOLE


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


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """X ^ E mod M on the leading lane: X enters, its powers fill the table, 1 is the first C."""
    overlaps = machine.multiplication.overlaps
    one = Scratch.T_0 if overlaps else _ACC
    return [
        [
            check_modulus(_WHOLE),
            check_below_modulus(Operand.X),
            *enter_whole(machine.multiplication),
            move(Mode.WINDOW, _ACC, _WHOLE),
            *([move(Scratch.BASE, _ACC, _WHOLE)] if overlaps else []),
            fill_table(_WHOLE, Scratch.BASE if overlaps else None),
            move(_ACC, Operand.M_POWER, _WHOLE),
            call(multiply(one, _ACC, Mode.ONE, _WHOLE, f"{one.name} = 1"), POWER),
            *after_power(machine),
            *ending(canonical_result()),
        ]
    ]


MODEXP = Operation(
    name="MODEXP",
    code=2,
    doc="X ** E mod M.",
    formula="x^e mod m",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="base"),
        Input(name="e", operand=Operand.E, meaning="exponent"),
        Input(name="m", operand=Operand.M, meaning="modulus"),
    ),
    result=lambda x, e, m: pow(x, e, m),
    lanes=modexp,
    banked=on_two_banks,
)
