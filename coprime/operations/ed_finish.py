"""ED_FINISH: the number S = r + h a of an EdDSA signature, modulo the order of the base point.

Source: RFC 8032, section 5.1.6; its names are those of the steps' notes, but for a, which is s
there. Before S can be read it is checked with what the host has written.
"""

from dataclasses import replace

from coprime.program.operands import Context, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, linear, multiply

from .banked import move
from .ed_base_multiply import CURVE, edwards_operation
from .operation import Input, Machine
from .shared_steps import call, check_modulus, descale, jump, reduced
from .weierstrass import ENTER, FROM_FORM, below, checked, to_form, zero

_ACC, _HASH, _PRODUCT = Scratch.ACCUMULATOR, Scratch.TERM, Scratch.CLAIMED_0
_P, _Q = Context.P, Context.Q


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    again = "nothing_modulo_p"
    product = multiply(_ACC, _ACC, _HASH, _Q, "h a, below 2 n")
    steps = [
        check_modulus(_P),
        check_modulus(_Q),
        below(Operand.X, _Q),
        below(Scratch.X_HIGH, _Q),
        call(below(Operand.SECRET, _Q), ENTER),
        to_form(_ACC, Operand.SECRET, _Q, "a"),
        move(_HASH, Scratch.X_HIGH, _Q),
        # h is plain, and brings the product out of the form.
        descale(machine.multiplication, product),
        *reduced(_ACC, _ACC, _Q),
        linear(StepKind.ADD, _ACC, _ACC, Operand.X, _Q, "r + h a"),
        *reduced(_ACC, _ACC, _Q),
    ]
    check = [
        zero(Scratch.SUM, Context.WHOLE),
        move(Scratch.SUM, _ACC, _Q),
        # A copy that is made before the check: what happens to SUM until then is in both. The upper
        # half of the result is no copy, so that both are 0.
        zero(Scratch.RESULT, Context.WHOLE),
        move(Scratch.RESULT, Scratch.SUM, _Q),
        linear(StepKind.CHECK_REDUCED, _ACC, _ACC, Operand.Q, _Q, "S < Q?"),
        # Whatever follows is made again of what was given; RESIDUE is of r and h.
        move(_ACC, Operand.X, _Q),
        *_check_s(),
        replace(checked(_Q, "S - h a = r?"), next=Next.EACH_MODULUS, target=again),
        # Proof asks all operations for a check modulo each prime; modulo P there is nothing here.
        replace(zero(_ACC), label=again),
        jump(checked(_P, "nothing is modulo p"), ""),
    ]
    return [[*steps, *check]]


def _check_s() -> list[Step]:
    """ACCUMULATOR = S - h a, canonical, less r.

    r is not multiplied here, nor is it where S is made: a multiplier that fails cannot make both 0.
    All constants are brought again: what is wrong with those of S is in S only.
    """
    in_form = linear(StepKind.SUBTRACT, _ACC, _ACC, _PRODUCT, _Q, "S - h a in Montgomery form")
    return [
        call(move(_HASH, Scratch.X_HIGH, _Q), ENTER),
        to_form(_ACC, Operand.SECRET, _Q, "a"),
        multiply(_ACC, _ACC, _HASH, _Q, "h a"),
        to_form(_PRODUCT, _ACC, _Q, "h a"),
        multiply(_ACC, Operand.Q_POWER, Scratch.SUM, _Q, "S in Montgomery form"),
        call(replace(in_form, times_modulus=4), FROM_FORM),
        linear(StepKind.SUBTRACT, _ACC, _ACC, Operand.X, _Q, "S - h a - r"),
    ]


def finished(r: int, h: int, a: int, **curve: int) -> int:
    """The same on integers."""
    return (r + h * a) % curve["n"]


_READS = frozenset(
    {
        # M is there for its length: that of X.
        *(Operand.X, Operand.M, Operand.SECRET),
        *(Operand.P, Operand.P_INVERSE, Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER),
    }
)

ED_FINISH = edwards_operation(
    name="ED_FINISH",
    code=14,
    doc="S of an EdDSA signature: the halves of X and SECRET, r + h * SECRET modulo Q.",
    formula="r + h·a modulo n",
    inputs=(
        Input(name="r", operand=Operand.X, meaning="secret number r of the signature, below n"),
        Input(name="h", operand=Operand.X, upper=True, meaning="hash h, below n"),
        Input(name="a", operand=Operand.SECRET, meaning="private scalar a, below n"),
        *CURVE[2:],
    ),
    result=finished,
    checks=True,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
