"""ECDSA_VERIFY: whether r and s are a signature on a short Weierstrass curve.

Source: FIPS 186-5, section 6.4.2; its names are those of the steps' notes. All numbers are public.
The result is r; of a wrong signature there is an error.
"""

from coprime.model.curve_points import verified
from coprime.program.builder import Builder
from coprime.program.operands import PAIRS_OF_TABLE, Core, Operand, UpperHalf
from coprime.program.steps import Step, StepKind

from .banked import Banked
from .comb import BASE_SCALAR, multiply_base
from .ecdsa_routines import IS_R, EcdsaNumber
from .operation import Input, Machine, Output
from .weierstrass import (
    BASE_AND_CURVE,
    ENTER,
    FROM_FORM,
    INVERT_BY_BITS,
    MULTIPLY,
    RESULT_IS_X,
    SUM,
    CurvePoint,
    add_point,
    check_point,
    curve_operation,
    enter_field,
    enter_point,
    plain_product,
    to_form,
)

_ACC, _INVERSE, _U_2 = Core.ACCUMULATOR, EcdsaNumber.INVERSE, EcdsaNumber.FACTOR_2
_KEPT = (CurvePoint.X_KEPT, CurvePoint.Y_KEPT, CurvePoint.Z_KEPT)


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    code = Builder()
    code.p.check_modulus()
    code.q.check_modulus()
    _find_factors(code.q)
    code.q.check_positive(Operand.Q, "modulo p")
    code.next_modulus("field_of_points")
    enter_field(code, Operand.POINT, UpperHalf.POINT_HIGH)
    _add_multiples(code.p)
    _compare(code.p)
    return [code.steps]


def _find_factors(code: Builder) -> None:
    """u_1 = z / s, as a comb scans it, in E, and u_2 = r / s, modulo n."""
    r, s, z = Operand.X, UpperHalf.X_HIGH, Operand.E
    code.check_below(r, r)
    code.check_positive(r, "r > 0?")
    code.check_below(s, s)
    code.check_positive(s, "s > 0?")
    code.check_below(z, z)
    code.call(ENTER)
    to_form(code, _ACC, s, "s")
    code.call(INVERT_BY_BITS)
    code.move(_INVERSE, Banked.TERM)
    to_form(code, _ACC, r, "r")
    plain_product(code, _ACC, _INVERSE, "r / s")
    code.move(_U_2, _ACC)
    code.move(_ACC, Operand.Q_POWER)
    code.multiply(_ACC, _ACC, z, "z in Montgomery form")
    plain_product(code, _ACC, _INVERSE, "z / s")
    code.move(_ACC, _ACC)
    code.call(BASE_SCALAR)


def _add_multiples(code: Builder) -> None:
    """X_1 : Y_1 : Z_1 = u_1 G + u_2 * the public key, which is not the point at infinity."""
    multiply_base(code, Banked.ONE_FORM)
    for to, coordinate in zip(_KEPT, SUM, strict=True):
        code.move(to, coordinate)
    code.whole.zero(Operand.E)
    code.q.add(Operand.E, _U_2, Operand.Q, "u_2 + n")
    enter_point(code, Operand.POINT, UpperHalf.POINT_HIGH)
    check_point(code)
    code.call(MULTIPLY)
    add_point(code, _KEPT)
    code.move(_ACC, CurvePoint.Z_1)
    code.call(FROM_FORM)
    code.do(StepKind.CHECK_FINITE, "is the sum not O?", x=_ACC, y=_ACC)


def _compare(code: Builder) -> None:
    """Is r the coordinate x of the sum modulo n?"""
    code.check_below(Operand.X, Operand.X)
    code.q.move(EcdsaNumber.SIGNATURE_R, Operand.X)
    code.call(IS_R)
    code.do(StepKind.CHECK_SIGNATURE, "is r of the sum?", y=_ACC)
    code.jump(RESULT_IS_X)


_READS = frozenset(
    {
        *(Operand.X, Operand.Y, Operand.M, Operand.E, Operand.POINT, *PAIRS_OF_TABLE),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP),
        *(Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER, Operand.DQ),
    }
)

ECDSA_VERIFY = curve_operation(
    name="ECDSA_VERIFY",
    code=10,
    doc="Whether X is a signature of the hash E with the public key POINT; TABLE_0 is G.",
    formula="r, if it is x of (z/s) · (gx, gy) + (r/s) · (x, y) modulo n",
    inputs=(
        Input(name="r", operand=Operand.X, meaning="number r of the signature"),
        Input(name="s", operand=Operand.X, upper=True, meaning="number s of the signature"),
        Input(name="z", operand=Operand.E, meaning="hash z, below n", public=True),
        Input(name="x", operand=Operand.POINT, meaning="coordinate x of the public key"),
        Input(
            name="y", operand=Operand.POINT, upper=True, meaning="coordinate y of the public key"
        ),
        *BASE_AND_CURVE,
    ),
    outputs=(Output(name="r", meaning="number r of the signature"),),
    has_comb=True,
    result=verified,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
