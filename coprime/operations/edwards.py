"""Points of twisted Edwards curves, a x^2 + y^2 = 1 + d x^2 y^2 modulo P, on lanes of two banks.

Sources: Hisil, Wong, Carter, Dawson, Twisted Edwards curves revisited (2008): extended coordinates,
the doubling and the unified addition of section 3.1 with a = -1; RFC 8032. What differs: nothing is
reduced between products, as R is 64 c P or more; a point of the table has half of what it has
there, which spares D = 2 Z; and with a = 1 the products are the same, and one more in an addition.
Where d is no square modulo P and a is one, the addition is complete: no point is special.

a is 1 or -1, public, and branched on. P is the field's prime, and Q the prime order n of the base
point. Of a point of the table there are (y - x) / 2, (y + x) / 2, and d x y.
"""

from dataclasses import dataclass, replace

from coprime.multipliers.bounds import Bound
from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.routine import Named, Routine
from coprime.program.steps import PASS, Next, Step, StepKind, linear, multiply

from .banked import move
from .comb import randomized
from .curve_form import EDWARDS
from .formulas import NumberPlace
from .operation import Machine
from .shared_steps import call, jump
from .weierstrass import (
    ENTER,
    INVERT,
    SUM,
    TEMPORARY,
    below,
    curve_formula,
    inverse,
    out_of_form,
    plain_product,
    result_on_curve,
    routine,
    zero,
)

ED_VERIFY_CODE = 15
_SKIPS = frozenset({ED_VERIFY_CODE})
"""Commands with public columns, in which there may be no point to add: y - x of that is 0."""

_P, _WHOLE = Context.P, Context.WHOLE
_ACC, _TERM, _UNIT, _ONE_FORM = (
    *(Scratch.ACCUMULATOR, Scratch.TERM, Scratch.UNIT, Scratch.ONE_FORM),
)
_X, _Y, _Z = SUM
_XY = Scratch.XY_1
_GIVEN = Bound.times(0, scaled=2)
"""Of coordinates of a sum: they are products."""

POINT = {"X": NumberPlace(Scratch.POINT_X, Scratch.POINT_X_COPY), "Y": NumberPlace(Scratch.POINT_Y)}
A, D = NumberPlace(Scratch.EDWARDS_A), NumberPlace(Scratch.CURVE_D)
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
    a, d = Scratch.EDWARDS_A, Scratch.CURVE_D
    steps = [
        call(below(Scratch.Y_HIGH, _P), ENTER),
        move(_ACC, Operand.P_POWER, _P),
        multiply(a, _ACC, Operand.Y, _P, "a in Montgomery form"),
        multiply(d, _ACC, Scratch.Y_HIGH, _P, "d in Montgomery form"),
        move(Scratch.PLAIN_A, Operand.Y, _P),
    ]
    return routine(
        EDWARDS.enter_field,
        steps,
        _P,
        takes={Operand.Y: None},
        gives={
            **dict.fromkeys((_ONE_FORM, a, d), Bound.times(0, scaled=2)),
            **dict.fromkeys((_UNIT, Scratch.POWER, Scratch.PLAIN_A), Bound.times(1)),
        },
        clobbers=(_ACC, Scratch.ADDED_MODULUS, Scratch.SCALED),
    )


def _on_curve(machine: Machine) -> Routine:
    """ACCUMULATOR is 0 if the point is on the curve, else between 0 and P."""
    places = {**POINT, "a": A, "d": D, "one": NumberPlace(_ONE_FORM, below=2)}
    steps = curve_formula(_ON_CURVE, places, {"s": NumberPlace(_ACC)})
    numbers = (Scratch.POINT_X, Scratch.POINT_X_COPY, Scratch.POINT_Y, *EDWARDS.constants)
    return routine(
        EDWARDS.on_curve,
        [*steps, *out_of_form(machine, _ACC, _P)],
        _P,
        takes=dict.fromkeys(numbers, None),
        gives={_ACC: Bound.times(1)},
        clobbers=TEMPORARY,
    )


