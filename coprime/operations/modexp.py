"""MODEXP: X ^ E mod M, the direct exponentiation without CRT."""

from coprime.exponentiators.right_to_left import multiplies_on_two, squares_on_two
from coprime.program.builder import Builder
from coprime.program.operands import Core, Entry, Mode, Operand
from coprime.program.steps import Step

from .banked import POWER, after_power, enter_whole, fill_table, finish_canonical
from .encodings.modular import Modular
from .operation import Input, Machine, Operation, Output
from .shared_steps import check_normalized, finish_with_product, prepare

_ACC = Core.ACCUMULATOR


def modexp(machine: Machine) -> list[list[Step]]:
    """One exponentiation with the whole modulus, on one lane or on two.

    Of two that are `interleaved` on one multiplier the first one works alone, as taking turns would
    gain nothing.
    """
    multiplication, alone = machine.multiplication, machine.exponentiation
    one_lane = machine.lanes == 1 or multiplication.interleaved
    code, second = Builder(), Builder()
    code.check_modulus()
    code.check_below(Operand.X)
    check_normalized(code, multiplication)
    if one_lane:
        alone.check(code)
    else:
        code.barrier()
    prepare(code, multiplication)
    (alone.power if one_lane else multiplies_on_two)(code)
    finish_with_product(code, multiplication)
    if one_lane:
        return [code.steps]
    second.barrier()
    prepare(second, multiplication)
    squares_on_two(second)
    second.finish()
    return [code.steps, second.steps]


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """X ^ E mod M on the leading lane: X enters, its powers fill the table, 1 is the first C."""
    overlaps = machine.multiplication.overlaps
    base, one = (Core.BASE, Entry.T_0) if overlaps else (None, _ACC)
    code = Builder()
    code.check_modulus()
    code.check_below(Operand.X)
    enter_whole(code, machine.multiplication)
    code.move(Mode.WINDOW, _ACC)
    if base:
        code.move(base, _ACC)
    fill_table(code, base)
    code.move(_ACC, Operand.M_POWER)
    code.multiply(one, _ACC, Mode.ONE, f"{one.name} = 1")
    code.call(POWER)
    after_power(code, machine)
    finish_canonical(code)
    return [code.steps]


MODEXP = Operation(
    name="MODEXP",
    code=2,
    doc="X ** E mod M.",
    encoding_of=Modular,
    formula="x^e mod m",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="base"),
        Input(name="e", operand=Operand.E, meaning="exponent"),
        Input(name="m", operand=Operand.M, meaning="modulus"),
    ),
    outputs=(Output(name="power", meaning="the power modulo m"),),
    result=lambda x, e, m: pow(x, e, m),
    lanes=modexp,
    banked=on_two_banks,
)
