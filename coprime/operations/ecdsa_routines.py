"""What operations of ECDSA share.

Source: FIPS 186-5, section 6.4; its names are those of the steps' notes.
"""

from dataclasses import replace

from coprime.multipliers.bounds import Bound
from coprime.program.operands import Context, Operand, Reference, Scratch
from coprime.program.routine import Routine
from coprime.program.steps import Step, StepKind, linear, multiply

from .banked import move
from .comb import BASE_SCALAR, multiply_base
from .formulas import NumberPlace
from .operation import Machine
from .shared_steps import call, jump
from .weierstrass import (
    FROM_FORM,
    MULTIPLY,
    SUM,
    SUM_BELOW,
    TEMPORARY,
    add_point,
    curve_formula,
    enter_point,
    plain_product,
    routine,
    to_form,
    zero,
)

TOTAL, IS_R = "total", "is_r"
"""Routines."""

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q
_R, _NONCE, _KEPT = Scratch.SIGNATURE_R, Scratch.NONCE, Scratch.KEPT_SCALAR
_INVERSE, _U_2 = Scratch.INVERSE, Scratch.FACTOR_2
_POINT = (Scratch.X_KEPT, Scratch.Y_KEPT, Scratch.Z_KEPT)


def ecdsa_routines(machine: Machine) -> list[Routine]:
    """TOTAL, of signatures; IS_R, of their verification, too."""
    return [_total(machine), _is_r()]


def _total(machine: Machine) -> Routine:
    """FORM_SUM = z + r d modulo n, and NONCE = k, in Montgomery form; a drawn k is kept in it.

    Of a d in shares: FORM_Z = z in Montgomery form, and SQUARE_R = r R^2.
    """
    z, d, total = Scratch.FORM_Z, Scratch.FORM_D, Scratch.FORM_SUM
    if machine.hardened:
        return _factors_of_total()
    given = [move(_ACC, _KEPT, _Q), to_form(_NONCE, _ACC, _Q, "k")]
    steps = [
        to_form(z, Operand.X, _Q, "z"),
        *([] if machine.randomizes else given),
        to_form(d, Operand.SECRET, _Q, "d"),
        move(_ACC, _R, _Q),
        to_form(_ACC, _ACC, _Q, "r"),
        multiply(_ACC, _ACC, d, _Q, "r d"),
        linear(StepKind.ADD, total, _ACC, z, _Q, "z + r d"),
    ]
    takes: dict[Reference, Bound | None] = {
        Operand.X: None,
        _R: Bound.times(1),
        Scratch.POWER: None,
    }
    gives: dict[Reference, Bound] = {total: Bound.times(0, scaled=4)}
    if not machine.randomizes:
        takes[_KEPT] = None
        gives[_NONCE] = Bound.times(0, scaled=2)
    return routine(
        TOTAL,
        steps,
        _Q,
        takes=takes,
        gives=gives,
        clobbers=(_ACC, z, d),
    )


def _factors_of_total() -> Routine:
    z, square_r, product = Scratch.FORM_Z, Scratch.SQUARE_R, Bound.times(0, scaled=2)
    return routine(
        TOTAL,
        [
            to_form(z, Operand.X, _Q, "z"),
            move(_ACC, _R, _Q),
            to_form(_ACC, _ACC, _Q, "r"),
            multiply(square_r, _ACC, Scratch.POWER, _Q, "r R^2"),
        ],
        _Q,
        takes={Operand.X: None, _R: Bound.times(1), Scratch.POWER: None},
        gives={z: product, square_r: product},
        clobbers=(_ACC,),
    )


def _is_r() -> Routine:
    """ACCUMULATOR is 0 if r is the coordinate x of the sum modulo n, else between 0 and P.

    The coordinate, X / Z, is below P, and so r or, where that is below P, r + n.
    """
    x, _, z = SUM
    form_r, form_r_n = Scratch.CLAIMED_0, Scratch.CLAIMED_1
    places = {
        "X": NumberPlace(x, below=SUM_BELOW),
        "Z": NumberPlace(z, below=SUM_BELOW),
        "r": NumberPlace(right=form_r, below=2),
        "q": NumberPlace(right=form_r_n, below=2),
    }
    *compared, last = curve_formula(
        "u=Z*r u=u-X v=Z*q v=v-X d=u*v", places, {"d": NumberPlace(_ACC)}
    )
    longer = linear(StepKind.ADD, _ACC, Operand.Q, _R, _Q, "r + n")
    steps = [
        move(Scratch.POWER, Operand.P_POWER, _P),
        move(_ACC, _R, _Q),
        to_form(form_r, _ACC, _P, "r"),
        replace(longer, fits="r is below n"),
        linear(StepKind.SUBTRACT, _ACC, _ACC, Operand.P, _Q, "r + n < p?"),
        linear(StepKind.RESTORE, _ACC, _R, Operand.Q, _Q, "r + n, if it is, else r"),
        to_form(form_r_n, _ACC, _P, "r + n, or r,"),
        *compared,
        jump(last, FROM_FORM),
    ]
    coordinate = Bound.times(0, scaled=SUM_BELOW)
    return routine(
        IS_R,
        steps,
        _P,
        takes={_R: None, x: coordinate, z: coordinate},
        gives={},
        clobbers=(_ACC, Scratch.POWER, form_r, form_r_n, *TEMPORARY),
    )


def factors(r: list[Step], z: list[Step]) -> list[Step]:
    """u_1 = z / s, as a comb scans it, in E, and u_2 = r / s, modulo n.

    The steps bring r and z in Montgomery form to ACCUMULATOR; TERM is 1 / s.
    """
    return [
        move(_INVERSE, Scratch.TERM, _Q),
        *r,
        *plain_product(_ACC, _INVERSE, _Q, "r / s"),
        move(_U_2, _ACC, _Q),
        *z,
        *plain_product(_ACC, _INVERSE, _Q, "z / s"),
        call(move(_ACC, _ACC, _Q), BASE_SCALAR),
    ]


def sum_of_multiples() -> list[Step]:
    """X_1 : Y_1 : Z_1 = u_1 G + u_2 * the public key; modulo p."""
    *of_key, key_on_curve = enter_point(Operand.POINT, Scratch.POINT_HIGH)
    return [
        multiply_base(Scratch.ONE_FORM),
        *(move(to, one, _P) for to, one in zip(_POINT, SUM, strict=True)),
        zero(Operand.E, Context.WHOLE),
        linear(StepKind.ADD, Operand.E, _U_2, Operand.Q, _Q, "u_2 + n"),
        *of_key,
        call(key_on_curve, MULTIPLY),
        *add_point(_POINT),
    ]


def finite_sum() -> list[Step]:
    """The sum of points is not the one at infinity."""
    return [
        call(move(_ACC, Scratch.Z_1, _P), FROM_FORM),
        Step(kind=StepKind.CHECK_FINITE, x=_ACC, y=_ACC, modulus=_P, note="is the sum not O?"),
    ]
