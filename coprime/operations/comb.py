"""Multiples of the base point of a short Weierstrass curve: a signed comb of four teeth.

Sources: Lim, Lee, More flexible exponentiation with precomputation (1994); the signed digits are
those of Hedabou, Pinel, Beneteau, Countermeasures for preventing comb method against SCA attacks
(2005). What differs: a scalar k is (k - 1) / 2 modulo n with a highest bit of 1, whose bits are
digits 1 and -1 of a number that k is modulo n, so that there is no case for an even one.

The host's table has the sums of 2^(3d) G and 2^(dj) G or its negative, j = 0 to 2, in Montgomery
form; d is a quarter of the exponent's length. Additions in Jacobian coordinates do
while all numbers are below n; the last two columns have complete formulas. Without a table, where
the upper half of M is 0, TABLE_0 is the base point, and the ladder multiplies it.

Of a blinded scalar the numbers reach n before. An addition is special then if k is, modulo n, the
sum of 2^(3d), 2^(2d), 2^d and 1 times odd numbers below 2^(m + 2), and the columns from m on are
those of one of them: so only for about 2^(4m + 8) of all k, and of these with a probability of
2^(-4m), for each m from 2 on. Z is 0 from there on, which is found, and the operation ends with
POINT.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from coprime.multipliers.bounds import Bound
from coprime.program.builder import Builder, RoutineBuilder
from coprime.program.operands import (
    Context,
    Core,
    Entry,
    Exchanged,
    Location,
    Mode,
    Operand,
    Scratch,
    UpperHalf,
)
from coprime.program.routine import Routine
from coprime.program.steps import Step, StepKind

from .banked import Banked
from .curve_form import WEIERSTRASS, CurveForm
from .formulas import NumberPlace
from .operation import Machine
from .weierstrass import (
    ADD_COMPLETE,
    BLIND,
    DRAWN,
    DRAWN_DIGITS,
    FROM_FORM,
    MULTIPLY,
    SUM,
    SUM_BELOW,
    SUMMED,
    TEMPORARY,
    A,
    CurvePoint,
    add_point,
    check_point,
    curve_formula,
    lengthen,
    times_order,
)


class Comb(Scratch):
    """What multiples of the base point have."""

    Z_1_COPY = 100
    OLD_SCALAR = 118
    """E as multiples of the base point have scanned it, while it is made again."""
    MINUS_3 = 143
    """P - a - 3, which is 0 where the coefficient a is -3."""
    SQUARE_OF_Z = 144
    """Z_1^2 where it is -3, else 0."""
    TERM_OF_A = 145
    """a Z_1^4 where it is another one, else 0."""


BASE_SCALAR, BLIND_SCALAR = "base_scalar", "blind_scalar"
"""Routines, beside those of WEIERSTRASS."""
FIRST = (CurvePoint.X_KEPT, CurvePoint.Z_KEPT)
"""X and Z of a multiple of the base point, until it is compared with the result of another one."""

_P, _Q = Context.P, Context.Q
_ACC, _TERM, _UNIT = Core.ACCUMULATOR, Banked.TERM, Banked.UNIT

# Bernstein, Lange, Explicit-formulas database: Jacobian coordinates, of any a; and with an affine
# point. A bar stands for one of the steps that bring the affine point from the table.
_TERM_OF_A = "zz=Z1*Z1 zz=zz*zz ta=a*zz"
_DOUBLE_AND_ADD = """
    Y=T-y y2=Y+Y f=X1*X1 Z1=Z1*y2 u=Y*y2 m=f+f m=f+m zz=Z1*Z1 m=m+ta r=m*m t=u+u s=t*X1 zzz=Z1*zz
    | | | ux=X2*zz r=r-s X1=r-s s=s-X1 w=u*u s=s*m w=w+w uy=Y2*zzz h=ux-X1 hh=h*h Y1=s-w r=uy-Y1
    X3=r*r hhh=hh*h v=hh*X1 X3=X3-hhh Z3=Z1*h X3=X3-v y=hhh*Y1 X3=X3-v v=v-X3 T=r*v
"""
"""Twice X1 : T - y : Z1, and the affine point X2, Y2 added; so Y is the difference of two products.
"""
_DOUBLE_AND_ADD_BESIDE = """
    Y=T-y zh=Z1*Y q=X1+d u=Y*Y | p=X1-d f=p*q Z1=zh+zh u=u+u zz=Z1*Z1 t=u+u m=f+f s=t*X1 m=m+f
    m=m+ta r=m*m | w=u*u | zzz=Z1*zz r=r-s w=w+w ux=X2*zz X1=r-s s=s-X1 s=s*m uy=Y2*zzz h=ux-X1
    hh=h*h Y1=s-w r=uy-Y1 hhh=hh*h X3=r*r v=hh*X1 Z3=Z1*h X3=X3-hhh X3=X3-v y=hhh*Y1 X3=X3-v v=v-X3
    T=r*v
