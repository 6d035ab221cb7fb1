"""Points of short Weierstrass curves, y^2 = x^3 + a x + b modulo P, on lanes of two banks.

Sources: the ladder is that of Hamburg, Faster Montgomery and double-add ladders for short
Weierstrass curves (2020); the complete addition is algorithm 1 of Renes, Costello, Batina, Complete
addition formulas for prime order elliptic curves (2016). Their names are those of the steps' notes.
What differs: nothing is reduced between products, as R is 64 c P or more.

P is the field's prime, and Q the prime order n of the points. CURRENT is Q, then P, and then Q
again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from coprime.multipliers.bounds import Bound
from coprime.multipliers.multiplication import Multiplication
from coprime.program.operands import OF_ONE, Context, Location, Mode, Operand, Reference, Scratch
from coprime.program.routine import Named, Routine
from coprime.program.steps import PASS, Next, Step, StepKind, linear, multiply, scan

from .banked import POWER, fill_table, make_added_modulus, move
from .curve_form import WEIERSTRASS, CurveForm
from .formulas import TEMPORARIES, NumberPlace, formula
from .operation import Input, Machine, Operation
from .shared_steps import call, descale, jump, prepare, reduced

HEADROOM = 6
"""Bits that R has above c * P: what the ladder takes, and the complete addition."""
ENTER, FROM_FORM = "enter", "from_form"
INVERT, INVERT_BY_BITS = "invert", "invert_by_bits"
MULTIPLY, ADD_COMPLETE = "multiply_point", "add_complete"
POINT_OF_X, RESULT_IS_X = "point_of_x", "result_is_x"
DRAWN, BLIND = "drawn", "blind"
"""Routines, beside those of WEIERSTRASS."""

EC_MULTIPLY_CODE = 8
_SUMS_BITS = frozenset({EC_MULTIPLY_CODE})
"""Commands whose ladder sums up the bits that it has scanned: those with a secret scalar."""

_P, _Q, _CURRENT, _WHOLE = Context.P, Context.Q, Context.CURRENT, Context.WHOLE
SUMMED = (Scratch.Z_2, Scratch.Z_3)
"""What a ladder takes that sums up bits: 0, and the scalar's highest bit, 1."""
DRAWN_DIGITS = Scratch.SQUARE
"""Where DRAWN has its digits."""
BITS_SUMMED = Scratch.Y_3_COPY
"""Where it has the sum, which is the scalar."""
_ACC, _UNIT, _ONE_FORM, _SQUARE = (
    *(Scratch.ACCUMULATOR, Scratch.UNIT, Scratch.ONE_FORM, Scratch.POWER),
)

POINT_X = NumberPlace(Scratch.POINT_X, Scratch.POINT_X_COPY)
POINT_Y = NumberPlace(Scratch.POINT_Y)
A, B3 = NumberPlace(right=Scratch.CURVE_A), NumberPlace(right=Scratch.CURVE_3B, below=4)
SUM = (Scratch.X_1, Scratch.Y_1, Scratch.Z_1)
ADDED = (Scratch.X_ADDED, Scratch.Y_ADDED, Scratch.Z_ADDED)
SUM_BELOW = 6
"""Of coordinates of a sum, in multiples of c * P."""
_PRODUCT = Fraction(5, 4)
TEMPORARY = frozenset(
    one for place in TEMPORARIES for one in (place.left, place.right) if one is not None
)

CURVE = (
    Input(name="a", operand=Operand.Y, meaning="coefficient a of the curve"),
    Input(name="b", operand=Operand.Y, upper=True, meaning="coefficient b of the curve"),
    Input(name="p", operand=Operand.P, meaning="prime modulus p of the curve"),
    Input(name="n", operand=Operand.Q, meaning="prime order n of the base point"),
)
BASE_AND_CURVE = (
    Input(name="gx", operand=Operand.TABLE_0, meaning="coordinate x of the base point"),
    Input(name="gy", operand=Operand.TABLE_0, upper=True, meaning="coordinate y of the base point"),
    *CURVE,
)
USED_UP = frozenset(
    {Operand.E, Operand.Y, Operand.M_POWER, Operand.CRT_P, Operand.CRT_Q, Operand.POINT}
)
curve_operation = partial(
    Operation,
    uses_up=USED_UP,
    curve=WEIERSTRASS.name,
    moduli=(Context.Q, Context.P),
    optional=True,
    setting=("curves", WEIERSTRASS.name),
)
"""A record, with what all operations on these curves have."""

