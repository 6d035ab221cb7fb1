"""ED_VERIFY: whether R is S B - h A on a twisted Edwards curve: the verification of EdDSA.

Source: RFC 8032, section 5.1.7, without the cofactor. All numbers are public. The host has decoded
R and A. The columns of E are the signed bits of S and of h (`model/edwards_points.py`,
`joint_columns`), and the table has B, A, their sum and their difference. The result is the
coordinate x of R; of a wrong signature there is an error.
"""

from dataclasses import replace
from functools import partial

from coprime.model.edwards_points import joint_columns, joint_multiple
from coprime.program.builder import Builder
from coprime.program.operands import (
    Core,
    Entry,
    Exchanged,
    Location,
    Operand,
    Scratch,
    UpperHalf,
    third_entry,
)
from coprime.program.steps import Step, StepKind

from .banked import Banked
from .comb import multiply_base
from .curve_form import EDWARDS
from .ed_base_multiply import BASE, CURVE, edwards_operation
from .edwards import ED_VERIFY_CODE, A, D
from .encodings.edwards import EdwardsPairs
from .formulas import NumberPlace
from .operation import Input, Machine, Output
from .weierstrass import (
    FROM_FORM,
    SUM,
    SUM_BELOW,
    CurvePoint,
    check_point,
    curve_formula,
    enter_field,
    enter_point,
    invert,
    to_form,
)

_ACC = Core.ACCUMULATOR
_SUMS = """
    s=u+v w=v-u q=Y*w e=X*s h=Y*s x=X*w x=x*a h1=h-x h2=h+x e1=e+q e2=e-q
    c=X*Y c=c*t f=one-c g=one+c z=f+f z=z*g
"""
"""(e1 / g, h1 / f) is A + B, (e2 / f, h2 / g) is A - B, of the table's u, v, t of B; z = 2 f g."""
_HALVES = "f=f*i h=f*g g=g*i X=X*h Y=Y*h x1=e1*f y1=h1*g x2=e2*g y2=h2*f"
"""Half of the coordinates of A, A + B and A - B; i is 1 / z."""
_OF_TABLE = "U=y-x V=y+x T=x*y e=d+d e=e+e T=T*e"
_X, _Y, _Z = SUM
_NEGATED = (
    NumberPlace(CurvePoint.POINT_X, CurvePoint.POINT_X_COPY, below=2),
    NumberPlace(CurvePoint.POINT_Y),
)
"""-A."""
_KEPT = (CurvePoint.X_KEPT, CurvePoint.Y_KEPT)
"""(y - x) / 2 and (y + x) / 2 of B, while the inversion has a table of its own."""
_TOTAL = (NumberPlace(Exchanged.X_2), NumberPlace(Exchanged.Y_2, Exchanged.Y_2_COPY))
_RISE = (NumberPlace(Exchanged.X_3), NumberPlace(Exchanged.Y_3, Exchanged.Y_3_COPY))
"""-A + B and -A - B, affine, and half of that."""


_FRACTIONS = {
    "e1": NumberPlace(Exchanged.X_2, below=3),
    "e2": NumberPlace(Exchanged.X_3, below=4),
    "h1": NumberPlace(Exchanged.Y_2, below=4),
    "h2": NumberPlace(Exchanged.Y_3, below=3),
    "f": NumberPlace(Exchanged.Z_2, below=6),
    "g": NumberPlace(CurvePoint.SLOPE, CurvePoint.SLOPE_COPY, below=6),
}


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    key, of_r = (Operand.POINT, UpperHalf.POINT_HIGH), (Operand.X, UpperHalf.X_HIGH)
    code = Builder()
    code.p.check_modulus()
    code.q.check_modulus()
    code.q.check_positive(Operand.Q, "modulo p")
    code.next_modulus("field_of_edwards_points")
    enter_field(code, *of_r, *key, form=EDWARDS)
    enter_point(code.p, *key, EDWARDS)
    check_point(code.p)
    _make_table(code.p)
    multiply_base(code.p, Banked.ONE_FORM, EDWARDS)
    _compare(code.p, Operand.X, _X, "is x of R that of the sum?")
    _compare(code.p, UpperHalf.X_HIGH, _Y, "is y of R that of the sum?")
    code.whole.zero(Core.RESULT)
    code.p.move(Core.RESULT, Operand.X)
    code.finish()
    return [code.steps]


