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

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coprime.multipliers.bounds import Bound
from coprime.program.operands import Context, Location, Mode, Operand, Scratch
from coprime.program.routine import Routine
from coprime.program.steps import PASS, Next, Step, StepKind, linear, multiply

from .banked import move
from .curve_form import WEIERSTRASS, CurveForm
from .formulas import NumberPlace
from .operation import Machine
from .shared_steps import call, jump
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
    add_point,
    curve_formula,
    lengthen,
    routine,
    times_order,
    zero,
)

BASE_SCALAR, BLIND_SCALAR = "base_scalar", "blind_scalar"
"""Routines, beside those of WEIERSTRASS."""
FIRST = (Scratch.X_KEPT, Scratch.Z_KEPT)
"""X and Z of a multiple of the base point, until it is compared with the result of another one."""

_P, _Q, _WHOLE = Context.P, Context.Q, Context.WHOLE
_ACC, _TERM, _UNIT = Scratch.ACCUMULATOR, Scratch.TERM, Scratch.UNIT

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


def _has_no_table(context: Context, target: str) -> Step:
    """Is there no table? If there is, the target comes."""
    high = linear(StepKind.SUBTRACT, _TERM, Scratch.M_HIGH, _UNIT, context, "is there no table?")
    return replace(high, next=Next.IF_BORROW, target=target)


def _base_scalar() -> Routine:
    """E for the multiple, of the scalar in ACCUMULATOR, below n.

    Of a comb it is (k - 1) / 2 modulo n and the power of two in M; the upper half of M is R^2 / 2
    modulo n.
    """
    e, columns = Operand.E, "scalar_of_columns"
    half = multiply(_ACC, Scratch.M_HIGH, _TERM, _Q, "(k - 1) / 2 in Montgomery form")
    *lengthened, last = lengthen()
    top = linear(StepKind.ADD, e, e, Operand.M, _WHOLE, "the highest digit is 1")
    steps = [
        _has_no_table(_Q, columns),
        *lengthened,
        replace(last, next=Next.RETURN),
        replace(linear(StepKind.ADD, _ACC, _ACC, Operand.Q, _Q, "k + n"), label=columns),
        linear(StepKind.SUBTRACT, _ACC, _ACC, _UNIT, _Q, "k + n - 1"),
        move(_TERM, _ACC, _Q),
        call(half, FROM_FORM),
        zero(e, _WHOLE),
        move(e, _ACC, _Q),
        replace(top, fits="R is longer than M"),
    ]
    takes = {_ACC: Bound.times(1), _UNIT: None}
    return routine(BASE_SCALAR, steps, _Q, takes=takes, gives={}, clobbers=(_ACC, _TERM, e))


