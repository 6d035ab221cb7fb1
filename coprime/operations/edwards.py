"""Points of twisted Edwards curves, a x^2 + y^2 = 1 + d x^2 y^2 modulo P, on lanes of two banks.

Sources: Hisil, Wong, Carter, Dawson, Twisted Edwards curves revisited (2008): extended coordinates,
the doubling and the unified addition of section 3.1 with a = -1; RFC 8032. What differs: nothing is
reduced between products, as R is 64 c P or more; a point of the table has half of what it has
there, which spares D = 2 Z; and with a = 1 the products are the same, and one more in an addition.
Where d is no square modulo P and a is one, the addition is complete: no point is special.

a is 1 or -1, public, and branched on. P is the field's prime, and Q the prime order n of the base
point. Of a point of the table there are (y - x) / 2, (y + x) / 2, and d x y.
"""

from dataclasses import dataclass

from coprime.multipliers.bounds import Bound
from coprime.program.builder import Builder, RoutineBuilder
from coprime.program.operands import (
    Context,
    Core,
    Entry,
    Exchanged,
    Mode,
    Operand,
    Scratch,
    UpperHalf,
)
from coprime.program.routine import Routine
from coprime.program.steps import StepKind

from .banked import Banked
from .comb import randomized, read_column
from .curve_form import EDWARDS, Curve
from .formulas import NumberPlace, Temporary
from .operation import Machine
from .weierstrass import (
    ENTER,
    SUM,
    TEMPORARY,
    CurvePoint,
    curve_formula,
    divide,
    invert,
    out_of_form,
    result_on_curve,
)


class Edwards(Scratch):
    """What points of Edwards curves have beside those of Weierstrass curves."""

    PLAIN_A = 96
    """That a as the host has written it, 1 or P - 1."""
    Y_1_COPY = 101
    XY_1 = 102
    """X_1 Y_1 / Z_1, the fourth of the extended coordinates on an Edwards curve."""


ED_VERIFY_CODE = 15
_SKIPS = frozenset({ED_VERIFY_CODE})
"""Commands with public columns, in which there may be no point to add: y - x of that is 0."""

_P = Context.P
_ACC, _TERM, _UNIT, _ONE_FORM = (*(Core.ACCUMULATOR, Banked.TERM, Banked.UNIT, Banked.ONE_FORM),)
_X, _Y, _Z = SUM
_XY = Edwards.XY_1
_GIVEN = Bound.times(0, scaled=2)
"""Of coordinates of a sum: they are products."""

POINT = {
    "X": NumberPlace(CurvePoint.POINT_X, CurvePoint.POINT_X_COPY),
    "Y": NumberPlace(CurvePoint.POINT_Y),
}
A, D = NumberPlace(Curve.EDWARDS_A), NumberPlace(Curve.CURVE_D)
_ON_CURVE = "u=X*X v=Y*Y s=a*u s=s+v t=d*u t=t*v s=s-t s=s-one"
"""a x^2 + y^2 - d x^2 y^2 - 1."""


def edwards_routines(machine: Machine) -> list[Routine]:
    """Those of EDWARDS."""
    return [
        base := _base_point(),
        randomized(machine, base, EDWARDS),
        _affine(),
        _enter_field(),
        _on_curve(machine),
        result_on_curve(EDWARDS),
    ]


def _enter_field() -> Routine:
    """Modulo P from here on: its constants, and a and d in Montgomery form.

    They lie left, since there is more room than right, where the table is.
    """
    a, d, high = Curve.EDWARDS_A, Curve.CURVE_D, UpperHalf.Y_HIGH
    code = RoutineBuilder(
        EDWARDS.enter_field,
        _P,
        takes={Operand.Y: None},
        gives={
            **dict.fromkeys((_ONE_FORM, a, d), Bound.times(0, scaled=2)),
            **dict.fromkeys((_UNIT, Banked.POWER, Edwards.PLAIN_A), Bound.times(1)),
        },
        clobbers=(_ACC, Core.ADDED_MODULUS, Core.SCALED),
    )
    code.check_below(high, high)
    code.call(ENTER)
    code.move(_ACC, Operand.P_POWER)
    code.multiply(a, _ACC, Operand.Y, "a in Montgomery form")
    code.multiply(d, _ACC, high, "d in Montgomery form")
    code.move(Edwards.PLAIN_A, Operand.Y)
    return code.routine()