def _make_table(code: Builder) -> None:
    """The table of the points that two signed bits select, of the one of B that it has."""
    x, y = _NEGATED
    one = NumberPlace(Banked.ONE_FORM, below=2)
    given = {
        "X": x,
        "Y": y,
        "a": A,
        "one": one,
        **dict(zip("uv", map(NumberPlace, _KEPT), strict=True)),
        "t": NumberPlace(right=Entry.at(third_entry(0))),
    }
    half = {**_FRACTIONS, "X": x, "Y": y, "i": NumberPlace(right=Banked.TERM)}
    names = ("X", "Y", "x1", "y1", "x2", "y2")
    points = dict(zip(names, (*_NEGATED, *_TOTAL, *_RISE), strict=True))
    code.zero(_ACC)
    negated, copy = CurvePoint.POINT_X, CurvePoint.POINT_X_COPY
    code.subtract(negated, _ACC, negated, "-A", times_modulus=2, copy=copy)
    for k, kept in enumerate(_KEPT):
        code.move(kept, Entry.at(k))
    code.include(curve_formula(_SUMS, given, {**_FRACTIONS, "z": NumberPlace(_ACC)}))
    invert(code, Banked.TERM)
    code.include(curve_formula(_HALVES, half, points))
    for k, kept in enumerate(_KEPT):
        code.move(Entry.at(k), kept)
    for number, point in enumerate((_NEGATED, _TOTAL, _RISE), start=1):
        _make_entry(code, number, *point)
    code.zero(Entry.at(2 * 4))


def _make_entry(code: Builder, number: int, x: NumberPlace, y: NumberPlace) -> None:
    """A point of the table."""
    entries = (2 * number, 2 * number + 1, third_entry(number))
    places = (NumberPlace(right=Entry.at(entry)) for entry in entries)
    given = {"x": replace(x, below=2), "y": replace(y, below=2), "d": replace(D, below=2)}
    code.include(curve_formula(_OF_TABLE, given, dict(zip("UVT", places, strict=True))))


def _compare(code: Builder, coordinate: Location, total: Scratch, note: str) -> None:
    """Is a coordinate of R that of the sum?"""
    claimed = CurvePoint.CLAIMED_0
    places = {
        "x": NumberPlace(right=claimed, below=2),
        "Z": NumberPlace(_Z, below=SUM_BELOW),
        "X": NumberPlace(total, below=SUM_BELOW),
    }
    to_form(code, claimed, coordinate, "the coordinate")
    code.include(curve_formula("u=Z*x d=u-X", places, {"d": NumberPlace(_ACC)}))
    code.call(FROM_FORM)
    code.do(StepKind.CHECK_SIGNATURE, note, y=_ACC)


def verified(
    xr: int, yr: int, x: int, y: int, s: int, h: int, gx: int, gy: int, **curve: int
) -> int:
    """The same on integers: the coordinate x of R. ValueError for a wrong signature."""
    given = curve["a"], curve["d"], curve["p"]
    if joint_multiple(s, h, (x, y), (gx, gy), given) != (xr, yr):
        raise ValueError("the signature is wrong")
    return xr


_READS = frozenset(
    {
        *(Operand.X, Operand.Y, Operand.E, Operand.POINT, Operand.TABLE_0, Operand.TABLE_8),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP),
        *(Operand.Q, Operand.Q_INVERSE),
    }
)

ED_VERIFY = edwards_operation(
    name="ED_VERIFY",
    code=ED_VERIFY_CODE,
    doc="Whether X is S B - h A, with the point A in POINT; columns of S and h are E.",
    formula="xr, if (xr, yr) is s · (gx, gy) - h · (x, y)",
    inputs=(
        Input(name="xr", operand=Operand.X, meaning="coordinate x of R"),
        Input(name="yr", operand=Operand.X, upper=True, meaning="coordinate y of R"),
        Input(name="x", operand=Operand.POINT, meaning="coordinate x of the public key"),
        Input(
            name="y", operand=Operand.POINT, upper=True, meaning="coordinate y of the public key"
        ),
        Input(name="s", operand=Operand.E, meaning="number S of the signature", public=True),
        Input(name="h", operand=Operand.E, meaning="hash h, below n", public=True),
        *BASE,
        *CURVE,
    ),
    encoding_of=partial(EdwardsPairs, joins=joint_columns),
    outputs=(Output(name="xr", meaning="coordinate x of R"),),
    result=verified,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
