"""EC_BASE_MULTIPLY: k G on a short Weierstrass curve, both coordinates: the public key of k."""

from dataclasses import replace

from coprime.model.curve_points import base_multiple
from coprime.program.operands import PAIRS_OF_TABLE, Context, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, multiply

from .banked import move
from .comb import BASE_SCALAR, FIRST, check_scalar, multiples_of_base
from .curve_form import WEIERSTRASS, CurveForm
from .formulas import NumberPlace
from .operation import Input, Machine
from .shared_steps import call, check_modulus, jump
from .weierstrass import (
    BASE_AND_CURVE,
    ENTER,
    FROM_FORM,
    SUM,
    SUM_BELOW,
    below,
    checked,
    claim,
    curve_formula,
    curve_operation,
    on_field,
    positive,
)

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    e = Operand.E
    in_range = [below(e, _Q), call(positive(e, _Q, "k > 0?"), ENTER)]
    return [multiple_of_base(machine, WEIERSTRASS, in_range)]


def multiple_of_base(machine: Machine, form: CurveForm, in_range: list[Step]) -> list[Step]:
    """k G on a curve of a form; the steps check k, and are modulo n from the last one on."""
    e, kept = Operand.E, Scratch.KEPT_SCALAR
    field = f"field_of_{form.name}_base_multiple"
    x_1, y_1, z_1 = SUM
    modulo_p = positive(Operand.Q, _Q, "modulo p")
    *claimed, reduced = claim(x_1, y_1, _P)
    return [
        check_modulus(_P),
        check_modulus(_Q),
        *in_range,
        move(kept, e, _Q),
        call(move(_ACC, e, _Q), BASE_SCALAR),
        replace(modulo_p, next=Next.EACH_MODULUS, target=field),
        *on_field((), field, form),
        *multiples_of_base(machine, form),
        call(move(_ACC, z_1, _P), form.affine),
        *claimed,
        replace(reduced, next=Next.EACH_MODULUS),
        *_check(machine, form),
    ]


def _check(machine: Machine, form: CurveForm) -> list[Step]:
    """Is it k G? It is on the curve, and the first of two multiples."""
    again = f"field_of_{form.name}_result"
    *same, last = _same()
    return [
        call(positive(Operand.Q, _Q, "modulo n"), ENTER),
        *check_scalar(machine, [move(_ACC, Scratch.KEPT_SCALAR, _Q)]),
        *([] if machine.hardened else [move(_ACC, Scratch.OLD_SCALAR, _Q)]),
        replace(checked(_Q, "was E of k?"), next=Next.EACH_MODULUS, target=again),
        replace(call(positive(Operand.P, _P, "modulo p"), ENTER), label=again),
        *same,
        jump(last, form.result_on_curve),
    ]


def _same() -> list[Step]:
    """Is the result's x that of the first multiple? Then it is that one, since it is on the curve:
    no single fault makes its negative."""
    x, z = FIRST
    claimed, z_1 = Scratch.CLAIMED_0, SUM[2]
    places = {
        "X": NumberPlace(x, below=SUM_BELOW),
        "Z": NumberPlace(z_1, below=SUM_BELOW),
        "x": NumberPlace(right=claimed, below=2),
    }
    *compared, last = curve_formula("u=Z*x d=u-X", places, {"d": NumberPlace(_ACC)})
    return [
        move(_ACC, Operand.P_POWER, _P),
        multiply(claimed, _ACC, Scratch.SUM, _P, "x in Montgomery form"),
        move(z_1, z, _P),
        *compared,
        call(last, FROM_FORM),
        Step(kind=StepKind.CHECK_SUM, x=_ACC, y=_ACC, modulus=_P, note="is k G the same?"),
    ]


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
    result=base_multiple,
    checks=True,
    blinds=True,
    gives_point=True,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
