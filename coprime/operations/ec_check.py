"""EC_CHECK: whether a point is on a short Weierstrass curve, and so a public key of it.

Source: SP 800-56A revision 3, section 5.6.2.3.3: the coordinates are below p, and the equation
holds; the order of the points is a prime, so that there is no more to check. The point at infinity
has no coordinates. EC_MULTIPLY begins with the same.
"""

from coprime.model.curve_points import on_curve
from coprime.program.builder import Builder
from coprime.program.operands import Operand
from coprime.program.steps import Step

from .operation import Input, Machine, Output
from .weierstrass import CURVE, POINT_OF_X, RESULT_IS_X, curve_operation


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    code = Builder()
    code.q.check_modulus()
    code.next_modulus("field_of_checked_point")
    code.p.check_modulus()
    code.call(POINT_OF_X)
    code.rest("it is on the curve")
    code.jump(RESULT_IS_X)
    return [code.steps]


def checked_point(x: int, y: int, a: int, b: int, p: int, n: int) -> int:
    """The same on integers: x. ValueError for a point that is not on the curve."""
    if not on_curve((x, y), a, b, p):
        raise ValueError("the point is not on the curve")
    return x


_READS = frozenset(
    {
        *(Operand.X, Operand.Y, Operand.Q),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER),
    }
)

EC_CHECK = curve_operation(
    name="EC_CHECK",
    code=16,
    doc="Whether the point X is on the short Weierstrass curve Y modulo P.",
    formula="x, if (x, y) is on y² = x³ + a·x + b modulo p",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="coordinate x of the point"),
        Input(name="y", operand=Operand.X, upper=True, meaning="coordinate y of the point"),
        *CURVE,
    ),
    outputs=(Output(name="x", meaning="coordinate x of the point"),),
    result=checked_point,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
