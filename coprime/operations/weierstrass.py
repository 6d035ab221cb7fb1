"""Points of short Weierstrass curves, y^2 = x^3 + a x + b modulo P, on lanes of two banks.

Sources: the ladder is that of Hamburg, Faster Montgomery and double-add ladders for short
Weierstrass curves (2020); the complete addition is algorithm 1 of Renes, Costello, Batina, Complete
addition formulas for prime order elliptic curves (2016). Their names are those of the steps' notes.
What differs: nothing is reduced between products, as R is 64 c P or more.

P is the field's prime, and Q the prime order n of the points. CURRENT is Q, then P, and then Q
again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from coprime.multipliers.bounds import Bound
from coprime.program.builder import Builder, RoutineBuilder
from coprime.program.operands import (
    SWAPPED_BY_BIT,
    Context,
    Core,
    Entry,
    Exchanged,
    Location,
    Mode,
    Operand,
    Reference,
    Scratch,
    UpperHalf,
)
from coprime.program.routine import Named, Routine
from coprime.program.steps import Step, StepKind

from .banked import POWER, Banked, fill_table, make_added_modulus, prepare_banked
from .curve_form import WEIERSTRASS, Curve, CurveForm
from .encodings.weierstrass import WeierstrassPairs
from .formulas import TEMPORARIES, NumberPlace, formula
from .operation import Input, Machine, Operation


class CurvePoint(Scratch):
    """Points and scalars of operations on curves."""

    DIFFERENCE = 32
    """A number as long as the whole modulus, of which only a borrow counts."""
    POINT_X = 89
    """A point of a short Weierstrass curve; the copies lie right."""
    POINT_X_COPY = 90
    POINT_Y = 91
    X_1 = 97
    """X_1 : Y_1 : Z_1 is the sum of points that is made."""
    Y_1 = 98
    Z_1 = 99
    X_ADDED = 103
    """X_ADDED : Y_ADDED : Z_ADDED is added to it."""
    Y_ADDED = 104
    Z_ADDED = 105
    SLOPE = 110
    """That of the line through the ladder's two points."""
    SLOPE_COPY = 111
    CLAIMED_0 = 112
    CLAIMED_1 = 113
    """Coordinates that a result claims, in Montgomery form."""
    SQUARE = 114
    """That of the difference of their coordinates x."""
    X_KEPT = 115
    """X_KEPT : Y_KEPT : Z_KEPT is a sum of points that waits for another one."""
    Y_KEPT = 116
    Z_KEPT = 117
    FORM_D = 125
    """The private key in Montgomery form."""


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

_P, _Q, _CURRENT = Context.P, Context.Q, Context.CURRENT
SUMMED = (Exchanged.Z_2, Exchanged.Z_3)
"""What a ladder takes that sums up bits: 0, and the scalar's highest bit, 1."""
DRAWN_DIGITS = CurvePoint.SQUARE
"""Where DRAWN has its digits."""
BITS_SUMMED = Exchanged.Y_3_COPY
"""Where it has the sum, which is the scalar."""
_ACC, _UNIT, _ONE_FORM, _SQUARE = Core.ACCUMULATOR, Banked.UNIT, Banked.ONE_FORM, Banked.POWER