"""
"""The same where sums are made beside products. Of a = -3, d is Z1^2 and ta is 0, else d is 0: X1^2
is (X1 - d) (X1 + d) then, and there are two products less. In this order, which a search has found,
no product waits for a sum."""
_FROM_AFFINE = "zz=Z1*Z1 X3=X1*zz zz=Z1*zz T=Y1*zz"
_HOMOGENEOUS = "X3=X1*Z1 t=Z1*Z1 Y3=T-y Z3=Z1*t"
"""Of Jacobian coordinates, X : Y : Z are X Z : Y : Z^3."""


def comb_routines(machine: Machine) -> list[Routine]:
    """BASE_SCALAR, and the multiple."""
    base = _base_point(machine)
    blinded = [_blind_scalar()] if machine.hardened else []
    return [_base_scalar(), *blinded, base, randomized(machine, base, WEIERSTRASS)]


def _compare_table(code: Builder) -> None:
    """A borrow where there is no table."""
    code.subtract(_TERM, UpperHalf.M_HIGH, _UNIT, "is there no table?")


def _base_scalar() -> Routine:
    """E for the multiple, of the scalar in ACCUMULATOR, below n.

    Of a comb it is (k - 1) / 2 modulo n and the power of two in M; the upper half of M is R^2 / 2
    modulo n.
    """
    e, takes = Operand.E, {_ACC: Bound.times(1), _UNIT: None}
    code = RoutineBuilder(BASE_SCALAR, _Q, takes=takes, gives={}, clobbers=(_ACC, _TERM, e))
    _compare_table(code)
    with code.if_borrow("scalar_of_columns"):
        lengthen(code)
        code.returns()
    code.add(_ACC, _ACC, Operand.Q, "k + n")
    code.subtract(_ACC, _ACC, _UNIT, "k + n - 1")
    code.move(_TERM, _ACC)
    code.multiply(_ACC, UpperHalf.M_HIGH, _TERM, "(k - 1) / 2 in Montgomery form")
    code.call(FROM_FORM)
    code.whole.zero(e)
    code.move(e, _ACC)
    code.whole.add(e, e, Operand.M, "the highest digit is 1", fits="R is longer than M")
    return code.routine()


def _base_point(machine: Machine) -> Routine:
    """X_1 : Y_1 : Z_1 = E * the base point; a comb starts with the coordinate Z in ACCUMULATOR."""
    x_1, y_1, z_1 = SUM
    constants = (*WEIERSTRASS.constants, Banked.ONE_FORM, _UNIT)
    code = RoutineBuilder(
        WEIERSTRASS.multiply_base,
        _P,
        takes=dict.fromkeys((*constants, *SUMMED, Operand.Y, Mode.WINDOW, _ACC), None),
        gives=dict.fromkeys(SUM, Bound.times(0, scaled=SUM_BELOW)),
        clobbers=(
            *(_ACC, _TERM, CurvePoint.SLOPE, Exchanged.Y_2, Exchanged.Y_3, Comb.Z_1_COPY),
            *(CurvePoint.X_ADDED, CurvePoint.Y_ADDED, CurvePoint.Z_ADDED, *SUMMED),
            *(Exchanged.X_2, Exchanged.X_3, Exchanged.Y_2_COPY, Exchanged.Y_3_COPY),
            *(Exchanged.Z_2, Exchanged.Z_3, CurvePoint.SLOPE_COPY, CurvePoint.SQUARE),
            *(CurvePoint.POINT_X, CurvePoint.POINT_X_COPY, CurvePoint.POINT_Y),
            *(Comb.MINUS_3, Comb.SQUARE_OF_Z, Comb.TERM_OF_A),
            *TEMPORARY,
        ),
    )
    _compare_table(code)
    with code.if_borrow("columns"):
        code.move(CurvePoint.POINT_X, Entry.T_0, copy=CurvePoint.POINT_X_COPY)
        code.move(CurvePoint.POINT_Y, Entry.T_1)
        code.call(WEIERSTRASS.on_curve)
        check_point(code, "is G on the curve?")
        code.jump(MULTIPLY)
    code.zero(Exchanged.X_2)
    if machine.multiplication.overlaps:
        _prepare_terms_of_a(code)
    code.whole.scan(StepKind.SCAN_COLUMNS, "from the highest column on")
    read_column(code)
    code.move(x_1, Mode.WINDOW)
    code.move(y_1, Mode.ENTRY)
    code.move(z_1, _ACC, copy=Comb.Z_1_COPY)
    code.zero(_SUBTRAHEND)
    _from_affine(code)
    code.next_bit("column")
    with code.each_bit("column", leaves_two=True):
        read_column(code)
        _double_and_add(code, machine)
    if machine.hardened:
        # Z is 0 from the first addition on that was special.
        code.move(_ACC, z_1)
        code.call(FROM_FORM)
        code.do(StepKind.CHECK_FINITE, "was no addition special?", y=_ACC)
    _to_homogeneous(code)
    code.next_bit("last_columns")
    with code.each_bit("last_columns"):
        read_column(code)
        add_point(code, SUM)
        code.include(_signed_entry())
        code.move(CurvePoint.Y_ADDED, Exchanged.Y_2, by_bit=True)
        code.move(CurvePoint.Z_ADDED, Banked.ONE_FORM)
        code.call(ADD_COMPLETE)
        code.rest("the next column")
    code.move(_TERM, _UNIT)
    return code.routine()


def read_column(code: Builder) -> None:
    """The next column becomes the window."""
    code.rest("each bit of the column")
    code.if_window()


def _blind_scalar() -> Routine:
    """E = E + r n, of a random r, unless it is the ladder's, since there is no table."""
    written = (Operand.E, Banked.MULTIPLE, _TERM)
    code = RoutineBuilder(BLIND_SCALAR, _P, takes={_UNIT: None}, gives={}, clobbers=written)
    _compare_table(code)
    with code.if_borrow("scalar_of_table"):
        code.rest("n is too short")
        code.returns()
    times_order(code)
    code.jump(BLIND)
    return code.routine()


