"""EC_BASE_MULTIPLY: k G on a short Weierstrass curve, both coordinates: the public key of k."""

from dataclasses import replace

from coprime.model.curve_points import base_multiple
from coprime.program.operands import TABLE, Context, Operand, Scratch
from coprime.program.steps import Next, Step

from .banked import move
from .comb import BASE_SCALAR, multiply_base
from .operation import Input, Machine
from .shared_steps import call, check_modulus
from .weierstrass import (
    AFFINE,
    BASE_AND_CURVE,
    ENTER,
    SUM,
    below,
    curve_operation,
    on_field,
    pair_result,
    positive,
)

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    e, field = Operand.E, "field_of_base_multiple"
    x_1, y_1, z_1 = SUM
    steps = [
        check_modulus(_P),
        check_modulus(_Q),
        below(e, _Q),
        call(positive(e, _Q, "k > 0?"), ENTER),
        call(move(_ACC, e, _Q), BASE_SCALAR),
        replace(positive(Operand.Q, _Q, "modulo p"), next=Next.EACH_MODULUS, target=field),
        *on_field((), field),
        multiply_base(Scratch.ONE_FORM),
        call(move(_ACC, z_1, _P), AFFINE),
        *pair_result(x_1, y_1, _P),
    ]
    return [steps]


_READS = frozenset(
    {
        *(Operand.Y, Operand.E, Operand.M, *TABLE),
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
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