_COMPLETE = """
    t0=X1*X2 t1=Y1*Y2 t2=Z1*Z2 t3=X1+Y1 t4=X2+Y2 t3=t3*t4 t4=t0+t1 t3=t3-t4 t4=X1+Z1 t5=X2+Z2
    t4=t4*t5 t5=t0+t2 t4=t4-t5 t5=Y1+Z1 X3=Y2+Z2 t5=t5*X3 X3=t1+t2 t5=t5-X3 Z3=a*t4 X3=b3*t2
    Z3=X3+Z3 X3=t1-Z3 Z3=t1+Z3 Y3=X3*Z3 t1=t0+t0 t1=t1+t0 t2=a*t2 t4=b3*t4 t1=t1+t2 t2=t0-t2
    t2=a*t2 t4=t4+t2 t0=t1*t4 Y3=Y3+t0 t0=t5*t4 X3=t3*X3 X3=X3-t0 t0=t3*t1 Z3=t5*Z3 Z3=Z3+t0
"""
_LADDER_BEGINS = """
    z=Y+Y zz=z*z t=X*X u=t+t t=u+t m=t+a zzz=zz*z yQ=z*zzz c=X*zz d=c+c c=d+c mm=m*m xR=mm-c
    m2=m+m w=m2*xR yR=w+yQ G=xR*xR
"""
_DRAWS_AT = "s=t+a"
_RANDOMIZED_LADDER_BEGINS = """
    y=Y+Y t=X*X u=t+t t=u+t s=t+a z=L*y m=L*s zz=z*z zzz=zz*z yQ=y*zzz c=X*zz d=c+c c=d+c mm=m*m
    xR=mm-c m2=m+m w=m2*xR yR=w+yQ G=xR*xR
"""
"""The same with Z times a random L, which is drawn in the middle of it."""
_LADDER_ROUND = """
    yQ=yR*yQ yR=yR*yR xR=xR*G xQ=xQ*G J=xR-yQ zb=xQ*yR m=J+xR m=m-yR za=J*xR xQ=yR*yQ J=J*J
    xR=za+zb G=xR-xQ s=m*G yQ=G-J yQ=yR*yQ G=G*G yR=yQ+s
"""
_LADDER_ENDS = """
    t=m*xQ yP=yQ-t s=xQ+xR s=s+s s=s+s mm=m*m xP=mm-s t=xQ+xQ t=t+xQ t=t+t t=t+t u=xP+t
    u=u*yP X1=X*u v=yQ*xP Y1=Y*v Z1=xP*yP
"""
"""xP and u are 12 x Z^2 of P and of Q."""
_ON_CURVE = "t=X*X t=t+a t=t*X y2=Y*Y t=y2-t u=t+t t=u+t v=t-b3"
"""3 (y^2 - (x^2 + a) x) - 3 b."""


def curve_routines(machine: Machine) -> list[Routine]:
    """Those that operations on curves have."""
    return [
        _enter(machine),
        _drawn(),
        *([_blind()] if machine.hardened else []),
        _enter_field(),
        _from_form(machine),
        _invert(machine),
        _invert_by_bits(machine),
        _multiply_point(machine),
        _add_complete(),
        _affine(machine),
        _on_curve(machine),
        result_on_curve(WEIERSTRASS),
        _point_of_x(),
        _result_is_x(),
    ]


# --- Modulo the field's prime, or modulo the order -----------------------------------------------


def _enter(machine: Machine) -> Routine:
    """Modulo CURRENT from here on: constants."""
    multiplication = machine.multiplication
    power = _CURRENT.power
    one = multiply(_ONE_FORM, _ACC, Mode.ONE, _CURRENT, "1 in Montgomery form")
    out = multiply(_ACC, _ONE_FORM, Mode.ONE, _CURRENT, "1, below 2M")
    steps = [
        *_prepare(multiplication),
        move(_ACC, power, _CURRENT),
        one,
        descale(multiplication, out),
        *reduced(_UNIT, _ACC, _CURRENT),
        move(_SQUARE, power, _CURRENT),
        *make_added_modulus(multiplication, _CURRENT),
    ]
    gives = {_ONE_FORM: Bound.times(0, scaled=2), _UNIT: Bound.times(1), _SQUARE: Bound.times(1)}
    clobbers = (_ACC, Scratch.ADDED_MODULUS, Scratch.SCALED)
    return routine(ENTER, steps, _CURRENT, takes={}, gives=gives, clobbers=clobbers)


def _prepare(multiplication: Multiplication) -> list[Step]:
    """Hand the modulus to the multiplier; the window becomes 1."""
    return [replace(step, destination=Scratch.SCALED) for step in prepare(multiplication, _CURRENT)]