def randomized(machine: Machine, base: Routine, form: CurveForm) -> Routine:
    """The multiple, beginning with a random Z, of a scalar that is blinded, if any is."""
    blinded = (Operand.E, Banked.MULTIPLE) if machine.hardened else ()
    code = RoutineBuilder(
        form.randomized,
        _P,
        takes={location: bound for location, bound in base.takes.items() if location is not _ACC},
        gives=base.gives,
        clobbers=(*base.clobbers, DRAWN_DIGITS, *blinded),
    )
    if machine.hardened:
        code.rest("another E")
        code.call(BLIND_SCALAR)
    code.rest("a random Z")
    code.call(DRAWN)
    code.whole.rest()
    code.jump(form.multiply_base)
    return code.routine()


def _signed_entry() -> list[Step]:
    """The column's point: x in X_ADDED, and y in Y_2 by the bit that is its sign. X_2 is 0."""
    code = Builder(_P)
    code.move(CurvePoint.X_ADDED, Mode.WINDOW)
    code.move(Exchanged.Y_3, Mode.ENTRY)
    code.subtract(Exchanged.Y_2, Exchanged.X_2, Exchanged.Y_3, "0 - y", times_modulus=1)
    return code.steps


_SUBTRAHEND = CurvePoint.Y_ADDED
_BELOW = {"X1": 8, "Y1": 6, "Z1": 2}
"""Of Jacobian coordinates, in multiples of c * P."""


def _jacobian() -> dict[str, NumberPlace]:
    x_1, y_1, z_1 = SUM
    places = {
        "X1": NumberPlace(x_1),
        "Y1": NumberPlace(y_1),
        "Z1": NumberPlace(z_1, Comb.Z_1_COPY),
    }
    return {name: replace(place, below=_BELOW[name]) for name, place in places.items()}


def _of_y() -> dict[str, NumberPlace]:
    """Y is the difference of T, which lies where Y will, and y."""
    return {"T": NumberPlace(SUM[1], below=2), "y": NumberPlace(right=_SUBTRAHEND, below=2)}


def _results(places: Mapping[str, NumberPlace]) -> dict[str, NumberPlace]:
    return {name.replace("1", "3"): place for name, place in places.items()}


def _double_and_add(code: Builder, machine: Machine) -> None:
    """Twice the sum, and the column's point added; what is special of a is public."""
    coordinates, of_y = _jacobian(), _of_y()
    point = {"X2": NumberPlace(right=CurvePoint.X_ADDED), "Y2": NumberPlace(Exchanged.Y_2, below=2)}
    given = {**coordinates, **point, **of_y}
    results = {**coordinates, **_results(coordinates), **of_y, "Y": of_y["T"]}
    del results["Y3"]
    if machine.multiplication.overlaps:
        term = NumberPlace(Comb.TERM_OF_A, below=2)
        _make_term_of_minus_3_or_a(code, term)
        given |= {"ta": term, "d": NumberPlace(Comb.SQUARE_OF_Z, below=2)}
        text = _DOUBLE_AND_ADD_BESIDE
    else:
        term = NumberPlace(CurvePoint.SLOPE, below=2)  # ta, and the slope, which it is added to
        _make_term_of_a(code, term)
        given, results = given | {"ta": term}, results | {"m": term}
        text = _DOUBLE_AND_ADD
    code.include(_with_entry(text, given, results))


