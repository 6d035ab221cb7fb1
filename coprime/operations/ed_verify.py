"""ED_VERIFY: whether R is S B - h A on a twisted Edwards curve: the verification of EdDSA.

Source: RFC 8032, section 5.1.7, without the cofactor. All numbers are public. The host has decoded
R and A. The columns of E are the signed bits of S and of h (`model/edwards_points.py`,
`joint_columns`), and the table has B, A, their sum and their difference. The result is the
coordinate x of R; of a wrong signature there is an error.
"""

from dataclasses import replace

from coprime.model.edwards_points import joint_columns, joint_multiple
from coprime.program.operands import Context, Location, Operand, Scratch, third_entry
from coprime.program.steps import Next, Step, StepKind, linear

from .banked import move
from .comb import multiply_base
from .curve_form import EDWARDS
from .ed_base_multiply import BASE, CURVE, edwards_operation
from .edwards import ED_VERIFY_CODE, A, D
from .formulas import NumberPlace
from .operation import Input, Machine
from .shared_steps import call, check_modulus, jump
from .weierstrass import (
    FROM_FORM,
    INVERT,
    SUM,
    SUM_BELOW,
    curve_formula,
    enter_point,
    inverse,
    on_field,
    positive,
    to_form,
    zero,
)

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q
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
    NumberPlace(Scratch.POINT_X, Scratch.POINT_X_COPY, below=2),
    NumberPlace(Scratch.POINT_Y),
)
"""-A."""
_KEPT = (Scratch.X_KEPT, Scratch.Y_KEPT)
"""(y - x) / 2 and (y + x) / 2 of B, while the inversion has a table of its own."""
_TOTAL = (NumberPlace(Scratch.X_2), NumberPlace(Scratch.Y_2, Scratch.Y_2_COPY))
_RISE = (NumberPlace(Scratch.X_3), NumberPlace(Scratch.Y_3, Scratch.Y_3_COPY))
"""-A + B and -A - B, affine, and half of that."""


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    key, field = (Operand.POINT, Scratch.POINT_HIGH), "field_of_edwards_points"
    points = (Operand.X, Scratch.X_HIGH, *key)
    modulo_p = positive(Operand.Q, _Q, "modulo p")
    steps = [
        check_modulus(_P),
        check_modulus(_Q),
        replace(modulo_p, next=Next.EACH_MODULUS, target=field),
        *on_field(points, field, EDWARDS),
        *enter_point(*key, EDWARDS),
        *_table(),
        multiply_base(Scratch.ONE_FORM, EDWARDS),
        *_equals(Operand.X, _X, "is x of R that of the sum?"),
        *_equals(Scratch.X_HIGH, _Y, "is y of R that of the sum?"),
        zero(Scratch.RESULT, Context.WHOLE),
        jump(move(Scratch.RESULT, Operand.X, _P), ""),
    ]
    return [steps]


def _table() -> list[Step]:
    """The table of the points that two signed bits select, of the one of B that it has."""
    x, y = _NEGATED
    one = NumberPlace(Scratch.ONE_FORM, below=2)
    negated = linear(StepKind.SUBTRACT, Scratch.POINT_X, _ACC, Scratch.POINT_X, _P, "-A")
    *sums, last = curve_formula(
        _SUMS,
        {
            "X": x,
            "Y": y,
            "a": A,
            "one": one,
            **dict(zip("uv", map(NumberPlace, _KEPT), strict=True)),
            "t": NumberPlace(right=Scratch.table(third_entry(0))),
        },
        {**_FRACTIONS, "z": NumberPlace(_ACC)},
    )
    return [
        zero(_ACC),
        replace(negated, times_modulus=2, copy=Scratch.POINT_X_COPY),
        *(move(to, Scratch.table(k), _P) for k, to in enumerate(_KEPT)),
        *sums,
        call(last, INVERT),
        inverse(Scratch.TERM, _P),
        *curve_formula(
            _HALVES,
            {**_FRACTIONS, "X": x, "Y": y, "i": NumberPlace(right=Scratch.TERM)},
            dict(
                zip(("X", "Y", "x1", "y1", "x2", "y2"), (*_NEGATED, *_TOTAL, *_RISE), strict=True)
            ),
        ),
        *(move(Scratch.table(k), one, _P) for k, one in enumerate(_KEPT)),
        *_entry(1, *_NEGATED),
        *_entry(2, *_TOTAL),
        *_entry(3, *_RISE),
        zero(Scratch.table(2 * 4)),
    ]


_FRACTIONS = {
    "e1": NumberPlace(Scratch.X_2, below=3),
    "e2": NumberPlace(Scratch.X_3, below=4),
    "h1": NumberPlace(Scratch.Y_2, below=4),
    "h2": NumberPlace(Scratch.Y_3, below=3),
    "f": NumberPlace(Scratch.Z_2, below=6),
    "g": NumberPlace(Scratch.SLOPE, Scratch.SLOPE_COPY, below=6),
}


def _entry(number: int, x: NumberPlace, y: NumberPlace) -> list[Step]:
    """A point of the table."""
    entries = (2 * number, 2 * number + 1, third_entry(number))
    places = (NumberPlace(right=Scratch.table(one)) for one in entries)
    given = {"x": replace(x, below=2), "y": replace(y, below=2), "d": replace(D, below=2)}
    return curve_formula(_OF_TABLE, given, dict(zip("UVT", places, strict=True)))


def _equals(coordinate: Location, total: Scratch, note: str) -> list[Step]:
    """Is a coordinate of R that of the sum?"""
    claimed = Scratch.CLAIMED_0
    places = {
        "x": NumberPlace(right=claimed, below=2),
        "Z": NumberPlace(_Z, below=SUM_BELOW),
        "X": NumberPlace(total, below=SUM_BELOW),
    }
    *compared, last = curve_formula("u=Z*x d=u-X", places, {"d": NumberPlace(_ACC)})
    return [
        to_form(claimed, coordinate, _P, "the coordinate"),
        *compared,
        call(last, FROM_FORM),
        Step(kind=StepKind.CHECK_SIGNATURE, y=_ACC, modulus=_P, note=note),
    ]


def verified(
    xr: int, yr: int, x: int, y: int, s: int, h: int, gx: int, gy: int, **curve: int
) -> tuple[int, int]:
    """The same on integers: the coordinate x of R, and 0. ValueError for a wrong signature."""
    given = curve["a"], curve["d"], curve["p"]
    if joint_multiple(s, h, (x, y), (gx, gy), given) != (xr, yr):
        raise ValueError("the signature is wrong")
    return xr, 0


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
    joins=joint_columns,
    result=verified,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