def _drawn() -> Routine:
    """ACCUMULATOR is a random number in Montgomery form, below 2 c M, modulo CURRENT."""
    random = DRAWN_DIGITS
    steps = [
        linear(StepKind.DRAW, random, random, _CURRENT.modulus, _CURRENT, "digits are drawn"),
        multiply(_ACC, _CURRENT.power, random, _CURRENT, "a random number"),
    ]
    given = {_ACC: Bound.times(0, scaled=2)}
    return routine(DRAWN, steps, _CURRENT, takes={}, gives=given, clobbers=(random,))


def to_form(destination: Reference, x: Location, context: Context, name: str) -> Step:
    """A number of the left bank in Montgomery form; `ENTER` has brought R^2."""
    return multiply(destination, x, _SQUARE, context, f"{name} in Montgomery form")


def _from_form(machine: Machine) -> Routine:
    """ACCUMULATOR out of Montgomery form, and canonical."""
    steps = out_of_form(machine, _ACC, _CURRENT)
    given = {_ACC: Bound.times(0, scaled=1 << HEADROOM)}
    return routine(FROM_FORM, steps, _CURRENT, takes=given, gives={_ACC: Bound.times(1)})


def out_of_form(machine: Machine, x: Reference, context: Context) -> list[Step]:
    """ACCUMULATOR = x out of Montgomery form, canonical."""
    out = multiply(_ACC, x, Mode.ONE, context, "out of Montgomery form")
    return [descale(machine.multiplication, out), *reduced(_ACC, _ACC, context)]


def plain_product(x: Location, y: Location, context: Context, note: str) -> list[Step]:
    """ACCUMULATOR = x * y, canonical: both are in Montgomery form, and the product is not."""
    return [call(multiply(_ACC, x, y, context, note), FROM_FORM)]


_BY_TABLE = (Scratch.PART, Mode.WINDOW, Scratch.T_0, Scratch.SCALED)
"""What INVERT clobbers beside ACCUMULATOR."""


def _invert(machine: Machine) -> Routine:
    """1 / ACCUMULATOR, below 2M and out of Montgomery form, as ACCUMULATOR is in it.

    The exponent is M - 2, in DP and DQ. Of 0 it is 0.
    """
    multiplication, exponentiation = machine.multiplication, machine.exponentiation
    overlaps = multiplication.overlaps
    one = move(Scratch.T_0 if overlaps else _ACC, _ONE_FORM, _CURRENT)
    last = [
        multiply(_ACC, _ACC, Mode.WINDOW, _CURRENT, "T_15 = B * T_14"),
        move(Scratch.T_15, _ACC, _CURRENT),
    ]
    table = [
        *_prepare(multiplication),
        move(Mode.WINDOW, _ACC, _CURRENT),
        fill_table(_CURRENT, Scratch.T_1 if overlaps else None),
        *([] if overlaps or exponentiation.window_bits < 4 else last),
    ]
    steps = [*table, jump(one, POWER)]
    takes = {_ACC: multiplication.usual_bound, _ONE_FORM: None}
    clobbers = (_ACC, *_BY_TABLE)
    return routine(INVERT, steps, _CURRENT, takes=takes, gives={}, clobbers=clobbers)


def inverse(destination: Scratch, context: Context) -> Step:
    """What INVERT has made modulo P or Q, in Montgomery form."""
    return to_form(destination, Scratch.PART if context is _Q else _ACC, context, "the inverse")


def below(one: Location, context: Context) -> Step:
    """The number is below the modulus."""
    name = context.modulus.name
    return linear(StepKind.CHECK_BELOW, one, one, context.modulus, context, f"{one.name} < {name}?")


def positive(one: Location, context: Context, note: str) -> Step:
    """The number is above 0."""
    return Step(kind=StepKind.CHECK_POSITIVE, x=one, y=one, modulus=context, note=note)


def on_field(points: Sequence[Location], label: str, form: CurveForm = WEIERSTRASS) -> list[Step]:
    """Modulo P from here on, after a check of coordinates and of the curve's coefficients."""
    *others, last = (below(one, _P) for one in (*points, Operand.Y))
    first, *more = [*others, call(last, form.enter_field)]
    return [replace(first, label=label), *more]


def inverted(last: Step, destination: Scratch, context: Context) -> list[Step]:
    """1 / ACCUMULATOR, which the last step makes, both in Montgomery form."""
    return [call(last, INVERT), inverse(destination, context)]


