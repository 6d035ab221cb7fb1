"""ED_FINISH: the number S = r + h a of an EdDSA signature, modulo the order of the base point.

Source: RFC 8032, section 5.1.6; its names are those of the steps' notes, but for a, which is s
there. Before S can be read it is checked with what the host has written.
"""

from coprime.program.builder import Builder
from coprime.program.operands import Core, Operand, UpperHalf
from coprime.program.steps import Step, StepKind

from .banked import Banked
from .ed_base_multiply import CURVE, edwards_operation
from .operation import Input, Machine, Output
from .weierstrass import ENTER, FROM_FORM, CurvePoint, to_form

_ACC, _HASH, _PRODUCT = Core.ACCUMULATOR, Banked.TERM, CurvePoint.CLAIMED_0


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    scaled = machine.multiplication.scaled
    code = Builder()
    p, q, whole = code.p, code.q, code.whole
    p.check_modulus()
    q.check_modulus()
    for number in (Operand.X, UpperHalf.X_HIGH, Operand.SECRET):
        q.check_below(number, number)
    code.call(ENTER)
    to_form(q, _ACC, Operand.SECRET, "a")
    q.move(_HASH, UpperHalf.X_HIGH)
    # h is plain, and brings the product out of the form.
    q.multiply(_ACC, _ACC, _HASH, "h a, below 2 n", descale=scaled)
    q.reduce(_ACC, _ACC)
    q.add(_ACC, _ACC, Operand.X, "r + h a")
    q.reduce(_ACC, _ACC)
    whole.zero(Core.SUM)
    q.move(Core.SUM, _ACC)
    # A copy that is made before the check: what happens to SUM until then is in both. The upper
    # half of the result is no copy, so that both are 0.
    whole.zero(Core.RESULT)
    q.move(Core.RESULT, Core.SUM)
    q.linear(StepKind.CHECK_REDUCED, _ACC, _ACC, Operand.Q, "S < Q?")
    # Whatever follows is made again of what was given; RESIDUE is of r and h.
    q.move(_ACC, Operand.X)
    _compare(q)
    q.check_zero(_ACC, "S - h a = r?")
    code.next_modulus("nothing_modulo_p")
    # Proof asks all operations for a check modulo each prime; modulo P there is nothing here.
    p.zero(_ACC)
    p.check_zero(_ACC, "nothing is modulo p")
    code.finish()
    return [code.steps]


def _compare(code: Builder) -> None:
    """ACCUMULATOR = S - h a, canonical, less r.

    r is not multiplied here, nor is it where S is made: a multiplier that fails cannot make both 0.
    All constants are brought again: what is wrong with those of S is in S only.
    """
    code.move(_HASH, UpperHalf.X_HIGH)
    code.call(ENTER)
    to_form(code, _ACC, Operand.SECRET, "a")
    code.multiply(_ACC, _ACC, _HASH, "h a")
    to_form(code, _PRODUCT, _ACC, "h a")
    code.multiply(_ACC, Operand.Q_POWER, Core.SUM, "S in Montgomery form")
    code.subtract(_ACC, _ACC, _PRODUCT, "S - h a in Montgomery form", times_modulus=4)
    code.call(FROM_FORM)
    code.subtract(_ACC, _ACC, Operand.X, "S - h a - r")


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
        Input(
            name="r",
            operand=Operand.X,
            meaning="secret number r of the signature, below n",
            is_nonce=True,
        ),
        Input(name="h", operand=Operand.X, upper=True, meaning="hash h, below n"),
        Input(name="a", operand=Operand.SECRET, meaning="private scalar a, below n"),
        *CURVE[2:],
    ),
    outputs=(Output(name="s", meaning="number S of the signature"),),
    result=finished,
    checks=True,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