def _base_point(machine: Machine) -> Routine:
    """X_1 : Y_1 : Z_1 = E * the base point; a comb starts with the coordinate Z in ACCUMULATOR."""
    scans, column, last_columns = "columns", "column", "last_columns"
    x, y = Scratch.T_0, Scratch.T_1
    on_curve = Step(
        kind=StepKind.CHECK_ON_CURVE, x=_ACC, y=_ACC, modulus=_P, note="is G on the curve?"
    )
    first = Step(kind=StepKind.SCAN_COLUMNS, modulus=_WHOLE, note="from the highest column on")
    full = replace(PASS, modulus=_P, next=Next.IF_WINDOW, note="each bit of the column")
    x_1, y_1, z_1 = SUM
    column_added, homogeneous = _double_and_add(machine), _to_homogeneous()
    *entered, first_point = _from_affine()
    steps = [
        _has_no_table(_P, scans),
        replace(move(Scratch.POINT_X, x, _P), copy=Scratch.POINT_X_COPY),
        call(move(Scratch.POINT_Y, y, _P), WEIERSTRASS.on_curve),
        jump(on_curve, MULTIPLY),
        replace(zero(Scratch.X_2), label=scans),
        *_before_columns(machine),
        first,
        full,
        move(x_1, Mode.WINDOW, _P),
        move(y_1, Mode.ENTRY, _P),
        replace(move(z_1, _ACC, _P), copy=Scratch.Z_1_COPY),
        zero(_SUBTRAHEND),
        *entered,
        replace(first_point, next=Next.NEXT_BIT, target=column),
        replace(full, label=column),
        *column_added[:-1],
        replace(column_added[-1], next=Next.NEXT_BIT, target=column, leaves_two=True),
        *(_is_not_special() if machine.hardened else []),
        *homogeneous[:-1],
        replace(homogeneous[-1], next=Next.NEXT_BIT, target=last_columns),
        replace(full, label=last_columns),
        *add_point(SUM),
        *_signed_entry(),
        replace(move(Scratch.Y_ADDED, Scratch.Y_2, _P), by_bit=True),
        call(move(Scratch.Z_ADDED, Scratch.ONE_FORM, _P), ADD_COMPLETE),
        replace(PASS, modulus=_P, next=Next.NEXT_BIT, target=last_columns, note="the next column"),
        replace(move(_TERM, _UNIT, _P), next=Next.RETURN),
    ]
    constants = (Scratch.CURVE_A, Scratch.CURVE_3B, Scratch.ONE_FORM, _UNIT)
    ladder = (
        *(Scratch.X_2, Scratch.X_3, Scratch.Y_2_COPY, Scratch.Y_3_COPY, Scratch.Z_2, Scratch.Z_3),
        *(Scratch.SLOPE_COPY, Scratch.SQUARE),
        *(Scratch.POINT_X, Scratch.POINT_X_COPY, Scratch.POINT_Y),
    )
    return routine(
        WEIERSTRASS.multiply_base,
        steps,
        _P,
        takes=dict.fromkeys((*constants, *SUMMED, Operand.Y, Mode.WINDOW, _ACC), None),
        gives=dict.fromkeys(SUM, Bound.times(0, scaled=SUM_BELOW)),
        clobbers=(
            *(_ACC, _TERM, Scratch.SLOPE, Scratch.Y_2, Scratch.Y_3, Scratch.Z_1_COPY),
            *(Scratch.X_ADDED, Scratch.Y_ADDED, Scratch.Z_ADDED),
            *(*ladder, *SUMMED),
            *(Scratch.MINUS_3, Scratch.SQUARE_OF_Z, Scratch.TERM_OF_A),
            *TEMPORARY,
        ),
    )


def _blind_scalar() -> Routine:
    """E = E + r n, of a random r, unless it is the ladder's, since there is no table."""
    blinded = "scalar_of_table"
    cleared, order = times_order()
    steps = [
        _has_no_table(_P, blinded),
        replace(PASS, modulus=_P, next=Next.RETURN, note="n is too short"),
        replace(cleared, label=blinded),
        jump(order, BLIND),
    ]
    written = (Operand.E, Scratch.MULTIPLE, _TERM)
    return routine(BLIND_SCALAR, steps, _P, takes={_UNIT: None}, gives={}, clobbers=written)


def randomized(machine: Machine, base: Routine, form: CurveForm) -> Routine:
    """The multiple, beginning with a random Z, of a scalar that is blinded, if any is."""
    first = call(replace(PASS, modulus=_P, note="another E"), BLIND_SCALAR)
    blinds = machine.hardened
    return routine(
        form.randomized,
        [
            *([first] if blinds else []),
            call(replace(PASS, modulus=_P, note="a random Z"), DRAWN),
            jump(PASS, form.multiply_base),
        ],
        _P,
        takes={one: bound for one, bound in base.takes.items() if one is not _ACC},
        gives=base.gives,
        clobbers=(*base.clobbers, DRAWN_DIGITS, *((Operand.E, Scratch.MULTIPLE) if blinds else ())),
    )


def _is_not_special() -> list[Step]:
    """Z is not 0, as it is from the first addition on that was special."""
    finite = Step(kind=StepKind.CHECK_FINITE, y=_ACC, modulus=_P, note="was no addition special?")
    return [call(move(_ACC, SUM[2], _P), FROM_FORM), finite]


