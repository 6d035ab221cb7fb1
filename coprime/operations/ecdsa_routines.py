"""What operations of ECDSA share.

Source: FIPS 186-5, section 6.4; its names are those of the steps' notes.
"""

from dataclasses import replace

from coprime.multipliers.bounds import Bound
from coprime.program.operands import Context, Operand, Scratch
from coprime.program.routine import Routine
from coprime.program.steps import StepKind, linear, multiply

from .banked import move
from .formulas import NumberPlace
from .shared_steps import jump
from .weierstrass import FROM_FORM, SUM, SUM_BELOW, TEMPORARY, curve_formula, routine, to_form

TOTAL, IS_R = "total", "is_r"
"""Routines."""

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q
_R, _NONCE, _KEPT = Scratch.SIGNATURE_R, Scratch.NONCE, Scratch.KEPT_SCALAR


def ecdsa_routines() -> list[Routine]:
    """TOTAL, of signatures, and IS_R, of their verification, too."""
    return [_total(), _is_r()]


def _total() -> Routine:
    """FORM_SUM = z + r d modulo n, and NONCE = k, in Montgomery form."""
    z, d, total = Scratch.FORM_Z, Scratch.FORM_D, Scratch.FORM_SUM
    steps = [
        to_form(z, Operand.X, _Q, "z"),
        move(_ACC, _KEPT, _Q),
        to_form(_NONCE, _ACC, _Q, "k"),
        to_form(d, Operand.SECRET, _Q, "d"),
        move(_ACC, _R, _Q),
        to_form(_ACC, _ACC, _Q, "r"),
        multiply(_ACC, _ACC, d, _Q, "r d"),
        linear(StepKind.ADD, total, _ACC, z, _Q, "z + r d"),
    ]
    form = Bound.times(0, scaled=2)
    return routine(
        TOTAL,
        steps,
        _Q,
        takes={Operand.X: None, _KEPT: None, _R: Bound.times(1), Scratch.POWER: None},
        gives={_NONCE: form, total: Bound.times(0, scaled=4)},
        clobbers=(_ACC, z, d),
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
