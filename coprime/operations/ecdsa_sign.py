"""ECDSA_SIGN: the numbers r and s of a signature on a short Weierstrass curve.

Of ECDSA_SIGN_WITH the host gives the nonce.
Source: FIPS 186-5, section 6.4.1; its names are those of the steps' notes. z is the leftmost bits
of the hash, as many as n has, modulo n. Before a signature can be read it is checked, of what the
host has written: s k = z + r d modulo n, and r is of a k G that was made apart.
"""

from coprime.model.curve_points import is_signature
from coprime.program.builder import Builder
from coprime.program.operands import KEYS, PAIRS_OF_TABLE, Core, Operand, Scratch, UpperHalf
from coprime.program.steps import Step

from .banked import Banked
from .comb import BASE_SCALAR, FIRST, Comb, check_scalar, multiply_base_twice
from .curve_form import WEIERSTRASS
from .ecdsa_routines import IS_R, TOTAL, EcdsaNumber
from .key_shares import (
    blind_sum,
    compare_blinded,
    multiply_by_inverse,
    share_key,
    share_key_for_check,
    sum_of_shares,
)
from .operation import Input, Machine, Output
from .weierstrass import (
    BASE_AND_CURVE,
    DRAWN,
    ENTER,
    FROM_FORM,
    SUM,
    CurvePoint,
    claim,
    copy_result,
    curve_operation,
    enter_field,
    invert,
    plain_product,
    to_form,
)

_ACC, _KEPT = Core.ACCUMULATOR, Banked.KEPT_SCALAR
_R, _S, _NONCE, _INVERSE = (
    *(EcdsaNumber.SIGNATURE_R, EcdsaNumber.SIGNATURE_S, EcdsaNumber.NONCE, EcdsaNumber.INVERSE),
)


def with_drawn_nonce(machine: Machine) -> list[list[Step]]:
    """On the leading lane: k is drawn."""
    code = Builder()
    code.p.check_modulus()
    code.q.check_modulus()
    code.q.check_below(Operand.X, Operand.X)
    if machine.hardened:
        code.call(ENTER)
        share_key(code.q)
    else:
        _check_key(code.q)
    _draw_nonce(code.q)
    code.call(BASE_SCALAR)
    _sign(code, machine)
    return [code.steps]


def with_given_nonce(machine: Machine) -> list[list[Step]]:
    """On the leading lane: k is E, which is read as early as can be, and once more for the scalar.

    Only the host knows k: what is made of an E that a fault has changed is a signature as well. If
    it changes later, or one of both reads is wrong, they differ, which `check_scalar` finds.
    """
    e, code = Operand.E, Builder()
    code.p.check_modulus()
    code.q.check_modulus()
    code.q.check_below(e, e)
    code.q.check_positive(e, "k > 0?")
    code.q.move(_KEPT, e)
    code.q.check_below(Operand.X, Operand.X)
    _check_key(code.q)
    code.q.move(_ACC, e)
    code.call(BASE_SCALAR)
    _sign(code, machine)
    return [code.steps]


def _check_key(code: Builder) -> None:
    """0 < d < n; modulo n from there on."""
    secret = Operand.SECRET
    code.check_below(secret, secret)
    code.check_positive(secret, "d > 0?")
    code.call(ENTER)


def _draw_nonce(code: Builder) -> None:
    """k, the number A R + B modulo n of random numbers A and B that are below R.

    Source: FIPS 186-5, appendix A.3.1: A R + B has more than 64 bits more than n.

    k is kept in Montgomery form, as the sum of two random numbers, from which the scalar and s are
    made apart: so where a fault makes either of another number, they differ, and with a wrong place
    of one summand k is random all the same.
    """
    high = EcdsaNumber.FORM_SUM
    code.rest("A in Montgomery form")
    code.call(DRAWN)
    to_form(code, high, _ACC, "A R")
    code.call(DRAWN)
    code.add(_KEPT, _ACC, high, "k = A R + B in Montgomery form")
    _take_drawn_nonce(code)


def _take_drawn_nonce(code: Builder) -> None:
    """ACCUMULATOR = k, of a drawn one."""
    code.move(_ACC, _KEPT)
    code.call(FROM_FORM)
    code.check_positive(_ACC, "k > 0?")


