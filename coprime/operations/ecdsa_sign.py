"""ECDSA_SIGN: the numbers r and s of a signature on a short Weierstrass curve.

Of ECDSA_SIGN_WITH the host gives the nonce.
Source: FIPS 186-5, section 6.4.1; its names are those of the steps' notes. z is the leftmost bits
of the hash, as many as n has, modulo n. Before a signature can be read it is checked, of what the
host has written: s k = z + r d modulo n, and r is of a k G that was made apart.
"""

from dataclasses import replace

from coprime.model.curve_points import multiple
from coprime.program.operands import KEYS, PAIRS_OF_TABLE, Context, Operand, Scratch
from coprime.program.steps import PASS, Next, Step, StepKind, linear, multiply

from .banked import move
from .comb import (
    BASE_SCALAR,
    FIRST,
    check_scalar,
    multiples_of_base,
)
from .curve_form import WEIERSTRASS
from .ecdsa_routines import IS_R, TOTAL
from .ecdsa_verify import verified
from .key_shares import (
    compared_blinded,
    products_with_inverse,
    shared_key,
    shares_of_check,
    sums_of_shares,
)
from .operation import Input, Machine
from .shared_steps import call, check_modulus, jump
from .weierstrass import (
    BASE_AND_CURVE,
    DRAWN,
    ENTER,
    FROM_FORM,
    SUM,
    below,
    checked,
    claim,
    copied_result,
    curve_operation,
    inverted,
    modulo_order,
    on_field,
    plain_product,
    positive,
    to_form,
    zero,
)

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q
_R, _S, _NONCE, _INVERSE = (
    *(Scratch.SIGNATURE_R, Scratch.SIGNATURE_S, Scratch.NONCE, Scratch.INVERSE),
)
_KEPT = Scratch.KEPT_SCALAR
_FIELD, _AGAIN = "field_of_base_point", "field_of_check"
"""Labels."""


def with_drawn_nonce(machine: Machine) -> list[list[Step]]:
    """On the leading lane: k is drawn."""
    key = shared_key() if machine.hardened else None
    return [[*_checks(key), *_drawn(), *_signature(machine)]]


def with_given_nonce(machine: Machine) -> list[list[Step]]:
    """On the leading lane: k is E, which is read as early as can be, and once more for the scalar.

    Only the host knows k: what is made of an E that a fault has changed is a signature as well. If
    it changes later, or one of both reads is wrong, they differ, which `check_scalar` finds.
    """
    e = Operand.E
    first, second, *checks = _checks()
    given = [below(e, _Q), positive(e, _Q, "k > 0?"), move(_KEPT, e, _Q)]
    scalar = call(move(_ACC, e, _Q), BASE_SCALAR)
    return [[first, second, *given, *checks, scalar, *_signature(machine)]]


def _checks(of_key: list[Step] | None = None) -> list[Step]:
    """Modulo n from there on; the key is checked, but for steps that need n's constants."""
    secret, given = Operand.SECRET, below(Operand.X, _Q)
    plain = [given, below(secret, _Q), call(positive(secret, _Q, "d > 0?"), ENTER)]
    return [
        check_modulus(_P),
        check_modulus(_Q),
        *(plain if of_key is None else [call(given, ENTER), *of_key]),
    ]


def _drawn() -> list[Step]:
    """k, the number A R + B modulo n of random numbers A and B that are below R.

    Source: FIPS 186-5, appendix A.3.1: A R + B has more than 64 bits more than n.

    k is kept in Montgomery form, as the sum of two random numbers, from which the scalar and s are
    made apart: so where a fault makes either of another number, they differ, and with a wrong place
    of one summand k is random all the same.
    """
    high = Scratch.FORM_SUM
    total = linear(StepKind.ADD, _KEPT, _ACC, high, _Q, "k = A R + B in Montgomery form")
    *plain, last = _plain_nonce()
    return [
        call(replace(PASS, modulus=_Q, note="A in Montgomery form"), DRAWN),
        call(to_form(high, _ACC, _Q, "A R"), DRAWN),
        total,
        *plain,
        call(last, BASE_SCALAR),
    ]


def _plain_nonce() -> list[Step]:
    """ACCUMULATOR = k, of a drawn one."""
    return [call(move(_ACC, _KEPT, _Q), FROM_FORM), positive(_ACC, _Q, "k > 0?")]