def _invert_by_bits(machine: Machine) -> Routine:
    """TERM = 1 / ACCUMULATOR, both in Montgomery form; no table is touched.

    The exponent M - 2 is public, and so is how long it takes.
    """
    square = "square_of_inverse"
    base, done = Scratch.FORM_D, "inverse_is_done"
    steps = [
        move(base, _ACC, _CURRENT),
        move(_ACC, _ONE_FORM, _CURRENT),
        scan(StepKind.SCAN, _CURRENT, "the highest 1 of M - 2", target=done),
        multiply(
            _ACC, _ACC, _ACC, _CURRENT, "C = C * C", next=Next.IF_BIT, target=done, label=square
        ),
        multiply(_ACC, _ACC, base, _CURRENT, "C = C * B", next=Next.NEXT_BIT, target=square),
        replace(move(Scratch.TERM, _ACC, _CURRENT), label=done),
    ]
    bound = machine.multiplication.usual_bound
    return routine(
        INVERT_BY_BITS,
        steps,
        _CURRENT,
        takes={_ACC: bound, _ONE_FORM: None},
        gives={Scratch.TERM: bound},
        clobbers=(_ACC, base),
    )


def _enter_field() -> Routine:
    """Modulo P from here on: its constants, and a and 3 b in Montgomery form."""
    b3 = Scratch.CURVE_3B
    steps = [
        call(below(Scratch.Y_HIGH, _P), ENTER),
        move(_ACC, Operand.P_POWER, _P),
        multiply(Scratch.CURVE_A, _ACC, Operand.Y, _P, "a in Montgomery form"),
        multiply(b3, _ACC, Scratch.Y_HIGH, _P, "b in Montgomery form"),
        linear(StepKind.ADD, _ACC, b3, b3, _P, "2 b"),
        linear(StepKind.ADD, b3, _ACC, b3, _P, "3 b"),
    ]
    return routine(
        WEIERSTRASS.enter_field,
        steps,
        _P,
        takes={Operand.Y: None},
        gives={
            _ONE_FORM: Bound.times(0, scaled=2),
            **dict.fromkeys((_UNIT, _SQUARE), Bound.times(1)),
            Scratch.CURVE_A: Bound.times(0, scaled=2),
            b3: Bound.times(0, scaled=4),
        },
        clobbers=(_ACC, Scratch.ADDED_MODULUS, Scratch.SCALED),
    )


def enter_point(x: Location, y: Location, form: CurveForm = WEIERSTRASS) -> list[Step]:
    """A point in Montgomery form, which is on the curve. X lies left, SUM and POINT right."""
    of_x, of_y = to_form(Scratch.POINT_X, x, _P, "x"), to_form(Scratch.POINT_Y, y, _P, "y")
    power = _SQUARE
    if x in (Scratch.SUM, Operand.POINT):
        power = _ACC
        of_x, of_y = replace(of_x, x=power, y=x), replace(of_y, x=power, y=y)
    return [
        move(power, Operand.P_POWER, _P),
        replace(of_x, copy=Scratch.POINT_X_COPY),
        call(of_y, form.on_curve),
        Step(
            kind=StepKind.CHECK_ON_CURVE,
            x=_ACC,
            y=_ACC,
            modulus=_P,
            note="is the point on the curve?",
        ),
    ]


def _point_of_x() -> Routine:
    """Modulo P from here on: the two numbers of X are a point, which is on the curve."""
    point, product = (Operand.X, Scratch.X_HIGH), Bound.times(0, scaled=2)
    coordinates = (Scratch.POINT_X, Scratch.POINT_X_COPY, Scratch.POINT_Y)
    return routine(
        POINT_OF_X,
        [*on_field(point, POINT_OF_X), *enter_point(*point)],
        _P,
        takes=dict.fromkeys((*point, Operand.Y), None),
        gives={
            **dict.fromkeys((_ONE_FORM, Scratch.CURVE_A, *coordinates), product),
            Scratch.CURVE_3B: Bound.times(0, scaled=4),
            **dict.fromkeys((_UNIT, _SQUARE), Bound.times(1)),
        },
        clobbers=(_ACC, Scratch.ADDED_MODULUS, Scratch.SCALED, *TEMPORARY),
    )


def entered_point(x: Location, y: Location, form: CurveForm = WEIERSTRASS) -> list[Step]:
    """A point of the left bank in Montgomery form, and whether it is on the curve."""
    return [
        replace(to_form(Scratch.POINT_X, x, _P, "x"), copy=Scratch.POINT_X_COPY),
        call(to_form(Scratch.POINT_Y, y, _P, "y"), form.on_curve),
    ]


def lengthen() -> list[Step]:
    """E = k + n or k + 2 n, whichever has one bit more than n, of a k in ACCUMULATOR.

    So a ladder's first bit is always 1. M is the power of two above n.
    """
    e = Operand.E
    return [
        linear(StepKind.ADD, e, _ACC, Operand.Q, _Q, "k + n"),
        linear(StepKind.SUBTRACT, _ACC, e, Operand.M, _Q, "has it a bit more than n?"),
        linear(StepKind.RESTORE, e, e, Operand.Q, _Q, "k + 2 n, where it has not"),
    ]