def _affine() -> Routine:
    """X_1 and Y_1 by Z_1, canonical. Z_1 is never 0: with a fault both would be, on no curve.

    Whether they are on the curve is checked here unless `result_on_curve` does.
    """
    term = Scratch.TERM
    steps = [
        move(Scratch.POWER, Operand.P_POWER, _P),
        call(move(_ACC, _Z, _P), INVERT),
        inverse(term, _P),
        *plain_product(_X, term, _P, "X / Z"),
        move(_X, _ACC, _P),
        *plain_product(_Y, term, _P, "Y / Z"),
        move(_Y, _ACC, _P),
    ]
    takes = {**dict.fromkeys(SUM, _GIVEN), _ONE_FORM: None}
    clobbers: tuple[Named, ...] = (
        *(_ACC, term, Scratch.POWER),
        *(Scratch.PART, Mode.WINDOW, Scratch.T_0, Scratch.SCALED),
    )
    gives = dict.fromkeys((_X, _Y), Bound.times(1))
    return routine(EDWARDS.affine, steps, _P, takes=takes, gives=gives, clobbers=clobbers)


# --- The sum of a table's points -----------------------------------------------------------------

_E, _G = Scratch.LEFT_0, Scratch.LEFT_1
_F, _H = Scratch.RIGHT_2, Scratch.RIGHT_3
_AA, _BB, _CC = Scratch.LEFT_4, Scratch.LEFT_5, Scratch.LEFT_6


def _base_point() -> Routine:
    """X_1 : Y_1 : Z_1 = the sum of a column's point, for each column of E, the sum doubled before.

    ACCUMULATOR is the coordinate Z of O, with which it begins.
    """
    scan = Step(kind=StepKind.SCAN_COLUMNS, modulus=_WHOLE, note="from the highest column on")
    a_1 = _Columns(a=1)
    compared = linear(StepKind.SUBTRACT, _TERM, _UNIT, Scratch.PLAIN_A, _P, "is a above 1, so -1?")
    steps = [
        zero(_X),
        replace(move(_Y, _ACC, _P), copy=Scratch.Y_1_COPY),
        move(_Z, _ACC, _P),
        zero(_XY),
        scan,
        replace(compared, next=Next.IF_BORROW, target=a_1.begins),
        *_Columns(a=-1).steps(),
        *a_1.steps(),
    ]
    return routine(
        EDWARDS.multiply_base,
        steps,
        _P,
        takes=dict.fromkeys((_UNIT, Scratch.PLAIN_A, Mode.WINDOW, _ACC), None),
        gives=dict.fromkeys(SUM, _GIVEN),
        clobbers=(
            *(_ACC, _TERM, _XY, Scratch.Y_1_COPY, Scratch.X_2, Scratch.X_3),
            *(Scratch.Y_2, Scratch.Y_2_COPY, Scratch.Y_3, Scratch.Y_3_COPY),
            *TEMPORARY,
        ),
    )