def _signature(machine: Machine) -> list[Step]:
    """r and s; their check; nothing of k is kept. There is k in KEPT_SCALAR, and E is of it.

    A drawn k is there in Montgomery form, a given one is not.
    """
    k = _plain_nonce() if machine.randomizes else [move(_ACC, _KEPT, _Q)]
    check = [
        *claim(_R, _S, _Q),
        # A copy that is made before the check: what happens to the claim until then is in both.
        *copied_result(_Q),
        # Whatever follows is made again of what was given; RESIDUE is of X.
        move(_ACC, Operand.X, _Q),
        *check_scalar(machine, k),
        *_check_s(machine),
        *_check_r(),
    ]
    of_key = [] if machine.hardened else [Scratch.FORM_D]
    secrets = dict.fromkeys((_KEPT, _nonce(machine), _INVERSE, *of_key, Scratch.PART))
    return [
        *_r(machine),
        *_s(machine),
        *check,
        *(zero(one, _Q) for one in secrets),
        jump(zero(Operand.E, Context.WHOLE), ""),
    ]


def _nonce(machine: Machine) -> Scratch:
    """Where k is in Montgomery form, once TOTAL was called."""
    return _KEPT if machine.randomizes else _NONCE


def _r(machine: Machine) -> list[Step]:
    """r = the coordinate x of k G, modulo n; modulo n from there on."""
    x_1, _, z_1 = SUM
    *reducing, restored = modulo_order(_R, x_1)
    return [
        replace(positive(Operand.Q, _Q, "modulo p"), next=Next.EACH_MODULUS, target=_FIELD),
        *on_field((), _FIELD),
        *multiples_of_base(machine),
        call(move(_ACC, z_1, _P), WEIERSTRASS.affine),
        *reducing,
        replace(restored, next=Next.EACH_MODULUS),
        positive(_R, _Q, "r > 0?"),
        call(below(_R, _Q), ENTER),
    ]


def _s(machine: Machine) -> list[Step]:
    """s = (z + r d) / k modulo n."""
    entered = move(_ACC, _NONCE, _Q)
    if machine.randomizes:  # the sum of two numbers is too long for an inversion
        entered = multiply(_ACC, Scratch.ONE_FORM, _KEPT, _Q, "k in Montgomery form, below 2 c n")
    sums: list[Step] = []
    product = plain_product(Scratch.FORM_SUM, _INVERSE, _Q, "(z + r d) / k")
    if machine.hardened:
        sums, product = sums_of_shares(KEYS[0]), products_with_inverse()
    return [
        call(move(_S, _R, _Q), TOTAL),
        *sums,
        *inverted(entered, _INVERSE, _Q),
        *product,
        move(_S, _ACC, _Q),
        positive(_S, _Q, "s > 0?"),
    ]


def _check_s(machine: Machine) -> list[Step]:
    """Is s k = z + r d modulo n, with the r and s that are claimed?

    R^2 and the modulus's multiples are brought again: what is wrong with those of s is in s only.
    """
    # A MOVE of r would be in the residue.
    claimed = linear(StepKind.ADD, _R, _R, Scratch.SUM, _Q, "r = 0 + r")
    difference = linear(StepKind.SUBTRACT, _ACC, _ACC, Scratch.FORM_SUM, _Q, "s k - (z + r d)")
    form_s = [
        move(_ACC, Operand.Q_POWER, _Q),
        multiply(_ACC, _ACC, Scratch.SUM_HIGH, _Q, "s in Montgomery form"),
    ]
    compared = [
        *form_s,
        multiply(_ACC, _ACC, _nonce(machine), _Q, "s k"),
        call(replace(difference, times_modulus=4), FROM_FORM),
    ]
    if machine.hardened:
        compared = compared_blinded(form_s, _nonce(machine))
    return [
        call(zero(_R, _Q), ENTER),
        *(shares_of_check() if machine.hardened else []),
        call(claimed, TOTAL),
        *compared,
        replace(checked(_Q, "s k = z + r d?"), next=Next.EACH_MODULUS, target=_AGAIN),
    ]


def _check_r() -> list[Step]:
    """Is r the coordinate x of k G modulo n, as that was made first?"""
    moved, last = (move(to, one, _P) for to, one in zip(SUM[::2], FIRST, strict=True))
    return [
        replace(call(positive(_R, _P, "modulo p"), ENTER), label=_AGAIN),
        moved,
        call(last, IS_R),
        checked(_P, "is r of k G?"),
    ]


def is_signature(
    result: tuple[int, int],
    *,
    z: int,
    d: int,
    gx: int,
    gy: int,
    a: int,
    b: int,
    p: int,
    n: int,
) -> bool:
    """Whether r and s are a signature of the hash z with the key d."""
    x, y = multiple(gx, gy, d, a, b, p, n)
    try:
        return verified(*result, z, x, y, gx, gy, a, b, p, n) == (result[0], 0)
    except ValueError:
        return False


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
    is_right=is_signature,
    blinds=True,
    checks=True,
    settings=(("ecdsa", "drawn"),),
    banked=with_drawn_nonce,
)
