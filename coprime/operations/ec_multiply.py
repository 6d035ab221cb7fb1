"""EC_MULTIPLY: k P on a short Weierstrass curve, both coordinates: ECDH on P-256 and its like."""

from dataclasses import replace

from coprime.model.curve_points import multiple
from coprime.program.operands import Context, Operand, Scratch
from coprime.program.steps import Next, Step

from .banked import move
from .operation import Input, Machine
from .shared_steps import call, check_modulus
from .weierstrass import (
    AFFINE,
    CURVE,
    MULTIPLY,
    SUM,
    below,
    curve_operation,
    enter_point,
    lengthen,
    on_field,
    pair_result,
    positive,
)

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    e, point, field = Operand.E, (Operand.X, Scratch.X_HIGH), "field_of_point"
    *lengthened, last = lengthen()
    *entered, on_curve = enter_point(*point)
    x_1, y_1, z_1 = SUM
    steps = [
        check_modulus(_P),
        check_modulus(_Q),
        below(e, _Q),
        positive(e, _Q, "k > 0?"),
        move(_ACC, e, _Q),
        *lengthened,
        replace(last, next=Next.EACH_MODULUS, target=field),
        *on_field(point, field),
        *entered,
        call(on_curve, MULTIPLY),
        call(move(_ACC, z_1, _P), AFFINE),
        *pair_result(x_1, y_1, _P),
    ]
    return [steps]


_READS = frozenset(
    {
        *(Operand.X, Operand.Y, Operand.E),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP, Operand.Q, Operand.M),
    }
)

EC_MULTIPLY = curve_operation(
    name="EC_MULTIPLY",
    code=8,
    doc="E times the point X on the short Weierstrass curve Y modulo P, whose points have order Q.",
    formula="k · (x, y) on y² = x³ + a·x + b modulo p",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="coordinate x of the point"),
        Input(name="y", operand=Operand.X, upper=True, meaning="coordinate y of the point"),
        Input(name="k", operand=Operand.E, meaning="scalar k"),
        *CURVE,
    ),
    result=multiple,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
