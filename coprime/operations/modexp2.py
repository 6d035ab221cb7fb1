"""MODEXP2: X ^ E * Y ^ F mod M, two powers whose squarings are shared.

Source: Straus (1964), known as Shamir's trick since ElGamal (1985). E and F lie in one operand, bit
for bit: bit 2k is bit k of E, and bit 2k + 1 is bit k of F. So each may have half as many bits as
the longest modulus. What differs: a pair of zeros is multiplied by 1, or the product is not
written, so that the cycles depend on the exponents' length and nothing else.
"""

from dataclasses import replace

from coprime.exponentiators.table import enter
from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.steps import PASS, Next, Step, StepKind, multiply, scan, times

from .banked import canonical_result, ending, move, prepare_banked
from .operation import Input, Machine, Operation
from .shared_steps import (
    check_below_modulus,
    check_modulus,
    check_normalized,
    descale,
    finish_with,
    jump,
    prepare,
)

_ACC, _WHOLE = Scratch.ACCUMULATOR, Context.WHOLE
_PAIR, _SQUARE, _LEAVE = "pair", "square_pair", "leave_pair"
_WITH_F, _ONLY_F, _WITHOUT_F, _NEITHER, _NEXT = "with_f", "only_f", "without_f", "neither", "next"
"""Labels."""
_X, _Y, _PRODUCT, _ONE = Scratch.BASE, Scratch.PART, Operand.X, Scratch.RESULT
"""Where the four factors lie on lanes of one memory. X is used up by then, and there is no RESULT
before the end."""


def on_one_memory(machine: Machine) -> list[list[Step]]:
    """On the leading lane: the two bits of a pair choose one of four factors, by branches.

    Each way through the branches takes the same steps.
    """
    multiplication = machine.multiplication
    leave = times(Mode.ONE, _WHOLE, "C = C * 1, out of Montgomery form")
    return [
        [
            check_modulus(_WHOLE),
            check_below_modulus(Operand.X),
            check_below_modulus(Operand.Y),
            *check_normalized(multiplication, _WHOLE),
            *prepare(multiplication, _WHOLE),
            enter(_WHOLE, _X, Operand.X),
            enter(_WHOLE, _Y, Operand.Y),
            multiply(_PRODUCT, _X, _Y, _WHOLE, "X * Y"),
            enter(_WHOLE, _ONE, Mode.ONE),
            enter(_WHOLE, Mode.NEXT, Mode.ONE),
            scan(StepKind.SCAN_WINDOWS, _WHOLE, "from the highest bit of F"),
            times(_ACC, _WHOLE, "C = C * C", label=_SQUARE),
            _branch(_WITHOUT_F),
            _to_e(_WITH_F),
            replace(_branch(_ONLY_F), label=_WITH_F),
            _factor(_PRODUCT, "C = C * X * Y, where E_i = F_i = 1"),
            _factor(_Y, "C = C * Y, where F_i = 1", _ONLY_F),
            replace(_to_e(_WITHOUT_F + "_e"), label=_WITHOUT_F),
            replace(_branch(_NEITHER), label=_WITHOUT_F + "_e"),
            _factor(_X, "C = C * X, where E_i = 1"),
            _factor(_ONE, "C = C * 1, where E_i = F_i = 0", _NEITHER),
            replace(PASS, next=Next.NEXT_BIT, target=_SQUARE, label=_NEXT),
            finish_with(multiplication, leave),
        ]
    ]


def _branch(target: str) -> Step:
    return Step(kind=StepKind.BRANCH, note="the bit = 1?", target=target)


def _to_e(target: str) -> Step:
    """On from the bit of F to that of E, which is there always."""
    return replace(PASS, next=Next.NEXT_BIT, target=target, note="on to the bit of E")


def _factor(place: Reference, note: str, label: str = "") -> Step:
    return times(place, _WHOLE, note, next=Next.JUMP, target=_NEXT, label=label)


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane: a window of two bits is a pair, and selects X, Y or X * Y in the table.

    The entries are made in the order of the window, which only counts upwards; T_3 is Y at first.
    """
    multiplication = machine.multiplication
    one = multiply(_ACC, _ACC, Mode.ONE, _WHOLE, "C = 1")
    enters_x = multiply(_ACC, Operand.X, Operand.M_POWER, _WHOLE, "X * R mod M")
    leave = times(Mode.ONE, _WHOLE, "C = C * 1, out of Montgomery form", into=_ACC, label=_LEAVE)
    return [
        [
            check_modulus(_WHOLE),
            check_below_modulus(Operand.X),
            check_below_modulus(Operand.Y),
            *prepare_banked(multiplication, _WHOLE),
            enters_x,
            move(Mode.WINDOW, _ACC, _WHOLE),
            move(_ACC, Operand.M_POWER, _WHOLE),
            multiply(
                Mode.ENTRY, _ACC, Operand.Y, _WHOLE, "T_2, T_3 = Y * R mod M", next=Next.EACH_ENTRY
            ),
            enters_x,
            multiply(_ACC, _ACC, Operand.Y, _WHOLE, "X * Y mod M"),
            multiply(_ACC, _ACC, Operand.M_POWER, _WHOLE, "X * Y * R mod M"),
            move(Mode.WINDOW, _ACC, _WHOLE),
            move(_ACC, Operand.M_POWER, _WHOLE),
            replace(one, destination=Scratch.T_0) if multiplication.overlaps else one,
            scan(StepKind.SCAN_WINDOWS, _WHOLE, "from the highest bit of F"),
            *(_first_pair() if multiplication.overlaps else []),
            replace(PASS, modulus=_WHOLE, next=Next.IF_WINDOW, label=_PAIR, note="both bits"),
            times(_ACC, _WHOLE, "C = C * C", into=_ACC),
            times(
                Mode.WINDOW, _WHOLE, "C = C * T_window", into=_ACC, next=Next.NEXT_BIT, target=_PAIR
            ),
            descale(multiplication, leave),
            *ending(canonical_result()),
        ]
    ]


def _first_pair() -> list[Step]:
    """C = T_window for the highest pair, where products overlap and the table has T_0."""
    return [
        replace(PASS, modulus=_WHOLE, next=Next.IF_WINDOW, note="both bits of the highest pair"),
        replace(move(_ACC, Mode.WINDOW, _WHOLE), next=Next.NEXT_BIT, target=_PAIR),
        jump(PASS, _LEAVE),
    ]


MODEXP2 = Operation(
    name="MODEXP2",
    code=6,
    doc="X ** E * Y ** F mod M: the operand E has E in its even bits and F in its odd ones.",
    formula="x^e · y^f mod m",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="first base"),
        Input(name="e", operand=Operand.E, meaning="first exponent", stride=2, offset=0),
        Input(name="y", operand=Operand.Y, meaning="second base"),
        Input(name="f", operand=Operand.E, meaning="second exponent", stride=2, offset=1),
        Input(name="m", operand=Operand.M, meaning="modulus"),
    ),
    result=lambda x, e, y, f, m: pow(x, e, m) * pow(y, f, m) % m,
    optional=True,
    lanes=on_one_memory,
    banked=on_two_banks,
)