POINT_X = NumberPlace(CurvePoint.POINT_X, CurvePoint.POINT_X_COPY)
POINT_Y = NumberPlace(CurvePoint.POINT_Y)
A, B3 = NumberPlace(right=Curve.CURVE_A), NumberPlace(right=Curve.CURVE_3B, below=4)
SUM = (CurvePoint.X_1, CurvePoint.Y_1, CurvePoint.Z_1)
ADDED = (CurvePoint.X_ADDED, CurvePoint.Y_ADDED, CurvePoint.Z_ADDED)
SUM_BELOW = 6
"""Of coordinates of a sum, in multiples of c * P."""
_OF_SUM, _PRODUCT = Bound.times(0, scaled=SUM_BELOW), Bound.times(0, scaled=2)
_POINT = (CurvePoint.POINT_X, CurvePoint.POINT_X_COPY, CurvePoint.POINT_Y)
EXPONENT_FITS = "the exponent's length has bits for it"
TEMPORARY = frozenset(
    location
    for place in TEMPORARIES
    for location in (place.left, place.right)
    if location is not None
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
    encoding_of=WeierstrassPairs,
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


_OF_FIELD: Mapping[Named, Bound] = {
    **dict.fromkeys((_ONE_FORM, Curve.CURVE_A), _PRODUCT),
    **dict.fromkeys((_UNIT, _SQUARE), Bound.times(1)),
    Curve.CURVE_3B: Bound.times(0, scaled=4),
}
_BY_ENTER = (_ACC, Core.ADDED_MODULUS, Core.SCALED)


def _enter(machine: Machine) -> Routine:
    """Modulo CURRENT from here on: constants."""
    multiplication = machine.multiplication
    code = RoutineBuilder(
        ENTER,
        _CURRENT,
        takes={},
        gives={_ONE_FORM: _PRODUCT, _UNIT: Bound.times(1), _SQUARE: Bound.times(1)},
        clobbers=_BY_ENTER,
    )
    prepare_banked(code, multiplication)
    code.move(_ACC, _CURRENT.power)
    code.multiply(_ONE_FORM, _ACC, Mode.ONE, "1 in Montgomery form")
    code.multiply(_ACC, _ONE_FORM, Mode.ONE, "1, below 2M", descale=multiplication.scaled)
    code.reduce(_UNIT, _ACC)
    code.move(_SQUARE, _CURRENT.power)
    make_added_modulus(code, multiplication)
    return code.routine()


def _drawn() -> Routine:
    """ACCUMULATOR is a random number in Montgomery form, below 2 c M, modulo CURRENT."""
    random, gives = DRAWN_DIGITS, {_ACC: _PRODUCT}
    code = RoutineBuilder(DRAWN, _CURRENT, takes={}, gives=gives, clobbers=(random,))
    code.draw(random, random)
    code.multiply(_ACC, _CURRENT.power, random, "a random number")
    return code.routine()


def to_form(code: Builder, destination: Reference, x: Location, name: str, **fields: Any) -> None:
    """A number of the left bank in Montgomery form; `ENTER` has brought R^2."""
    code.multiply(destination, x, _SQUARE, f"{name} in Montgomery form", **fields)


def _from_form(machine: Machine) -> Routine:
    """ACCUMULATOR out of Montgomery form, and canonical."""
    takes, gives = {_ACC: Bound.times(0, scaled=1 << HEADROOM)}, {_ACC: Bound.times(1)}
    code = RoutineBuilder(FROM_FORM, _CURRENT, takes=takes, gives=gives)
    out_of_form(code, machine, _ACC)
    return code.routine()


def out_of_form(code: Builder, machine: Machine, x: Reference) -> None:
    """ACCUMULATOR = x out of Montgomery form, canonical."""
    scaled = machine.multiplication.scaled
    code.multiply(_ACC, x, Mode.ONE, "out of Montgomery form", descale=scaled)
    code.reduce(_ACC, _ACC)


def plain_product(code: Builder, x: Location, y: Location, note: str) -> None:
    """ACCUMULATOR = x * y, canonical: both are in Montgomery form, and the product is not."""
    code.multiply(_ACC, x, y, note)
    code.call(FROM_FORM)


_BY_TABLE = (Core.PART, Mode.WINDOW, Entry.T_0, Core.SCALED)
"""What INVERT clobbers beside ACCUMULATOR."""


def _invert(machine: Machine) -> Routine:
    """1 / ACCUMULATOR, below 2M and out of Montgomery form, as ACCUMULATOR is in it.

    The exponent is M - 2, in DP and DQ. Of 0 it is 0.
    """
    multiplication, exponentiation = machine.multiplication, machine.exponentiation
    overlaps = multiplication.overlaps
    code = RoutineBuilder(
        INVERT,
        _CURRENT,
        takes={_ACC: multiplication.usual_bound, _ONE_FORM: None},
        gives={},
        clobbers=(_ACC, *_BY_TABLE),
    )
    prepare_banked(code, multiplication)
    code.move(Mode.WINDOW, _ACC)
    fill_table(code, Entry.T_1 if overlaps else None)
    if not overlaps and exponentiation.window_bits >= 4:
        code.multiply(_ACC, _ACC, Mode.WINDOW, "T_15 = B * T_14")
        code.move(Entry.T_15, _ACC)
    code.move(Entry.T_0 if overlaps else _ACC, _ONE_FORM)
    code.jump(POWER)
    return code.routine()


def invert(code: Builder, destination: Scratch) -> None:
    """1 / ACCUMULATOR, which the last step makes, modulo P or Q; both in Montgomery form."""
    code.call(INVERT)
    to_form(code, destination, Core.PART if code.context is _Q else _ACC, "the inverse")


def enter_field(code: Builder, *coordinates: Location, form: CurveForm = WEIERSTRASS) -> None:
    """Modulo P from here on, after a check of coordinates and of the curve's coefficients."""
    for number in (*coordinates, Operand.Y):
        code.p.check_below(number, number)
    code.call(form.enter_field)


def _invert_by_bits(machine: Machine) -> Routine:
    """TERM = 1 / ACCUMULATOR, both in Montgomery form; no table is touched.

    The exponent M - 2 is public, and so is how long it takes.
    """
    base, done, usual = CurvePoint.FORM_D, "inverse_is_done", machine.multiplication.usual_bound
    code = RoutineBuilder(
        INVERT_BY_BITS,
        _CURRENT,
        takes={_ACC: usual, _ONE_FORM: None},
        gives={Banked.TERM: usual},
        clobbers=(_ACC, base),
    )
    code.move(base, _ACC)
    code.move(_ACC, _ONE_FORM)
    code.scan(StepKind.SCAN, "the highest 1 of M - 2", done)
    with code.each_bit("square_of_inverse"):
        code.multiply(_ACC, _ACC, _ACC, "C = C * C")
        code.if_bit(done)
        code.multiply(_ACC, _ACC, base, "C = C * B")
    code.label(done)
    code.move(Banked.TERM, _ACC)
    return code.routine()


def _enter_field() -> Routine:
    """Modulo P from here on: its constants, and a and 3 b in Montgomery form."""
    b, b3 = UpperHalf.Y_HIGH, Curve.CURVE_3B
    code = RoutineBuilder(
        WEIERSTRASS.enter_field, _P, takes={Operand.Y: None}, gives=_OF_FIELD, clobbers=_BY_ENTER
    )
    code.check_below(b, b)
    code.call(ENTER)
    code.move(_ACC, Operand.P_POWER)
    code.multiply(Curve.CURVE_A, _ACC, Operand.Y, "a in Montgomery form")
    code.multiply(b3, _ACC, b, "b in Montgomery form")
    code.add(_ACC, b3, b3, "2 b")
    code.add(b3, _ACC, b3, "3 b")
    return code.routine()


def enter_point(code: Builder, x: Location, y: Location, form: CurveForm = WEIERSTRASS) -> None:
    """A point in Montgomery form; ACCUMULATOR is 0 if it is on the curve.

    X lies left, SUM and POINT right.
    """
    if x in (Core.SUM, Operand.POINT):
        code.move(_ACC, Operand.P_POWER)
        x_copy = CurvePoint.POINT_X_COPY
        code.multiply(CurvePoint.POINT_X, _ACC, x, "x in Montgomery form", copy=x_copy)
        code.multiply(CurvePoint.POINT_Y, _ACC, y, "y in Montgomery form")
    else:
        code.move(_SQUARE, Operand.P_POWER)
        _enter_left_point(code, x, y)
    code.call(form.on_curve)


def _enter_left_point(code: Builder, x: Location, y: Location) -> None:
    to_form(code, CurvePoint.POINT_X, x, "x", copy=CurvePoint.POINT_X_COPY)
    to_form(code, CurvePoint.POINT_Y, y, "y")


def check_point(code: Builder, note: str = "is the point on the curve?") -> None:
    """ACCUMULATOR is 0, or the operation ends."""
    code.do(StepKind.CHECK_ON_CURVE, note, x=_ACC, y=_ACC)


def _point_of_x() -> Routine:
    """Modulo P from here on: the two numbers of X are a point, which is on the curve."""
    point = (Operand.X, UpperHalf.X_HIGH)
    code = RoutineBuilder(
        POINT_OF_X,
        _P,
        takes=dict.fromkeys((*point, Operand.Y), None),
        gives={**_OF_FIELD, **dict.fromkeys(_POINT, _PRODUCT)},
        clobbers=(*_BY_ENTER, *TEMPORARY),
    )
    enter_field(code, *point)
    enter_point(code, *point)
    check_point(code)
    return code.routine()


def lengthen(code: Builder, compared: Scratch = _ACC) -> None:
    """E = k + n or k + 2 n, whichever has one bit more than n, of a k in ACCUMULATOR.

    So a ladder's first bit is always 1. M is the power of two above n.
    """
    e = Operand.E
    code.add(e, _ACC, Operand.Q, "k + n")
    code.subtract(compared, e, Operand.M, "has it a bit more than n?")
    code.restore(e, e, Operand.Q, "k + 2 n, where it has not")


def times_order(code: Builder) -> None:
    """MULTIPLE = n, as long as E."""
    code.whole.zero(Banked.MULTIPLE)
    code.q.move(Banked.MULTIPLE, Operand.Q)


def _blind() -> Routine:
    """E = E + r * MULTIPLE, and MULTIPLE = 2^b * MULTIPLE, of a random r of b bits.

    For each bit of r there is a double of MULTIPLE, which is added or not.
    """
    e, multiple, either = Operand.E, Banked.MULTIPLE, StepKind.ADD_IF_DRAWN
    code = RoutineBuilder(
        BLIND, Context.WHOLE, takes={multiple: None}, gives={}, clobbers=(e, multiple)
    )
    with code.loop(BLIND):
        code.linear(either, e, e, multiple, "E + r_i 2^i * MULTIPLE", fits=EXPONENT_FITS)
        code.add(multiple, multiple, multiple, "twice of it", fits=EXPONENT_FITS)
    code.rest("E is blinded")
    return code.routine()


# --- k times a point -----------------------------------------------------------------------------


def _multiply_point(machine: Machine) -> Routine:
    """X_1 : Y_1 : Z_1 = E * the point; E is that of `lengthen`.

    The point at infinity can come up at the last two bits only, which have complete formulas; so
    have all bits of a point with x = 0, from which the ladder cannot go on.
    """
    x_1, y_1, z_1 = SUM
    ladder_numbers = (
        *(
            Exchanged.X_2,
            Exchanged.X_3,
            Exchanged.Y_2,
            Exchanged.Y_2_COPY,
            Exchanged.Y_3,
            Exchanged.Y_3_COPY,
        ),
        *(Exchanged.Z_2, Exchanged.Z_3, CurvePoint.SLOPE, CurvePoint.SLOPE_COPY, CurvePoint.SQUARE),
    )
    constants = (*WEIERSTRASS.constants, _ONE_FORM, _UNIT)
    code = RoutineBuilder(
        MULTIPLY,
        _P,
        takes=dict.fromkeys((*_POINT, *constants, *SUMMED), None),
        gives=dict.fromkeys(SUM, _OF_SUM),
        clobbers=(_ACC, *SUMMED, *ladder_numbers, *ADDED, *TEMPORARY),
    )
    code.move(_ACC, CurvePoint.POINT_X)
    code.call(FROM_FORM)
    code.whole.scan(StepKind.SCAN_PUBLIC, "the highest 1", "last_bits")
    code.subtract(_ACC, _ACC, _UNIT, "x = 0?")
    with code.if_borrow("ladder"):
        code.move(x_1, CurvePoint.POINT_X)
        code.move(y_1, CurvePoint.POINT_Y)
        code.move(z_1, _ONE_FORM)
        code.rest("on below the 1")
        code.next_bit("last_bits")
    _ladder(code, machine)
    code.next_bit("last_bits")
    code.label("last_bits")
    code.zero(Exchanged.X_2)
    with code.if_command(_SUMS_BITS, "point_of_last_bits"):
        code.move(BITS_SUMMED, Exchanged.Z_3)
        code.zero(Exchanged.Y_2_COPY)
    code.move(Exchanged.X_3, CurvePoint.POINT_X)
    code.move(Exchanged.Y_2, _ONE_FORM)
    code.move(Exchanged.Y_3, CurvePoint.POINT_Y)
    code.zero(Exchanged.Z_2)
    code.move(Exchanged.Z_3, _ONE_FORM)
    with code.each_bit("add_by_bits"):
        # X_2 : Y_2 : Z_2 is O, and X_3 : Y_3 : Z_3 the point.
        add_point(code, SUM)
        add_point(code, (Exchanged.X_2, Exchanged.Y_2, Exchanged.Z_2), by_bit=True)
        code.rest("the bit")
        with code.if_command(_SUMS_BITS, "next_of_bits"):
            _sum_bit(code, machine, Exchanged.Y_2_COPY)
        code.rest("on to the bit below")
    code.move(_ACC, _UNIT)
    return code.routine()


def _sum_bit(code: Builder, machine: Machine, zeros: Scratch) -> None:
    """The next bit of the scalar is summed up, in the number that changes places with `zeros`.

    Where the bit is 0, it is `zeros` that counts it.
    """
    bits, fits = SWAPPED_BY_BIT[zeros], "the exponent has as many digits"
    code.add(bits, bits, bits, "2 * the bits scanned", fits=fits)
    code.add(zeros, zeros, _UNIT, "... + 1, of a 1", by_bit=True, fits=fits)
    if machine.hardened:  # a blinded one has more
        code.subtract(bits, bits, Operand.Q, "... less n")
        code.restore(bits, bits, Operand.Q, "... + n, where it is below 0")


def _ladder(code: Builder, machine: Machine) -> None:
    """X_1 : Y_1 : Z_1 = E * the point, but for E's last two bits, at which the scan is then.

    Only E's bits below its highest 1 count.
    """
    x_2, x_3, y_2, y_3 = (
        NumberPlace(Exchanged.X_2),
        NumberPlace(Exchanged.X_3),
        NumberPlace(Exchanged.Y_2, Exchanged.Y_2_COPY),
        NumberPlace(Exchanged.Y_3, Exchanged.Y_3_COPY),
    )
    slope, square = (
        NumberPlace(CurvePoint.SLOPE, CurvePoint.SLOPE_COPY),
        NumberPlace(right=CurvePoint.SQUARE),
    )
    at_ends = {"xQ": x_2, "xR": x_3, "yQ": y_2, "yR": y_3, "G": square}
    # A round's formulas are those of a bit that is 1. They are named as they lie where it is 0.
    in_rounds = {"xQ": x_3, "xR": x_2, "yQ": y_3, "yR": y_2, "G": square}
    begin = curve_formula(
        _RANDOMIZED_LADDER_BEGINS if machine.randomizes else _LADDER_BEGINS,
        {"X": POINT_X, "Y": POINT_Y, "a": A, "L": NumberPlace(_ACC, below=2)},
        {"yQ": y_2, "xR": x_3, "yR": y_3, "G": square},
    )
    a_round = curve_formula(
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
    # The bit is summed after all but one of the steps that it has changed the places of: if a fault
    # turns it into another one before, the sum has that one, too. G * G is none of them; where sums
    # are beside products it comes after that, with the last sum beside it.
    left = 2 if machine.multiplication.overlaps else 1
    code.zero(Exchanged.X_2)
    for step in begin:
        code.step(step)
        if step.note == _DRAWS_AT:
            code.call(DRAWN)
    code.next_bit("ladder_round")
    with code.each_bit("ladder_round", leaves_two=True):
        code.include(a_round[:-left])
        with code.if_command(_SUMS_BITS, "ladder_goes_on"):
            _sum_bit(code, machine, Exchanged.Z_2)
        code.include(a_round[-left:])
    code.include(end)


def _below(places: dict[str, NumberPlace], **below: int) -> dict[str, NumberPlace]:
    """The places, of numbers that are below these multiples of c * P; else a product's."""
    product = Fraction(5, 4)
    return {name: replace(place, below=below.get(name, product)) for name, place in places.items()}


def add_point(code: Builder, point: Sequence[Scratch], **fields: Any) -> None:
    """Add a point in homogeneous coordinates to the sum; also the sum itself."""
    for to, coordinate in zip(ADDED, point, strict=True):
        code.move(to, coordinate, **fields)
    code.call(ADD_COMPLETE)


def _add_complete() -> Routine:
    """X_1 : Y_1 : Z_1 + X_ADDED : Y_ADDED : Z_ADDED, whatever they are."""
    code = RoutineBuilder(
        ADD_COMPLETE,
        _P,
        takes={
            **dict.fromkeys((*SUM, *ADDED), _OF_SUM),
            **dict.fromkeys(WEIERSTRASS.constants, None),
        },
        gives=dict.fromkeys(SUM, _OF_SUM),
        clobbers=TEMPORARY,
    )
    sums = [NumberPlace(coordinate, below=SUM_BELOW) for coordinate in SUM]
    added = [NumberPlace(right=coordinate, below=SUM_BELOW) for coordinate in ADDED]
    places = dict(zip(("X1", "Y1", "Z1", "X2", "Y2", "Z2"), (*sums, *added), strict=True))
    results = dict(zip(("X3", "Y3", "Z3"), sums, strict=True))
    code.include(curve_formula(_COMPLETE, {**places, "a": A, "b3": B3}, results))
    return code.routine()


def _affine(machine: Machine) -> Routine:
    """X_1 and Y_1 by Z_1, canonical, after a check that they are on the curve.

    Of Z_1 = 0, the point at infinity, the operation ends. A table of another base point, or of
    another curve, leads off the curve, too.
    """
    x_1, y_1, z_1 = SUM
    term, constants = Banked.TERM, (_ONE_FORM, *WEIERSTRASS.constants)
    code = RoutineBuilder(
        WEIERSTRASS.affine,
        _P,
        takes={**dict.fromkeys(SUM, _OF_SUM), **dict.fromkeys(constants, None)},
        gives=dict.fromkeys((x_1, y_1), Bound.times(1)),
        clobbers=(_ACC, term, _SQUARE, *_POINT, *_BY_TABLE, *TEMPORARY),
    )
    code.move(_SQUARE, Operand.P_POWER)  # a place less while the sum is made
    out_of_form(code, machine, z_1)
    code.do(StepKind.CHECK_FINITE, "is the sum not O?", y=_ACC)
    to_form(code, _ACC, _ACC, "Z, below 2 c P again,")
    invert(code, term)
    divide(code, x_1, term, "X / Z")
    divide(code, y_1, term, "Y / Z")
    _enter_left_point(code, x_1, y_1)
    code.call(WEIERSTRASS.on_curve)
    code.do(StepKind.CHECK_SUM, "is the result on the curve?", y=_ACC)
    return code.routine()


def divide(code: Builder, x: Scratch, inverse: Scratch, note: str) -> None:
    """x by the number of an inverse, canonical."""
    plain_product(code, x, inverse, note)
    code.move(x, _ACC)


def _on_curve(machine: Machine) -> Routine:
    """ACCUMULATOR is 0 if the point is on the curve, else between 0 and P."""
    code = RoutineBuilder(
        WEIERSTRASS.on_curve,
        _P,
        takes=dict.fromkeys((*_POINT, *WEIERSTRASS.constants), None),
        gives={_ACC: Bound.times(1)},
        clobbers=TEMPORARY,
    )
    places = {"X": POINT_X, "Y": POINT_Y, "a": A, "b3": B3}
    code.include(curve_formula(_ON_CURVE, places, {"v": NumberPlace(_ACC)}))
    out_of_form(code, machine, _ACC)
    return code.routine()


def curve_formula(
    text: str,
    places: Mapping[str, NumberPlace],
    results: Mapping[str, NumberPlace],
    *,
    by_bit: bool = False,
) -> list[Step]:
    """The steps of a formula modulo P."""
    return formula(text, places, results, headroom=HEADROOM, context=_P, by_bit=by_bit)


def claim(code: Builder, x: Scratch, y: Scratch) -> None:
    """SUM becomes two numbers below the modulus, which all that follows is to check.

    A fault before CHECK_REDUCED may have made them wrong, but then does not spoil the check; after
    it the check may be spoilt, but they are right.
    """
    modulus = code.context.modulus
    code.whole.zero(Core.SUM)
    code.move(Core.SUM, x)
    code.move(UpperHalf.SUM_HIGH, y)
    code.linear(StepKind.CHECK_REDUCED, y, y, modulus, f"{y.name} < {modulus.name}?")


def result_on_curve(form: CurveForm) -> Routine:
    """The end of an operation whose result is a point: is it on the curve?

    The result is copied before: what happens to the claim until then is in the check, too.
    """
    claimed = (Core.SUM, UpperHalf.SUM_HIGH)
    code = RoutineBuilder(
        form.result_on_curve,
        _P,
        takes={**dict.fromkeys(claimed, Bound.times(1)), **dict.fromkeys(form.constants, None)},
        gives={},
        clobbers=(_ACC, *_POINT, Core.RESULT, UpperHalf.RESULT_HIGH, *TEMPORARY),
    )
    copy_result(code)
    enter_point(code, *claimed, form)
    code.check_zero(_ACC, "is the result on the curve?")
    code.finish()
    return code.routine()


def _result_is_x() -> Routine:
    """The end of an operation that has answered a question: the result is the first number of X."""
    takes, result = {Operand.X: Bound.times(1)}, Core.RESULT
    code = RoutineBuilder(RESULT_IS_X, _P, takes=takes, gives={}, clobbers=(result,))
    code.whole.zero(result)
    code.move(result, Operand.X)
    code.finish()
    return code.routine()


def copy_result(code: Builder) -> None:
    """The result is a copy of the claim. What lies between its two numbers is 0."""
    code.whole.zero(Core.RESULT)
    code.move(Core.RESULT, Core.SUM)
    code.move(UpperHalf.RESULT_HIGH, UpperHalf.SUM_HIGH)