def _on_curve(machine: Machine) -> Routine:
    """ACCUMULATOR is 0 if the point is on the curve, else between 0 and P."""
    point = (CurvePoint.POINT_X, CurvePoint.POINT_X_COPY, CurvePoint.POINT_Y)
    code = RoutineBuilder(
        EDWARDS.on_curve,
        _P,
        takes=dict.fromkeys((*point, *EDWARDS.constants), None),
        gives={_ACC: Bound.times(1)},
        clobbers=TEMPORARY,
    )
    places = {**POINT, "a": A, "d": D, "one": NumberPlace(_ONE_FORM, below=2)}
    code.include(curve_formula(_ON_CURVE, places, {"s": NumberPlace(_ACC)}))
    out_of_form(code, machine, _ACC)
    return code.routine()


def _affine() -> Routine:
    """X_1 and Y_1 by Z_1, canonical. Z_1 is never 0: with a fault both would be, on no curve.

    Whether they are on the curve is checked here unless `result_on_curve` does.
    """
    term = Banked.TERM
    code = RoutineBuilder(
        EDWARDS.affine,
        _P,
        takes={**dict.fromkeys(SUM, _GIVEN), _ONE_FORM: None},
        gives=dict.fromkeys((_X, _Y), Bound.times(1)),
        clobbers=(
            *(_ACC, term, Banked.POWER),
            *(Core.PART, Mode.WINDOW, Entry.T_0, Core.SCALED),
        ),
    )
    code.move(Banked.POWER, Operand.P_POWER)
    code.move(_ACC, _Z)
    invert(code, term)
    divide(code, _X, term, "X / Z")
    divide(code, _Y, term, "Y / Z")
    return code.routine()


# --- The sum of a table's points -----------------------------------------------------------------

_E, _G = Temporary.LEFT_0, Temporary.LEFT_1
_F, _H = Temporary.RIGHT_2, Temporary.RIGHT_3
_AA, _BB, _CC = Temporary.LEFT_4, Temporary.LEFT_5, Temporary.LEFT_6


def _base_point() -> Routine:
    """X_1 : Y_1 : Z_1 = the sum of a column's point, for each column of E, the sum doubled before.

    ACCUMULATOR is the coordinate Z of O, with which it begins.
    """
    code = RoutineBuilder(
        EDWARDS.multiply_base,
        _P,
        takes=dict.fromkeys((_UNIT, Edwards.PLAIN_A, Mode.WINDOW, _ACC), None),
        gives=dict.fromkeys(SUM, _GIVEN),
        clobbers=(
            *(_ACC, _TERM, _XY, Edwards.Y_1_COPY, Exchanged.X_2, Exchanged.X_3),
            *(Exchanged.Y_2, Exchanged.Y_2_COPY, Exchanged.Y_3, Exchanged.Y_3_COPY),
            *TEMPORARY,
        ),
    )
    code.zero(_X)
    code.move(_Y, _ACC, copy=Edwards.Y_1_COPY)
    code.move(_Z, _ACC)
    code.zero(_XY)
    code.whole.scan(StepKind.SCAN_COLUMNS, "from the highest column on")
    code.subtract(_TERM, _UNIT, Edwards.PLAIN_A, "is a above 1, so -1?")
    with code.if_borrow("edwards_columns_of_1"):
        _Columns(code, a=-1).write()
    _Columns(code, a=1).write()
    return code.routine()