def times_order() -> list[Step]:
    """MULTIPLE = n, as long as E."""
    multiple = Scratch.MULTIPLE
    return [zero(multiple, _WHOLE), move(multiple, Operand.Q, _Q)]


def _blind() -> Routine:
    """E = E + r * MULTIPLE, and MULTIPLE = 2^b * MULTIPLE, of a random r of b bits.

    For each bit of r there is a double of MULTIPLE, which is added or not.
    """
    e, multiple, fits = Operand.E, Scratch.MULTIPLE, "the exponent's length has bits for it"
    added = linear(StepKind.ADD_IF_DRAWN, e, e, multiple, _WHOLE, "E + r_i 2^i * MULTIPLE")
    doubled = linear(StepKind.ADD, multiple, multiple, multiple, _WHOLE, "twice of it")
    steps = [
        replace(added, fits=fits),
        replace(doubled, fits=fits, next=Next.LOOP, target=BLIND),
        replace(PASS, modulus=_WHOLE, note="E is blinded"),
    ]
    return routine(BLIND, steps, _WHOLE, takes={multiple: None}, gives={}, clobbers=(e, multiple))


def lengthen_blinded() -> list[Step]:
    """E = k + (1 + 4 r) n, and once or twice 2^(b + 2) n, of a k in ACCUMULATOR and a random r.

    It has b + 3 bits more than n. M is the power of two below it. No prefix of E but the last two
    is 0 or -1 modulo n, since 1 + 4 r is neither modulo 4.
    """
    e, multiple = Operand.E, Scratch.MULTIPLE
    fits = "the exponent's length has bits for it"
    cleared, order = times_order()
    twice = linear(StepKind.ADD, multiple, multiple, multiple, _WHOLE, "2 n")
    twice = replace(twice, fits=fits)
    added = linear(StepKind.ADD, e, e, multiple, _WHOLE, "... + 2^(b + 2) n")
    compared = linear(StepKind.SUBTRACT, Scratch.DIFFERENCE, e, Operand.M, _WHOLE, "is it below M?")
    return [
        zero(e, _WHOLE),
        linear(StepKind.ADD, e, _ACC, Operand.Q, _Q, "k + n"),
        cleared,
        order,
        twice,
        call(replace(twice, note="4 n"), BLIND),
        replace(added, fits=fits),
        compared,
        linear(StepKind.RESTORE, e, e, multiple, _WHOLE, "... once more, if it is"),
    ]


# --- k times a point -----------------------------------------------------------------------------


def _multiply_point(machine: Machine) -> Routine:
    """X_1 : Y_1 : Z_1 = E * the point; E is that of `lengthen`.

    The point at infinity can come up at the last two bits only, which have complete formulas; so
    have all bits of a point with x = 0, from which the ladder cannot go on.
    """
    ladder, last_bits, others_follow = "ladder", "last_bits", "point_of_last_bits"
    find = scan(StepKind.SCAN_PUBLIC, Context.WHOLE, "the highest 1", target=last_bits)
    is_zero = linear(StepKind.SUBTRACT, _ACC, _ACC, _UNIT, _P, "x = 0?")
    first, *others = _ladder(machine, after=last_bits)
    x_1, y_1, z_1 = SUM
    steps = [
        call(move(_ACC, Scratch.POINT_X, _P), FROM_FORM),
        find,
        replace(is_zero, next=Next.IF_BORROW, target=ladder),
        move(x_1, Scratch.POINT_X, _P),
        move(y_1, Scratch.POINT_Y, _P),
        move(z_1, _ONE_FORM, _P),
        replace(PASS, modulus=_P, next=Next.NEXT_BIT, target=last_bits, note="on below the 1"),
        replace(first, label=ladder),
        *others,
        replace(zero(Scratch.X_2), label=last_bits, **_sums_bits(others_follow)),
        move(BITS_SUMMED, Scratch.Z_3, _P),
        zero(Scratch.Y_2_COPY),
        replace(move(Scratch.X_3, Scratch.POINT_X, _P), label=others_follow),
        move(Scratch.Y_2, _ONE_FORM, _P),
        move(Scratch.Y_3, Scratch.POINT_Y, _P),
        zero(Scratch.Z_2),
        move(Scratch.Z_3, _ONE_FORM, _P),
        *_add_by_bits(machine),
    ]
    point = (Scratch.POINT_X, Scratch.POINT_X_COPY, Scratch.POINT_Y)
    constants = (Scratch.CURVE_A, Scratch.CURVE_3B, _ONE_FORM, _UNIT)
    ladder_numbers = (
        *(Scratch.X_2, Scratch.X_3, Scratch.Y_2, Scratch.Y_2_COPY, Scratch.Y_3, Scratch.Y_3_COPY),
        *(Scratch.Z_2, Scratch.Z_3, Scratch.SLOPE, Scratch.SLOPE_COPY, Scratch.SQUARE),
    )
    return routine(
        MULTIPLY,
        steps,
        _P,
        takes=dict.fromkeys((*point, *constants, *SUMMED), None),
        gives=dict.fromkeys(SUM, Bound.times(0, scaled=SUM_BELOW)),
        clobbers=(_ACC, *SUMMED, *ladder_numbers, *ADDED, *TEMPORARY),
    )


