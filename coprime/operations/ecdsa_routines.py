"""What operations of ECDSA share.

Source: FIPS 186-5, section 6.4; its names are those of the steps' notes.
"""

from coprime.multipliers.bounds import Bound
from coprime.program.builder import RoutineBuilder
from coprime.program.operands import Context, Core, Operand, Scratch
from coprime.program.routine import Routine

from .banked import Banked
from .formulas import NumberPlace
from .operation import Machine
from .weierstrass import FROM_FORM, SUM, SUM_BELOW, TEMPORARY, CurvePoint, curve_formula, to_form


class EcdsaNumber(Scratch):
    """What signatures of ECDSA have."""

    NONCE = 119
    """A signature's secret number k, in Montgomery form."""
    INVERSE = 120
    """The inverse of k, or of the number s of a signature, modulo Q."""
    SIGNATURE_R = 121
    """The numbers r and s of a signature."""
    SIGNATURE_S = 122
    FACTOR_2 = 123
    """What the public key is multiplied by."""
    FORM_Z = 124
    """The hash in Montgomery form."""
    FORM_SUM = 126
    """z + r d in Montgomery form."""
    SQUARE_R = 151
    """A signature's r times R^2 modulo Q: it brings the product with a plain number into Montgomery
    form."""
    FORM_SUM_1 = 152
    """What is to be added to FORM_SUM, where z + r d is in two shares."""


TOTAL, IS_R = "total", "is_r"
"""Routines."""

_ACC, _P, _Q = Core.ACCUMULATOR, Context.P, Context.Q
_R, _NONCE, _KEPT = EcdsaNumber.SIGNATURE_R, EcdsaNumber.NONCE, Banked.KEPT_SCALAR


_GIVEN = {Operand.X: None, _R: Bound.times(1), Banked.POWER: None}
_PRODUCT = Bound.times(0, scaled=2)


def ecdsa_routines(machine: Machine) -> list[Routine]:
    """TOTAL, of signatures; IS_R, of their verification, too."""
    return [_factors_of_total() if machine.hardened else _total(machine), _is_r()]


def _total(machine: Machine) -> Routine:
    """FORM_SUM = z + r d modulo n, and NONCE = k, in Montgomery form; a drawn k is kept in it."""
    z, d, total = EcdsaNumber.FORM_Z, CurvePoint.FORM_D, EcdsaNumber.FORM_SUM
    given = not machine.randomizes
    code = RoutineBuilder(
        TOTAL,
        _Q,
        takes={**_GIVEN, **({_KEPT: None} if given else {})},
        gives={total: Bound.times(0, scaled=4), **({_NONCE: _PRODUCT} if given else {})},
        clobbers=(_ACC, z, d),
    )
    to_form(code, z, Operand.X, "z")
    if given:
        code.move(_ACC, _KEPT)
        to_form(code, _NONCE, _ACC, "k")
    to_form(code, d, Operand.SECRET, "d")
    code.move(_ACC, _R)
    to_form(code, _ACC, _ACC, "r")
    code.multiply(_ACC, _ACC, d, "r d")
    code.add(total, _ACC, z, "z + r d")
    return code.routine()


def _factors_of_total() -> Routine:
    """FORM_Z = z in Montgomery form, and SQUARE_R = r R^2: of a d in shares."""
    z, square_r = EcdsaNumber.FORM_Z, EcdsaNumber.SQUARE_R
    gives = dict.fromkeys((z, square_r), _PRODUCT)
    code = RoutineBuilder(TOTAL, _Q, takes=_GIVEN, gives=gives, clobbers=(_ACC,))
    to_form(code, z, Operand.X, "z")
    code.move(_ACC, _R)
    to_form(code, _ACC, _ACC, "r")
    code.multiply(square_r, _ACC, Banked.POWER, "r R^2")
    return code.routine()


def _is_r() -> Routine:
    """ACCUMULATOR is 0 if r is the coordinate x of the sum modulo n, else between 0 and P.

    The coordinate, X / Z, is below P, and so r or, where that is below P, r + n.
    """
    x, _, z = SUM
    form_r, form_r_n, n = CurvePoint.CLAIMED_0, CurvePoint.CLAIMED_1, Operand.Q
    coordinate = Bound.times(0, scaled=SUM_BELOW)
    code = RoutineBuilder(
        IS_R,
        _P,
        takes={_R: None, x: coordinate, z: coordinate},
        gives={},
        clobbers=(_ACC, Banked.POWER, form_r, form_r_n, *TEMPORARY),
    )
    places = {
        "X": NumberPlace(x, below=SUM_BELOW),
        "Z": NumberPlace(z, below=SUM_BELOW),
        "r": NumberPlace(right=form_r, below=2),
        "q": NumberPlace(right=form_r_n, below=2),
    }
    code.move(Banked.POWER, Operand.P_POWER)
    code.q.move(_ACC, _R)
    to_form(code, form_r, _ACC, "r")
    code.q.add(_ACC, n, _R, "r + n", fits="r is below n")
    code.q.subtract(_ACC, _ACC, Operand.P, "r + n < p?")
    code.q.restore(_ACC, _R, n, "r + n, if it is, else r")
    to_form(code, form_r_n, _ACC, "r + n, or r,")
    difference = "u=Z*r u=u-X v=Z*q v=v-X d=u*v"
    code.include(curve_formula(difference, places, {"d": NumberPlace(_ACC)}))
    code.jump(FROM_FORM)
    return code.routine()