@dataclass(frozen=True)
class _Columns:
    """The loop over the columns of E, and RETURN.

    Parameters
    ----------
    code : the routine's text
    a : the curve's, 1 or -1
    """

    code: Builder
    a: int

    def _label(self, name: str) -> str:
        return f"{name}_of_{'minus_' * (self.a < 0)}1"

    def write(self) -> None:
        """Twice O need not be made: the first point is added at once, unless there may be none."""
        code = self.code
        column, doubles, adds = map(self._label, ("column", "doubling", "addition"))
        fourth = self._label("fourth")
        code.label(self._label("edwards_columns"))
        read_column(code)
        code.rest("the first column")
        code.unless_command(_SKIPS, adds)
        code.whole.rest("which may have no point")
        code.jump(doubles)
        with code.each_bit(column):
            read_column(code)
            code.label(doubles)
            self._double()
            with code.if_command(_SKIPS, fourth):
                code.subtract(_TERM, Mode.WINDOW, _UNIT, "no point to add?")
                with code.if_borrow(fourth):
                    code.rest("on to the next column")
                    code.next_bit(column)
                    self._end()
            code.multiply(_XY, _E, _H, "-T = -E H")
            code.label(adds)
            self._add()
        self._end()

    def _end(self) -> None:
        self.code.move(_TERM, _UNIT)
        self.code.returns()

    def _double(self) -> None:
        """Twice the sum, without the fourth coordinate, which is E * H.

        Here and in `_add`, each sum is made beside a product that does not need it.
        """
        code, is_1 = self.code, self.a == 1
        code.multiply(_AA, _X, _X, "A = X^2")
        code.multiply(_BB, _Y, _Y, "B = Y^2")
        code.multiply(_CC, _Z, _Z, "Z^2")
        if is_1:  # with A for -A sum and difference change places
            code.add(_G, _AA, _BB, "G = A + B")
        else:
            code.subtract(_G, _BB, _AA, "G = B - A", times_modulus=2)
        code.multiply(_E, _X, Edwards.Y_1_COPY, "X Y")
        if is_1:
            code.subtract(_H, _BB, _AA, "-H = B - A", times_modulus=2)
        else:
            code.add(_H, _AA, _BB, "-H = A + B")
        code.add(_CC, _CC, _CC, "C = 2 Z^2")
        code.multiply(_Y, _G, _H, "-Y = -G H", copy=Edwards.Y_1_COPY)
        code.subtract(_F, _CC, _G, "-F = C - G", times_modulus=4)
        code.add(_E, _E, _E, "E = 2 X Y")
        code.multiply(_Z, _G, _F, "-Z = -F G")
        code.multiply(_X, _E, _F, "-X = -E F")

    def _add(self) -> None:
        """The column's point added, or its negative: y - x and y + x, F and G change places then.

        They do so by the column's sign, so that B is always in X_2, A in X_3, G in Y_2, F in Y_3.
        Of a = 1, H is Y y - X x, and not Y y + X x; x is less 0 where the point is subtracted.
        """
        code, twice = self.code, _AA
        g, f, g_copy, f_copy = Exchanged.Y_2, Exchanged.Y_3, Exchanged.Y_2_COPY, Exchanged.Y_3_COPY
        b, a = Exchanged.X_2, Exchanged.X_3
        code.add(b, _Y, _X, "Y + X")
        code.multiply(_XY, _XY, Mode.THIRD, "C = T (d x y)")
        code.subtract(a, _Y, _X, "Y - X", times_modulus=2)
        code.multiply(b, b, Mode.WINDOW, "A = (Y - X) (y - x) / 2", by_bit=True)
        if self.a == 1:
            code.subtract(g_copy, Mode.WINDOW, Mode.ENTRY, "-x", times_modulus=8)
            code.subtract(f_copy, Mode.ENTRY, Mode.WINDOW, "x", times_modulus=8)
            code.multiply(twice, _X, g_copy, "X x", by_bit=True)
        code.multiply(a, a, Mode.ENTRY, "B = (Y + X) (y + x) / 2", by_bit=True)
        code.subtract(g, _Z, _XY, "F = Z - C", times_modulus=2, copy=g_copy, by_bit=True)
        code.add(f, _Z, _XY, "G = Z + C", copy=f_copy, by_bit=True)
        code.multiply(_Z, g, f_copy, "Z = F G")
        code.subtract(_E, b, a, "E = B - A", times_modulus=2)
        code.multiply(_X, _E, f_copy, "X = E F")
        code.add(_H, b, a, "H = B + A")
        if self.a == 1:
            code.add(twice, twice, twice, "2 X x")
            code.subtract(_H, _H, twice, "H = B + A - 2 X x", times_modulus=4)
        code.multiply(_Y, g, _H, "Y = G H", copy=Edwards.Y_1_COPY)