def _signed_entry() -> list[Step]:
    """The column's point: x in X_ADDED, and y in Y_2 by the bit that is its sign. X_2 is 0."""
    y_2, y_3 = Scratch.Y_2, Scratch.Y_3
    minus = linear(StepKind.SUBTRACT, y_2, Scratch.X_2, y_3, _P, "0 - y")
    return [
        move(Scratch.X_ADDED, Mode.WINDOW, _P),
        move(y_3, Mode.ENTRY, _P),
        replace(minus, times_modulus=1),
    ]


_SUBTRAHEND = Scratch.Y_ADDED
_BELOW = {"X1": 8, "Y1": 6, "Z1": 2}
"""Of Jacobian coordinates, in multiples of c * P."""


def _jacobian() -> dict[str, NumberPlace]:
    x_1, y_1, z_1 = SUM
    places = {
        "X1": NumberPlace(x_1),
        "Y1": NumberPlace(y_1),
        "Z1": NumberPlace(z_1, Scratch.Z_1_COPY),
    }
    return {name: replace(one, below=_BELOW[name]) for name, one in places.items()}


def _of_y() -> dict[str, NumberPlace]:
    """Y is the difference of T, which lies where Y will, and y."""
    return {"T": NumberPlace(SUM[1], below=2), "y": NumberPlace(right=_SUBTRAHEND, below=2)}


def _results(places: Mapping[str, NumberPlace]) -> dict[str, NumberPlace]:
    return {name.replace("1", "3"): one for name, one in places.items()}


def _double_and_add(machine: Machine) -> list[Step]:
    """Twice the sum, and the column's point added; what is special of a is public."""
    coordinates, of_y = _jacobian(), _of_y()
    point = {"X2": NumberPlace(right=Scratch.X_ADDED), "Y2": NumberPlace(Scratch.Y_2, below=2)}
    given = {**coordinates, **point, **of_y}
    results = {**coordinates, **_results(coordinates), **of_y, "Y": of_y["T"]}
    del results["Y3"]
    if machine.multiplication.overlaps:
        given |= {"ta": _TERM_OF_A_KEPT, "d": NumberPlace(Scratch.SQUARE_OF_Z, below=2)}
        before, text = _of_minus_3_or_a(), _DOUBLE_AND_ADD_BESIDE
    else:
        given, results = given | {"ta": _TERM_OF_A_MADE}, results | {"m": _TERM_OF_A_MADE}
        before, text = _of_a(), _DOUBLE_AND_ADD
    first, *others = _with_entry(text, given, results)
    return [*before, replace(first, label=_WITHOUT_A), *others]


def _with_entry(
    text: str, given: Mapping[str, NumberPlace], results: Mapping[str, NumberPlace]
) -> list[Step]:
    """The steps of a formula, and where it has a bar the next one of `_signed_entry`."""
    made = iter(curve_formula(text.replace("|", ""), given, results, by_bit=True))
    entry = iter(_signed_entry())
    return [next(entry if one == "|" else made) for one in text.split()]


_WITH_A, _WITHOUT_A, _NOT_MINUS_3, _LESS_ONE = "with_a", "without_a", "not_minus_3", "less_one"
"""Labels."""
_TERM_OF_A_MADE = NumberPlace(Scratch.SLOPE, below=2)
"""ta, and the slope, which it is added to."""
_TERM_OF_A_KEPT = NumberPlace(Scratch.TERM_OF_A, below=2)


def _of_a() -> list[Step]:
    """ta, of a = 0 in three products less."""
    of_a = linear(StepKind.SUBTRACT, _TERM, Operand.Y, _UNIT, _P, "a = 0?")
    first, *others = _term_of_a(_TERM_OF_A_MADE)
    return [
        replace(of_a, next=Next.IF_BORROW, target=_WITH_A),
        jump(zero(Scratch.SLOPE), _WITHOUT_A),
        replace(first, label=_WITH_A),
        *others,
    ]


def _term_of_a(term: NumberPlace) -> list[Step]:
    return curve_formula(_TERM_OF_A, {**_jacobian(), "a": A}, {"ta": term})