@dataclass(frozen=True)
class _Columns:
    """The loop over the columns of E, and RETURN.

    Parameters
    ----------
    a : the curve's, 1 or -1
    """

    a: int

    @property
    def begins(self) -> str:
        """Label of the first step."""
        return self._label("edwards_columns")

    def _label(self, name: str) -> str:
        return f"{name}_of_{'minus_' * (self.a < 0)}1"

    def steps(self) -> list[Step]:
        """Twice O need not be made: the first point is added at once, unless there may be none."""
        column, doubles, adds = map(self._label, ("column", "doubling", "addition"))
        full = replace(PASS, modulus=_P, next=Next.IF_WINDOW, note="each bit of the column")
        first = replace(PASS, modulus=_P, note="the first column")
        ends = replace(move(_TERM, _UNIT, _P), next=Next.RETURN)
        skip = linear(StepKind.SUBTRACT, _TERM, Mode.WINDOW, _UNIT, _P, "no point to add?")
        below_it = replace(PASS, modulus=_P, note="on to the next column")
        doubled, fourth, added = self._double(), self._label("fourth"), self._add()
        return [
            replace(full, label=self.begins),
            replace(first, next=Next.IF_COMMAND, commands=_SKIPS, target=adds),
            jump(replace(PASS, note="which may have no point"), doubles),
            replace(full, label=column),
            replace(doubled[0], label=doubles),
            *doubled[1:-1],
            replace(doubled[-1], next=Next.IF_COMMAND, commands=_SKIPS, target=fourth),
            replace(skip, next=Next.IF_BORROW, target=fourth),
            replace(below_it, next=Next.NEXT_BIT, target=column),
            ends,
            replace(_product(_XY, _E, _H, "-T = -E H"), label=fourth),
            replace(added[0], label=adds),
            *added[1:-1],
            replace(added[-1], next=Next.NEXT_BIT, target=column),
            ends,
        ]

    def _double(self) -> list[Step]:
        """Twice the sum, without the fourth coordinate, which is E * H.

        Here and in `_add`, each sum is made beside a product that does not need it.
        """
        of_h = _sum(_H, _AA, _BB, "-H = A + B")
        of_g = _difference(_G, _BB, _AA, 2, "G = B - A")
        if self.a == 1:  # with A for -A they change places
            of_g = _sum(_G, _AA, _BB, "G = A + B")
            of_h = _difference(_H, _BB, _AA, 2, "-H = B - A")
        return [
            _product(_AA, _X, _X, "A = X^2"),
            _product(_BB, _Y, _Y, "B = Y^2"),
            _product(_CC, _Z, _Z, "Z^2"),
            of_g,
            _product(_E, _X, Scratch.Y_1_COPY, "X Y"),
            of_h,
            _sum(_CC, _CC, _CC, "C = 2 Z^2"),
            replace(_product(_Y, _G, _H, "-Y = -G H"), copy=Scratch.Y_1_COPY),
            _difference(_F, _CC, _G, 4, "-F = C - G"),
            _sum(_E, _E, _E, "E = 2 X Y"),
            _product(_Z, _G, _F, "-Z = -F G"),
            _product(_X, _E, _F, "-X = -E F"),
        ]

    def _add(self) -> list[Step]:
        """The column's point added, or its negative: y - x and y + x, F and G change places then.

        They do so by the column's sign, so that B is always in X_2, A in X_3, G in Y_2, F in Y_3.
        """
        of_b, of_a = Scratch.X_2, Scratch.X_3
        a = _product(of_b, of_b, Mode.WINDOW, "A = (Y - X) (y - x) / 2")
        b = _product(of_a, of_a, Mode.ENTRY, "B = (Y + X) (y + x) / 2")
        of_f = _difference(Scratch.Y_2, _Z, _XY, 2, "F = Z - C")
        of_g = _sum(Scratch.Y_3, _Z, _XY, "G = Z + C")
        before, after = ([], []) if self.a == -1 else _less_twice()
        return [
            _sum(of_b, _Y, _X, "Y + X"),
            _product(_XY, _XY, Mode.THIRD, "C = T (d x y)"),
            _difference(of_a, _Y, _X, 2, "Y - X"),
            replace(a, by_bit=True),
            *before,
            replace(b, by_bit=True),
            replace(of_f, copy=Scratch.Y_2_COPY, by_bit=True),
            replace(of_g, copy=Scratch.Y_3_COPY, by_bit=True),
            _product(_Z, Scratch.Y_2, Scratch.Y_3_COPY, "Z = F G"),
            _difference(_E, of_b, of_a, 2, "E = B - A"),
            _product(_X, _E, Scratch.Y_3_COPY, "X = E F"),
            _sum(_H, of_b, of_a, "H = B + A"),
            *after,
            replace(_product(_Y, Scratch.Y_2, _H, "Y = G H"), copy=Scratch.Y_1_COPY),
        ]


def _less_twice() -> tuple[list[Step], list[Step]]:
    """H = Y y - X x, and not Y y + X x; x is less 0 where the point is subtracted.

    The steps before B, and those after H.
    """
    minus, plus, twice = Scratch.Y_2_COPY, Scratch.Y_3_COPY, _AA
    before = [
        _difference(minus, Mode.WINDOW, Mode.ENTRY, 8, "-x"),
        _difference(plus, Mode.ENTRY, Mode.WINDOW, 8, "x"),
        replace(_product(twice, _X, minus, "X x"), by_bit=True),
    ]
    after = [
        _sum(twice, twice, twice, "2 X x"),
        _difference(_H, _H, twice, 4, "H = B + A - 2 X x"),
    ]
    return before, after


def _product(into: Scratch, x: Reference, y: Reference, note: str) -> Step:
    return multiply(into, x, y, _P, note)


def _sum(into: Scratch, x: Reference, y: Reference, note: str) -> Step:
    return linear(StepKind.ADD, into, x, y, _P, note)


def _difference(into: Scratch, x: Reference, y: Reference, times: int, note: str) -> Step:
    """x - y, with the multiple of the modulus that keeps it above 0."""
    return replace(linear(StepKind.SUBTRACT, into, x, y, _P, note), times_modulus=times)