def _sign(code: Builder, machine: Machine) -> None:
    """r and s; their check; nothing of k is kept. There is k in KEPT_SCALAR, and E is of it.

    A drawn k is there in Montgomery form, a given one is not.
    """
    q, nonce = code.q, _KEPT if machine.randomizes else _NONCE  # Montgomery form, after TOTAL
    _make_r(code, machine)
    _make_s(q, machine)
    claim(q, _R, _S)
    # A copy that is made before the check: what happens to the claim until then is in both.
    copy_result(q)
    # Whatever follows is made again of what was given; RESIDUE is of X.
    q.move(_ACC, Operand.X)
    code.whole.move(Comb.OLD_SCALAR, Operand.E)
    if machine.randomizes:
        _take_drawn_nonce(q)
    else:
        q.move(_ACC, _KEPT)
    check_scalar(q, machine)
    _check_s(q, machine, nonce)
    code.next_modulus("field_of_check")
    _check_r(code.p)
    of_key = [] if machine.hardened else [CurvePoint.FORM_D]
    for secret in dict.fromkeys((_KEPT, nonce, _INVERSE, *of_key, Core.PART)):
        q.zero(secret)
    code.whole.zero(Operand.E)
    code.finish()


def _make_r(code: Builder, machine: Machine) -> None:
    """r = the coordinate x of k G, modulo n; modulo n from there on."""
    p, q, x_1, z_1 = code.p, code.q, SUM[0], SUM[2]
    q.check_positive(Operand.Q, "modulo p")
    code.next_modulus("field_of_base_point")
    enter_field(code)
    multiply_base_twice(p, machine)
    p.move(_ACC, z_1)
    p.call(WEIERSTRASS.affine)
    # x is below p, and that below 2 n; it may have a digit less than n.
    q.zero(_R)
    p.move(_R, x_1)
    q.reduce(_R, _R)
    code.next_modulus()
    q.check_positive(_R, "r > 0?")
    q.check_below(_R, _R)
    q.call(ENTER)


def _make_s(code: Builder, machine: Machine) -> None:
    """s = (z + r d) / k modulo n."""
    code.move(_S, _R)
    code.call(TOTAL)
    if machine.hardened:
        sum_of_shares(code, KEYS[0])
    if machine.randomizes:  # the sum of two numbers is too long for an inversion
        code.multiply(_ACC, Banked.ONE_FORM, _KEPT, "k in Montgomery form, below 2 c n")
    else:
        code.move(_ACC, _NONCE)
    invert(code, _INVERSE)
    if machine.hardened:
        multiply_by_inverse(code)
    else:
        plain_product(code, EcdsaNumber.FORM_SUM, _INVERSE, "(z + r d) / k")
    code.move(_S, _ACC)
    code.check_positive(_S, "s > 0?")


def _check_s(code: Builder, machine: Machine, nonce: Scratch) -> None:
    """Is s k = z + r d modulo n, with the r and s that are claimed?

    R^2 and the modulus's multiples are brought again: what is wrong with those of s is in s only.
    """
    code.zero(_R)
    code.call(ENTER)
    if machine.hardened:
        share_key_for_check(code)
    code.add(_R, _R, Core.SUM, "r = 0 + r")  # a MOVE of r would be in the residue
    code.call(TOTAL)
    if machine.hardened:
        blind_sum(code)
    code.move(_ACC, Operand.Q_POWER)
    code.multiply(_ACC, _ACC, UpperHalf.SUM_HIGH, "s in Montgomery form")
    if machine.hardened:
        compare_blinded(code, nonce)
    else:
        code.multiply(_ACC, _ACC, nonce, "s k")
        code.subtract(_ACC, _ACC, EcdsaNumber.FORM_SUM, "s k - (z + r d)", times_modulus=4)
        code.call(FROM_FORM)
    code.check_zero(_ACC, "s k = z + r d?")


def _check_r(code: Builder) -> None:
    """Is r the coordinate x of k G modulo n, as that was made first?"""
    code.check_positive(_R, "modulo p")
    code.call(ENTER)
    for to, coordinate in zip(SUM[::2], FIRST, strict=True):
        code.move(to, coordinate)
    code.call(IS_R)
    code.check_zero(_ACC, "is r of k G?")


_READS = frozenset(
    {
        *(Operand.X, Operand.Y, Operand.E, Operand.M, Operand.SECRET, *PAIRS_OF_TABLE),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP),
        *(Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER, Operand.DQ),
    }
)

ECDSA_SIGN = curve_operation(
    name="ECDSA_SIGN",
    code=9,
    doc="The numbers r and s of a signature of the hash X with SECRET and a nonce that is drawn.",
    formula="r = x of k · (gx, gy), s = (z + r·d) / k modulo n, of a random k",
    inputs=(
        Input(name="z", operand=Operand.X, meaning="hash z, below n"),
        Input(name="d", operand=Operand.SECRET, meaning="private key d"),
        *BASE_AND_CURVE,
    ),
    reads=lambda arithmetic: _READS,
    outputs=(
        Output(name="r", meaning="number r of the signature"),
        Output(name="s", meaning="number s of the signature"),
    ),
    has_comb=True,
    is_right=is_signature,
    blinds=True,
    checks=True,
    settings=(("ecdsa", "drawn"),),
    banked=with_drawn_nonce,
)
