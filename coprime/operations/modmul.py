"""MODMUL: X * Y mod M."""

from coprime.program.builder import Builder
from coprime.program.operands import Core, Mode, Operand
from coprime.program.steps import Step

from .banked import REDUCE_ONCE, enter_whole, finish_canonical
from .encodings.modular import Modular
from .operation import Input, Machine, Operation, Output
from .shared_steps import (
    REDUCE,
    REDUCE_BELOW_3M,
    check_normalized,
    finish_with_product,
    prepare,
)

_ACC = Core.ACCUMULATOR


def modmul(machine: Machine) -> list[list[Step]]:
    """Bring X into Montgomery form, if there is one; the product with Y leaves it again."""
    multiplication = machine.multiplication
    code = Builder()
    code.check_modulus()
    code.check_below(Operand.X)
    code.check_below(Operand.Y)
    check_normalized(code, multiplication)
    prepare(code, multiplication)
    if multiplication.montgomery:
        code.multiply(Core.BASE, Operand.M_POWER, Operand.X, "X * R mod M")
    factor = Core.BASE if multiplication.montgomery else Operand.X
    code.multiply(Mode.NEXT, factor, Operand.Y, "X * Y mod M")
    finish_with_product(code, multiplication, REDUCE_BELOW_3M if multiplication.scaled else REDUCE)
    return [code.steps]


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """X * Y mod M on the leading lane."""
    scaled = machine.multiplication.scaled
    code = Builder()
    code.check_modulus()
    code.check_below(Operand.X)
    enter_whole(code, machine.multiplication)
    code.check_below(Operand.Y)
    code.multiply(_ACC, _ACC, Operand.Y, "X * Y mod M, below 3M", descale=scaled)
    code.call(REDUCE_ONCE)
    finish_canonical(code)
    return [code.steps]


MODMUL = Operation(
    name="MODMUL",
    code=1,
    doc="X * Y mod M.",
    encoding_of=Modular,
    formula="x · y mod m",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="first factor"),
        Input(name="y", operand=Operand.Y, meaning="second factor"),
        Input(name="m", operand=Operand.M, meaning="modulus"),
    ),
    outputs=(Output(name="product", meaning="the product modulo m"),),
    is_product=True,
    result=lambda x, y, m: x * y % m,
    lanes=modmul,
    banked=on_two_banks,
)
