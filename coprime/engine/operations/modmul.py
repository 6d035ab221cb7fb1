"""MODMUL: X * Y mod M."""

from coprime.multipliers.contract import Multiplication
from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import Step, multiply

from .common import (
    REDUCE,
    REDUCE_BELOW_3M,
    check_below_modulus,
    check_modulus,
    check_normalized,
    finish_with,
    prepare,
)

__all__ = ["modmul"]


def modmul(multiplication: Multiplication) -> list[Step]:
    """Bring X into Montgomery form, if there is one; the product with Y leaves it again."""
    whole = Context.WHOLE
    enter = [multiply(Scratch.BASE, Operand.M_POWER, Operand.X, whole, "X * R mod M")]
    factor = Scratch.BASE if multiplication.montgomery else Operand.X
    return [
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