def _sums_bits(otherwise: str) -> dict[str, Any]:
    """After the step: the following ones in commands that sum up the bits, else this label."""
    return {"next": Next.IF_COMMAND, "commands": _SUMS_BITS, "target": otherwise}


def _scanned(machine: Machine, zeros: Scratch) -> list[Step]:
    """The next bit of the scalar is summed up, in the number that changes places with `zeros`.

    Where the bit is 0, it is `zeros` that counts it.
    """
    bits, fits = OF_ONE[zeros], "the exponent has as many digits"
    doubled = linear(StepKind.ADD, bits, bits, bits, _P, "2 * the bits scanned")
    counted = linear(StepKind.ADD, zeros, zeros, _UNIT, _P, "... + 1, of a 1")
    summed = [replace(doubled, fits=fits), replace(counted, by_bit=True, fits=fits)]
    if machine.hardened:  # a blinded one has more
        less = linear(StepKind.SUBTRACT, bits, bits, Operand.Q, _P, "... less n")
        restored = linear(
            StepKind.RESTORE, bits, bits, Operand.Q, _P, "... + n, where it is below 0"
        )
        summed += [less, restored]
    return summed


def _ladder(machine: Machine, *, after: str) -> list[Step]:
    """X_1 : Y_1 : Z_1 = E * the point, but for E's last two bits, at which the scan is then.

    `after` is the label of the step that follows. Only E's bits below its highest 1 count.
    """
    x_2, x_3, y_2, y_3 = (
        NumberPlace(Scratch.X_2),
        NumberPlace(Scratch.X_3),
        NumberPlace(Scratch.Y_2, Scratch.Y_2_COPY),
        NumberPlace(Scratch.Y_3, Scratch.Y_3_COPY),
    )
    slope, square = (
        NumberPlace(Scratch.SLOPE, Scratch.SLOPE_COPY),
        NumberPlace(right=Scratch.SQUARE),
    )
    at_ends = {"xQ": x_2, "xR": x_3, "yQ": y_2, "yR": y_3, "G": square}
    # A round's formulas are those of a bit that is 1. They are named as they lie where it is 0.
    in_rounds = {"xQ": x_3, "xR": x_2, "yQ": y_3, "yR": y_2, "G": square}
    begin = curve_formula(
        _RANDOMIZED_LADDER_BEGINS if machine.randomizes else _LADDER_BEGINS,
        {"X": POINT_X, "Y": POINT_Y, "a": A, "L": NumberPlace(_ACC, below=2)},
        {"yQ": y_2, "xR": x_3, "yR": y_3, "G": square},
    )
    begin = [call(one, DRAWN) if one.note == _DRAWS_AT else one for one in begin]
    rounds = curve_formula(
        _LADDER_ROUND,
        _below(in_rounds, xR=6, yR=4, G=2),
        {**in_rounds, "m": slope},
        by_bit=True,
    )
    end = curve_formula(
        _LADDER_ENDS,
        {"X": POINT_X, "Y": POINT_Y, **_below({**at_ends, "m": slope}, xR=3, yR=3, m=7)},
        dict(zip(("X1", "Y1", "Z1"), map(NumberPlace, SUM), strict=True)),
    )
    label, go_on = "ladder_round", "ladder_goes_on"
    # The bit is summed after all but one of the steps that it has changed the places of: if a fault
    # turns it into another one before, the sum has that one, too. G * G is none of them; where sums
    # are beside products it comes after that, with the last sum beside it.
    left = 2 if machine.multiplication.overlaps else 1
    first, *others, before = rounds[:-left]
    *more, last = rounds[-left:]
    goes_on, *ending = [*more, replace(last, next=Next.NEXT_BIT, target=label, leaves_two=True)]
    return [
        zero(Scratch.X_2),
        *begin[:-1],
        replace(begin[-1], next=Next.NEXT_BIT, target=label),
        replace(first, label=label),
        *others,
        replace(before, **_sums_bits(go_on)),
        *_scanned(machine, Scratch.Z_2),
        replace(goes_on, label=go_on),
        *ending,
        *end[:-1],
        replace(end[-1], next=Next.NEXT_BIT, target=after),
    ]


