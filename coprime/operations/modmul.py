"""MODMUL: X * Y mod M."""

from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import Step, multiply

from . import banked
from .operation import Input, Machine, Operation
from .shared_steps import (
    REDUCE,
    REDUCE_BELOW_3M,
    check_below_modulus,
    check_modulus,
    check_normalized,
    finish_with,
    prepare,
)


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


MODMUL = Operation(
    name="MODMUL",
    code=1,
    doc="X * Y mod M.",
    formula="x · y mod m",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="first factor, base or message"),
        Input(name="y", operand=Operand.Y, meaning="second factor"),
        Input(name="m", operand=Operand.M, meaning="modulus"),
    ),
    result=lambda x, y, m: x * y % m,
    lanes=modmul,
    banked=banked.on_each_lane,
)
