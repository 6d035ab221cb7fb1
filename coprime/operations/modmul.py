"""MODMUL: X * Y mod M."""

from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import Step, multiply

from .banked import REDUCE_ONCE, canonical_result, ending, enter_whole
from .operation import Input, Machine, Operation
from .shared_steps import (
    REDUCE,
    REDUCE_BELOW_3M,
    call,
    check_below_modulus,
    check_modulus,
    check_normalized,
    descale,
    finish_with,
    prepare,
)

_ACC, _WHOLE = Scratch.ACCUMULATOR, Context.WHOLE


def modmul(machine: Machine) -> list[list[Step]]:
    """Bring X into Montgomery form, if there is one; the product with Y leaves it again."""
    multiplication, whole = machine.multiplication, Context.WHOLE
    enter = [multiply(Scratch.BASE, Operand.M_POWER, Operand.X, whole, "X * R mod M")]
    factor = Scratch.BASE if multiplication.montgomery else Operand.X
    return [
        [
            check_modulus(whole),
            check_below_modulus(Operand.X),
            check_below_modulus(Operand.Y),
            *check_normalized(multiplication, whole),
            *prepare(multiplication, whole),
            *(enter if multiplication.montgomery else []),
            finish_with(
                multiplication,
                multiply(Mode.NEXT, factor, Operand.Y, whole, "X * Y mod M"),
                REDUCE_BELOW_3M if multiplication.scaled else REDUCE,
            ),
        ]
    ]


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """X * Y mod M on the leading lane."""
    product = multiply(_ACC, _ACC, Operand.Y, _WHOLE, "X * Y mod M, below 3M")
    return [
        [
            check_modulus(_WHOLE),
            check_below_modulus(Operand.X),
            *enter_whole(machine.multiplication),
            check_below_modulus(Operand.Y),
            call(descale(machine.multiplication, product), REDUCE_ONCE),
            *ending(canonical_result()),
        ]
    ]


MODMUL = Operation(
    name="MODMUL",
    code=1,
    doc="X * Y mod M.",
    formula="x · y mod m",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="first factor"),
        Input(name="y", operand=Operand.Y, meaning="second factor"),
        Input(name="m", operand=Operand.M, meaning="modulus"),
    ),
    result=lambda x, y, m: x * y % m,
    lanes=modmul,
    banked=on_two_banks,
)