def _of_minus_3_or_a() -> list[Step]:
    """d where a is -3, else ta if it is not 0. What is not made stays 0. X_2 is 0."""
    z, d = SUM[2], Scratch.SQUARE_OF_Z
    of_minus_3 = linear(StepKind.SUBTRACT, _TERM, Scratch.MINUS_3, _UNIT, _P, "a = -3?")
    of_a = linear(StepKind.SUBTRACT, _TERM, Scratch.X_2, Operand.Y, _P, "a > 0?")
    return [
        replace(of_minus_3, next=Next.IF_BORROW, target=_NOT_MINUS_3),
        jump(multiply(d, z, z, _P, "d=Z1*Z1"), _WITHOUT_A),
        replace(of_a, next=Next.IF_BORROW, target=_WITHOUT_A, label=_NOT_MINUS_3),
        *_term_of_a(_TERM_OF_A_KEPT),
    ]


def _before_columns(machine: Machine) -> list[Step]:
    """What `_of_minus_3_or_a` needs."""
    if not machine.multiplication.overlaps:
        return []
    minus_3 = Scratch.MINUS_3
    less_one = linear(StepKind.SUBTRACT, minus_3, minus_3, _UNIT, _P, "P - a - 3")
    return [
        linear(StepKind.SUBTRACT, minus_3, Operand.P, Operand.Y, _P, "P - a"),
        replace(less_one, next=Next.LOOP, times=3, label=_LESS_ONE, target=_LESS_ONE),
        zero(Scratch.SQUARE_OF_Z),
        zero(Scratch.TERM_OF_A),
    ]


def _from_affine() -> list[Step]:
    """A point with another Z than 1."""
    coordinates = _jacobian()
    results = {"X3": coordinates["X1"], "T": _of_y()["T"]}
    return curve_formula(_FROM_AFFINE, coordinates, results)


def multiply_base(z: Location, form: CurveForm = WEIERSTRASS) -> Step:
    """E times the base point, starting with this number, below 2 c P, for Z."""
    return call(move(_ACC, z, _P), form.multiply_base)


def multiples_of_base(machine: Machine, form: CurveForm = WEIERSTRASS) -> list[Step]:
    """E times the base point, twice; the first is kept.

    They begin with a random Z, or without random numbers with 1 and R^2.
    """
    kept, last = (move(to, one, _P) for to, one in zip(FIRST, SUM[::2], strict=True))
    if machine.randomizes:
        first = call(replace(PASS, modulus=_P, note="k G"), form.randomized)
        return [first, kept, call(last, form.randomized)]  # it calls itself: a step less
    first = multiply_base(Scratch.ONE_FORM, form)
    return [first, kept, last, multiply_base(Operand.P_POWER, form)]


def check_scalar(machine: Machine, k: Sequence[Step]) -> list[Step]:
    """Was E of k? Both multiples have scanned it. E is so again; modulo n. The steps bring k to
    ACCUMULATOR.

    A blinded one is of k if it is a multiple of n more, so that ACCUMULATOR, in place of all of the
    difference, is 0.
    """
    scanned = Scratch.OLD_SCALAR
    difference = linear(StepKind.SUBTRACT, scanned, scanned, Operand.E, _WHOLE, "E - E of k")
    *others, last = k
    compared = [
        move(scanned, Operand.E, _WHOLE),
        *others,
        call(last, BASE_SCALAR),
        difference,
    ]
    same = Step(kind=StepKind.CHECK_SUM, x=scanned, y=scanned, modulus=_WHOLE, note="was E of k?")
    if not machine.hardened:
        return [*compared, same]
    multiple = multiply(_ACC, _ACC, scanned, _Q, "E - E of k, times a constant", outer=_WHOLE)
    return [
        *compared,
        move(_ACC, Operand.Q_POWER, _Q),
        call(multiple, FROM_FORM),
        replace(same, x=_ACC, y=_ACC, modulus=_Q),
    ]


def _to_homogeneous() -> list[Step]:
    coordinates = _jacobian()
    return curve_formula(_HOMOGENEOUS, {**coordinates, **_of_y()}, _results(coordinates))