def _below(places: dict[str, NumberPlace], **below: int) -> dict[str, NumberPlace]:
    """The places, of numbers that are below these multiples of c * P; else a product's."""
    return {name: replace(one, below=below.get(name, _PRODUCT)) for name, one in places.items()}


def _add_by_bits(machine: Machine) -> list[Step]:
    """The sum doubled, and the point added, or O, for each bit that is left of E; and RETURN.

    X_2 : Y_2 : Z_2 is O, and X_3 : Y_3 : Z_3 the point.
    """
    first, go_on = "add_by_bits", "next_of_bits"
    by_bit = (Scratch.X_2, Scratch.Y_2, Scratch.Z_2)
    doubled, *others = add_point(SUM)
    below_it = replace(PASS, modulus=_P, note="on to the bit below")
    end = move(_ACC, _UNIT, _P)
    return [
        replace(doubled, label=first),
        *others,
        *(replace(step, by_bit=True) for step in add_point(by_bit)),
        replace(PASS, modulus=_P, note="the bit", **_sums_bits(go_on)),
        *_scanned(machine, Scratch.Y_2_COPY),
        replace(below_it, label=go_on, next=Next.NEXT_BIT, target=first),
        replace(end, next=Next.RETURN),
    ]


def add_point(point: Sequence[Scratch]) -> list[Step]:
    """Add a point in homogeneous coordinates to the sum; also the sum itself."""
    *steps, last = (move(to, one, _P) for to, one in zip(ADDED, point, strict=True))
    return [*steps, call(last, ADD_COMPLETE)]


def _add_complete() -> Routine:
    """X_1 : Y_1 : Z_1 + X_ADDED : Y_ADDED : Z_ADDED, whatever they are."""
    sums = [NumberPlace(one, below=SUM_BELOW) for one in SUM]
    added = [NumberPlace(right=one, below=SUM_BELOW) for one in ADDED]
    places = dict(zip(("X1", "Y1", "Z1", "X2", "Y2", "Z2"), (*sums, *added), strict=True))
    results = dict(zip(("X3", "Y3", "Z3"), sums, strict=True))
    steps = curve_formula(_COMPLETE, {**places, "a": A, "b3": B3}, results)
    given = Bound.times(0, scaled=SUM_BELOW)
    return routine(
        ADD_COMPLETE,
        steps,
        _P,
        takes={
            **dict.fromkeys((*SUM, *ADDED), given),
            **dict.fromkeys((Scratch.CURVE_A, Scratch.CURVE_3B), None),
        },
        gives=dict.fromkeys(SUM, given),
        clobbers=TEMPORARY,
    )


def _affine(machine: Machine) -> Routine:
    """X_1 and Y_1 by Z_1, canonical, after a check that they are on the curve.

    Of Z_1 = 0, the point at infinity, the operation ends.
    """
    x_1, y_1, z_1 = SUM
    square, term = _SQUARE, Scratch.TERM
    steps = [
        move(square, Operand.P_POWER, _P),  # a place less while the sum is made
        *out_of_form(machine, z_1, _P),
        Step(kind=StepKind.CHECK_FINITE, y=_ACC, modulus=_P, note="is the sum not O?"),
        *inverted(to_form(_ACC, _ACC, _P, "Z, below 2 c P again,"), term, _P),
        *plain_product(x_1, term, _P, "X / Z"),
        move(x_1, _ACC, _P),
        *plain_product(y_1, term, _P, "Y / Z"),
        move(y_1, _ACC, _P),
        *is_sum_on_curve(),
    ]
    given = Bound.times(0, scaled=SUM_BELOW)
    return routine(
        WEIERSTRASS.affine,
        steps,
        _P,
        takes={
            **dict.fromkeys(SUM, given),
            **dict.fromkeys((_ONE_FORM, *WEIERSTRASS.constants), None),
        },
        gives=dict.fromkeys((x_1, y_1), Bound.times(1)),
        clobbers=(
            *(_ACC, term, square, Scratch.POINT_X, Scratch.POINT_X_COPY, Scratch.POINT_Y),
            *_BY_TABLE,
            *TEMPORARY,
        ),
    )


def is_sum_on_curve() -> list[Step]:
    """A check of affine coordinates.

    A table of another base point, or of another curve, leads off the curve, too.
    """
    on_curve = Step(kind=StepKind.CHECK_SUM, y=_ACC, modulus=_P, note="is the result on the curve?")
    return [*entered_point(*SUM[:2]), on_curve]