def _with_entry(
    text: str, given: Mapping[str, NumberPlace], results: Mapping[str, NumberPlace]
) -> Iterator[Step]:
    """The steps of a formula, and where it has a bar the next one of `_signed_entry`."""
    made = iter(curve_formula(text.replace("|", ""), given, results, by_bit=True))
    entry = iter(_signed_entry())
    return (next(entry if word == "|" else made) for word in text.split())


def _make_term_of_a(code: Builder, term: NumberPlace) -> None:
    """ta, of a = 0 in three products less."""
    code.subtract(_TERM, Operand.Y, _UNIT, "a = 0?")
    with code.if_borrow("with_a"):
        code.zero(CurvePoint.SLOPE)
        code.jump("without_a")
    code.include(curve_formula(_TERM_OF_A, {**_jacobian(), "a": A}, {"ta": term}))
    code.label("without_a")


def _make_term_of_minus_3_or_a(code: Builder, term: NumberPlace) -> None:
    """d where a is -3, else ta if it is not 0. What is not made stays 0. X_2 is 0."""
    z = SUM[2]
    code.subtract(_TERM, Comb.MINUS_3, _UNIT, "a = -3?")
    with code.if_borrow("not_minus_3"):
        code.multiply(Comb.SQUARE_OF_Z, z, z, "d=Z1*Z1")
        code.jump("without_a")
    code.subtract(_TERM, Exchanged.X_2, Operand.Y, "a > 0?")
    with code.if_borrow("without_a"):
        code.include(curve_formula(_TERM_OF_A, {**_jacobian(), "a": A}, {"ta": term}))


def _prepare_terms_of_a(code: Builder) -> None:
    """What `_make_term_of_minus_3_or_a` needs."""
    minus_3 = Comb.MINUS_3
    code.subtract(minus_3, Operand.P, Operand.Y, "P - a")
    with code.loop("less_one", 3):
        code.subtract(minus_3, minus_3, _UNIT, "P - a - 3")
    code.zero(Comb.SQUARE_OF_Z)
    code.zero(Comb.TERM_OF_A)


def _from_affine(code: Builder) -> None:
    """A point with another Z than 1."""
    coordinates = _jacobian()
    results = {"X3": coordinates["X1"], "T": _of_y()["T"]}
    code.include(curve_formula(_FROM_AFFINE, coordinates, results))


def _to_homogeneous(code: Builder) -> None:
    coordinates = _jacobian()
    code.include(curve_formula(_HOMOGENEOUS, {**coordinates, **_of_y()}, _results(coordinates)))


def multiply_base(code: Builder, z: Location, form: CurveForm = WEIERSTRASS) -> None:
    """E times the base point, starting with this number, below 2 c P, for Z."""
    code.move(_ACC, z)
    code.call(form.multiply_base)


def multiply_base_twice(code: Builder, machine: Machine, form: CurveForm = WEIERSTRASS) -> None:
    """E times the base point, twice; the first is kept.

    They begin with a random Z, or without random numbers with 1 and R^2.
    """
    if machine.randomizes:
        code.rest("k G")
        code.call(form.randomized)
    else:
        multiply_base(code, Banked.ONE_FORM, form)
    for to, coordinate in zip(FIRST, SUM[::2], strict=True):
        code.move(to, coordinate)
    if machine.randomizes:
        code.call(form.randomized)  # the move calls it: a step less
    else:
        multiply_base(code, Operand.P_POWER, form)


def check_scalar(code: Builder, machine: Machine) -> None:
    """Was E of the k in ACCUMULATOR? Both multiples have scanned it, OLD_SCALAR. E is so again.

    A blinded one is of k if it is a multiple of n more, so that ACCUMULATOR, in place of all of the
    difference, is 0.
    """
    scanned, kind, note = Comb.OLD_SCALAR, StepKind.CHECK_SUM, "was E of k?"
    code.call(BASE_SCALAR)
    code.whole.subtract(scanned, scanned, Operand.E, "E - E of k")
    if not machine.hardened:
        code.whole.do(kind, note, x=scanned, y=scanned)
        return
    whole = Context.WHOLE
    code.move(_ACC, Operand.Q_POWER)
    code.multiply(_ACC, _ACC, scanned, "E - E of k, times a constant", outer=whole)
    code.call(FROM_FORM)
    code.do(kind, note, x=_ACC, y=_ACC)
