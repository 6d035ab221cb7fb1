"""MODEXP2: X ^ E * Y ^ F mod M, two powers whose squarings are shared.

Source: Straus (1964), known as Shamir's trick since ElGamal (1985). E and F lie in one operand, bit
for bit: bit 2k is bit k of E, and bit 2k + 1 is bit k of F. So each may have half as many bits as
the longest modulus. What differs: a pair of zeros is multiplied by 1, or the product is not
written, so that the cycles depend on the exponents' length and nothing else.
"""

from coprime.exponentiators.loop import LEAVE_FORM
from coprime.exponentiators.table import enter
from coprime.program.builder import Builder
from coprime.program.operands import Core, Entry, Mode, Operand, Reference
from coprime.program.steps import Step, StepKind

from .banked import finish_canonical, leave, prepare_banked
from .encodings.modular import Modular
from .operation import Input, Machine, Operation, Output
from .shared_steps import check_normalized, finish_with_product, prepare

_ACC, _PAIR = Core.ACCUMULATOR, "pair"
_X, _Y, _PRODUCT, _ONE = Core.BASE, Core.PART, Operand.X, Core.RESULT
"""Where the four factors lie on lanes of one memory. X is used up by then, and there is no RESULT
before the end."""


def on_one_memory(machine: Machine) -> list[list[Step]]:
    """On the leading lane: the two bits of a pair choose one of four factors, by branches.

    Each way through the branches takes the same steps.
    """
    multiplication = machine.multiplication
    code = Builder()
    code.check_modulus()
    code.check_below(Operand.X)
    code.check_below(Operand.Y)
    check_normalized(code, multiplication)
    prepare(code, multiplication)
    enter(code, _X, Operand.X)
    enter(code, _Y, Operand.Y)
    code.multiply(_PRODUCT, _X, _Y, "X * Y")
    enter(code, _ONE, Mode.ONE)
    enter(code, Mode.NEXT, Mode.ONE)
    code.scan(StepKind.SCAN_WINDOWS, "from the highest bit of F")
    with code.each_bit("square_pair"):
        code.times(_ACC, "C = C * C")
        _if_one(code, otherwise="without_f")
        _to_e(code, "with_f")
        _if_one(code, otherwise="only_f")
        _factor(code, _PRODUCT, "C = C * X * Y, where E_i = F_i = 1")
        code.label("only_f")
        _factor(code, _Y, "C = C * Y, where F_i = 1")
        code.label("without_f")
        _to_e(code, "without_f_e")
        _if_one(code, otherwise="neither")
        _factor(code, _X, "C = C * X, where E_i = 1")
        code.label("neither")
        _factor(code, _ONE, "C = C * 1, where E_i = F_i = 0")
        code.label("next")
        code.rest()
    code.times(Mode.ONE, LEAVE_FORM)
    finish_with_product(code, multiplication)
    return [code.steps]


def _if_one(code: Builder, otherwise: str) -> None:
    code.do(StepKind.BRANCH, "the bit = 1?", target=otherwise)


def _to_e(code: Builder, label: str) -> None:
    """On from the bit of F to that of E, which is there always."""
    code.rest("on to the bit of E")
    code.next_bit(label)
    code.label(label)


def _factor(code: Builder, place: Reference, note: str) -> None:
    code.times(place, note)
    code.jump("next")


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane: a window of two bits is a pair, and selects X, Y or X * Y in the table.

    The entries are made in the order of the window, which only counts upwards; T_3 is Y at first.
    """
    multiplication, overlaps = machine.multiplication, machine.multiplication.overlaps
    x, y, power = Operand.X, Operand.Y, Operand.M_POWER
    code = Builder()
    code.check_modulus()
    code.check_below(x)
    code.check_below(y)
    prepare_banked(code, multiplication)
    code.multiply(_ACC, x, power, "X * R mod M")
    code.move(Mode.WINDOW, _ACC)
    code.move(_ACC, power)
    code.multiply(Mode.ENTRY, _ACC, y, "T_2, T_3 = Y * R mod M")
    code.each_entry()
    code.multiply(_ACC, x, power, "X * R mod M")
    code.multiply(_ACC, _ACC, y, "X * Y mod M")
    code.multiply(_ACC, _ACC, power, "X * Y * R mod M")
    code.move(Mode.WINDOW, _ACC)
    code.move(_ACC, power)
    code.multiply(Entry.T_0 if overlaps else _ACC, _ACC, Mode.ONE, "C = 1")
    code.scan(StepKind.SCAN_WINDOWS, "from the highest bit of F")
    if overlaps:  # C = T_window for the highest pair: the table has T_0
        code.rest("both bits of the highest pair")
        code.if_window()
        code.move(_ACC, Mode.WINDOW)
        code.next_bit(_PAIR)
        code.rest()
        code.jump("leave_pair")
    with code.each_bit(_PAIR):
        code.rest("both bits")
        code.if_window()
        code.times(_ACC, "C = C * C", _ACC)
        code.times(Mode.WINDOW, "C = C * T_window", _ACC)
    code.label("leave_pair")
    leave(code, multiplication, _ACC)
    finish_canonical(code)
    return [code.steps]


MODEXP2 = Operation(
    name="MODEXP2",
    code=6,
    doc="X ** E * Y ** F mod M: the operand E has E in its even bits and F in its odd ones.",
    encoding_of=Modular,
    formula="x^e · y^f mod m",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="first base"),
        Input(name="e", operand=Operand.E, meaning="first exponent", stride=2, offset=0),
        Input(name="y", operand=Operand.Y, meaning="second base"),
        Input(name="f", operand=Operand.E, meaning="second exponent", stride=2, offset=1),
        Input(name="m", operand=Operand.M, meaning="modulus"),
    ),
    outputs=(Output(name="product", meaning="the product of both powers modulo m"),),
    result=lambda x, e, y, f, m: pow(x, e, m) * pow(y, f, m) % m,
    optional=True,
    lanes=on_one_memory,
    banked=on_two_banks,
)
