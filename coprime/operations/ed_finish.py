"""ED_FINISH: the number S = r + h a of an EdDSA signature, modulo the order of the base point.

Source: RFC 8032, section 5.1.6; its names are those of the steps' notes, but for a, which is s
there. Before S can be read it is made again of what the host has written, and compared.
"""

from dataclasses import replace

from coprime.program.operands import Context, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, linear, multiply

from .banked import move
from .ed_base_multiply import CURVE, edwards_operation
from .operation import Input, Machine
from .shared_steps import call, check_modulus, descale, reduced
from .weierstrass import ENTER, below, checked, claimed_result, to_form, zero

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    again = "nothing_modulo_p"
    difference = linear(StepKind.SUBTRACT, _ACC, _ACC, Scratch.SUM, _Q, "r + h a - S")
    steps = [
        check_modulus(_P),
        check_modulus(_Q),
        below(Operand.X, _Q),
        below(Operand.E, _Q),
        call(below(Operand.SECRET, _Q), ENTER),
        *_sum(machine),
        zero(Scratch.SUM, Context.WHOLE),
        move(Scratch.SUM, _ACC, _Q),
        linear(StepKind.CHECK_REDUCED, _ACC, _ACC, Operand.Q, _Q, "S < Q?"),
        # Whatever follows is made again of what was given.
        *_sum(machine),
        difference,
        replace(checked(_Q, "r + h a = S?"), next=Next.EACH_MODULUS, target=again),
        replace(zero(_ACC), label=again),
        checked(_P, "nothing is modulo p"),
        # RESIDUE is of X, whose upper half no other number may share until then.
        move(_ACC, Operand.X, _Q),
        move(_ACC, Scratch.X_HIGH, _Q),
        *claimed_result(_Q),
    ]
    return [steps]


def _sum(machine: Machine) -> list[Step]:
    """ACCUMULATOR = r + h a modulo n, canonical. h, which is plain, brings the product out of the
    form."""
    product = multiply(_ACC, _ACC, Operand.E, _Q, "h a, below 2 n")
    return [
        to_form(_ACC, Operand.SECRET, _Q, "a"),
        descale(machine.multiplication, product),
        *reduced(_ACC, _ACC, _Q),
        linear(StepKind.ADD, _ACC, _ACC, Operand.X, _Q, "r + h a"),
        *reduced(_ACC, _ACC, _Q),
    ]


def finished(r: int, h: int, a: int, **curve: int) -> int:
    """The same on integers."""
    return (r + h * a) % curve["n"]


_READS = frozenset(
    {
        # M is there for its length: that of X.
        *(Operand.X, Operand.E, Operand.M, Operand.SECRET),
        *(Operand.P, Operand.P_INVERSE, Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER),
    }
)

ED_FINISH = edwards_operation(
    name="ED_FINISH",
    code=14,
    doc="X + E * SECRET modulo Q: the number S of an EdDSA signature.",
    formula="r + h·a modulo n",
    inputs=(
        Input(name="r", operand=Operand.X, meaning="secret number r of the signature, below n"),
        Input(name="h", operand=Operand.E, meaning="hash h, below n", public=True),
        Input(name="a", operand=Operand.SECRET, meaning="private scalar a, below n"),
        *CURVE[2:],
    ),
    result=finished,
    checks=True,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
