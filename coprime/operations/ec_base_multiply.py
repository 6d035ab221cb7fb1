"""EC_BASE_MULTIPLY: k G on a short Weierstrass curve, both coordinates: the public key of k."""

from coprime.model.curve_points import base_multiple
from coprime.program.builder import Builder
from coprime.program.operands import PAIRS_OF_TABLE, Core, Operand
from coprime.program.steps import Step, StepKind

from .banked import Banked
from .comb import BASE_SCALAR, FIRST, Comb, check_scalar, multiply_base_twice
from .curve_form import WEIERSTRASS, CurveForm
from .encodings.pairs import POINT
from .formulas import NumberPlace
from .operation import Input, Machine
from .weierstrass import (
    BASE_AND_CURVE,
    ENTER,
    FROM_FORM,
    SUM,
    SUM_BELOW,
    CurvePoint,
    claim,
    curve_formula,
    curve_operation,
    enter_field,
)

_ACC = Core.ACCUMULATOR


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    e, code = Operand.E, Builder()
    code.p.check_modulus()
    code.q.check_modulus()
    code.q.check_below(e, e)
    code.q.check_positive(e, "k > 0?")
    code.call(ENTER)
    multiply_base_point(code, machine, WEIERSTRASS)
    return [code.steps]


def multiply_base_point(code: Builder, machine: Machine, form: CurveForm) -> None:
    """k G on a curve of a form, checked; modulo n, where k was."""
    p, q, e, kept = code.p, code.q, Operand.E, Banked.KEPT_SCALAR
    x_1, y_1, z_1 = SUM
    q.move(kept, e)
    q.move(_ACC, e)
    code.call(BASE_SCALAR)
    q.check_positive(Operand.Q, "modulo p")
    code.next_modulus(f"field_of_{form.name}_base_multiple")
    enter_field(code, form=form)
    multiply_base_twice(p, machine, form)
    p.move(_ACC, z_1)
    code.call(form.affine)
    claim(p, x_1, y_1)
    code.next_modulus()
    # Is it k G? It is on the curve, and the first of two multiples.
    q.check_positive(Operand.Q, "modulo n")
    code.call(ENTER)
    code.whole.move(Comb.OLD_SCALAR, e)
    q.move(_ACC, kept)
    check_scalar(q, machine)
    if not machine.hardened:
        q.move(_ACC, Comb.OLD_SCALAR)
    q.check_zero(_ACC, "was E of k?")
    code.next_modulus(f"field_of_{form.name}_result")
    p.check_positive(Operand.P, "modulo p")
    code.call(ENTER)
    _compare_with_first(p)
    code.jump(form.result_on_curve)


def _compare_with_first(code: Builder) -> None:
    """Is the result's x that of the first multiple? Then it is that one, since it is on the curve:
    no single fault makes its negative."""
    x, z = FIRST
    claimed, z_1 = CurvePoint.CLAIMED_0, SUM[2]
    places = {
        "X": NumberPlace(x, below=SUM_BELOW),
        "Z": NumberPlace(z_1, below=SUM_BELOW),
        "x": NumberPlace(right=claimed, below=2),
    }
    code.move(_ACC, Operand.P_POWER)
    code.multiply(claimed, _ACC, Core.SUM, "x in Montgomery form")
    code.move(z_1, z)
    code.include(curve_formula("u=Z*x d=u-X", places, {"d": NumberPlace(_ACC)}))
    code.call(FROM_FORM)
    code.do(StepKind.CHECK_SUM, "is k G the same?", x=_ACC, y=_ACC)


_READS = frozenset(
    {
        *(Operand.Y, Operand.E, Operand.M, *PAIRS_OF_TABLE),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP),
        *(Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER),
    }
)

EC_BASE_MULTIPLY = curve_operation(
    name="EC_BASE_MULTIPLY",
    code=11,
    doc="E times the base point of TABLE on the short Weierstrass curve Y modulo P.",
    formula="k · (gx, gy) on y² = x³ + a·x + b modulo p",
    inputs=(
        Input(name="k", operand=Operand.E, meaning="scalar k"),
        *BASE_AND_CURVE,
    ),
    outputs=POINT,
    has_comb=True,
    result=base_multiple,
    checks=True,
    blinds=True,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