def _on_curve(machine: Machine) -> Routine:
    """ACCUMULATOR is 0 if the point is on the curve, else between 0 and P."""
    places = {"X": POINT_X, "Y": POINT_Y, "a": A, "b3": B3}
    steps = curve_formula(_ON_CURVE, places, {"v": NumberPlace(_ACC)})
    numbers = (
        *(Scratch.POINT_X, Scratch.POINT_X_COPY, Scratch.POINT_Y),
        *(Scratch.CURVE_A, Scratch.CURVE_3B),
    )
    return routine(
        WEIERSTRASS.on_curve,
        [*steps, *out_of_form(machine, _ACC, _P)],
        _P,
        takes=dict.fromkeys(numbers, None),
        gives={_ACC: Bound.times(1)},
        clobbers=TEMPORARY,
    )


def curve_formula(
    text: str,
    places: Mapping[str, NumberPlace],
    results: Mapping[str, NumberPlace],
    *,
    by_bit: bool = False,
) -> list[Step]:
    """The steps of a formula modulo P."""
    return formula(text, places, results, headroom=HEADROOM, context=_P, by_bit=by_bit)


def routine(
    name: str,
    steps: Sequence[Step],
    context: Context,
    *,
    takes: Mapping[Any, Bound | None] | Mapping[Any, Bound],
    gives: Mapping[Any, Bound],
    clobbers: Iterable[Named] = (),
) -> Routine:
    """The steps with the routine's label; the last one returns, unless it jumps."""
    first, *others, last = steps
    if last.next is Next.FOLLOWING:
        last = replace(last, next=Next.RETURN)
    return Routine(
        name=name,
        steps=(replace(first, label=name), *others, last),
        context=context,
        takes=dict(takes.items()),
        gives=dict(gives.items()),
        clobbers=frozenset(clobbers),
    )


def modulo_order(destination: Scratch, x: Scratch) -> list[Step]:
    """A number below P, canonical modulo Q: P is below 2 Q. It may have a digit less than Q."""
    return [
        zero(destination, _Q),
        move(destination, x, _P),
        *reduced(destination, destination, _Q),
    ]


def claim(x: Scratch, y: Scratch, context: Context) -> list[Step]:
    """SUM becomes two numbers below the modulus, which all that follows is to check.

    A fault before CHECK_REDUCED may have made them wrong, but then does not spoil the check; after
    it the check may be spoilt, but they are right.
    """
    high, modulus = Scratch.SUM_HIGH, context.modulus
    note = f"{y.name} < {modulus.name}?"
    return [
        zero(Scratch.SUM, Context.WHOLE),
        move(Scratch.SUM, x, context),
        move(high, y, context),
        linear(StepKind.CHECK_REDUCED, y, y, modulus, context, note),
    ]


def checked(context: Context, note: str) -> Step:
    """ACCUMULATOR is 0, or everything is wiped: the check modulo this modulus."""
    return linear(StepKind.CHECK_ZERO, _ACC, _ACC, _ACC, context, note)


def result_on_curve(form: CurveForm) -> Routine:
    """The end of an operation whose result is a point: is it on the curve?

    The result is copied before: what happens to the claim until then is in the check, too.
    """
    *steps, _ = enter_point(Scratch.SUM, Scratch.SUM_HIGH, form)
    last = jump(checked(_P, "is the result on the curve?"), "")
    return routine(
        form.result_on_curve,
        [*copied_result(_P), *steps, last],
        _P,
        takes={
            **dict.fromkeys((Scratch.SUM, Scratch.SUM_HIGH), Bound.times(1)),
            **dict.fromkeys(form.constants, None),
        },
        gives={},
        clobbers=(
            *(_ACC, Scratch.POINT_X, Scratch.POINT_X_COPY, Scratch.POINT_Y),
            *(Scratch.RESULT, Scratch.RESULT_HIGH, *TEMPORARY),
        ),
    )


def _result_is_x() -> Routine:
    """The end of an operation that has answered a question: the result is the first number of X."""
    last = jump(move(Scratch.RESULT, Operand.X, _P), "")
    steps = [zero(Scratch.RESULT, Context.WHOLE), last]
    return routine(
        RESULT_IS_X,
        steps,
        _P,
        takes={Operand.X: Bound.times(1)},
        gives={},
        clobbers=(Scratch.RESULT,),
    )


def copied_result(context: Context) -> list[Step]:
    """The result is a copy of the claim. What lies between its two numbers is 0."""
    return [
        zero(Scratch.RESULT, Context.WHOLE),
        move(Scratch.RESULT, Scratch.SUM, context),
        move(Scratch.RESULT_HIGH, Scratch.SUM_HIGH, context),
    ]


def zero(destination: Reference, context: Context = _P) -> Step:
    """A number as long as the modulus becomes 0."""
    note = f"{destination.name} = 0"
    return linear(StepKind.SUBTRACT, destination, destination, destination, context, note)
