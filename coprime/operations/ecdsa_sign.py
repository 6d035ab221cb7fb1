"""ECDSA_SIGN: the numbers r and s of a signature on a short Weierstrass curve.

Of ECDSA_SIGN_WITH the host gives the nonce.
Source: FIPS 186-5, section 6.4.1; its names are those of the steps' notes. z is the leftmost bits
of the hash, as many as n has, modulo n. Before a signature can be read, s k = z + r d modulo n is
checked, and that k G is on the curve.
"""

from dataclasses import replace

from coprime.model.curve_points import multiple
from coprime.program.operands import TABLE, Context, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, linear, multiply

from .banked import move
from .comb import BASE_SCALAR, multiply_base
from .ecdsa_verify import verified
from .formulas import NumberPlace
from .operation import Input, Machine
from .shared_steps import call, check_modulus
from .weierstrass import (
    AFFINE,
    BASE_AND_CURVE,
    ENTER,
    FROM_FORM,
    INVERT,
    SUM,
    SUM_BELOW,
    below,
    curve_formula,
    curve_operation,
    inverse,
    modulo_order,
    on_field,
    pair_result,
    plain_product,
    positive,
    to_form,
    zero,
)

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q
_R, _S, _NONCE, _INVERSE = (
    *(Scratch.SIGNATURE_R, Scratch.SIGNATURE_S, Scratch.NONCE, Scratch.INVERSE),
)
_FIELD = "field_of_base_point"
"""Label."""


def with_drawn_nonce(machine: Machine) -> list[list[Step]]:
    """On the leading lane: k is drawn."""
    return [[*_checks(), *_drawn(), *_base_point(machine, draws=True), *_signature()]]


def with_given_nonce(machine: Machine) -> list[list[Step]]:
    """On the leading lane: k is E."""
    e = Operand.E
    given = [
        move(_ACC, Operand.Q_POWER, _Q),
        multiply(_NONCE, _ACC, e, _Q, "k in Montgomery form"),
        call(move(_ACC, e, _Q), BASE_SCALAR),
    ]
    first, second, *checks = _checks()
    in_range = [first, second, below(e, _Q), positive(e, _Q, "k > 0?"), *checks]
    return [[*in_range, *given, *_base_point(machine, draws=False), *_signature()]]


def _checks() -> list[Step]:
    """Modulo n from there on."""
    secret = Operand.SECRET
    return [
        check_modulus(_P),
        check_modulus(_Q),
        below(secret, _Q),
        call(positive(secret, _Q, "d > 0?"), ENTER),
    ]


def _drawn() -> list[Step]:
    """k, the number A R + B modulo n of random numbers A and B that are below R.

    Source: FIPS 186-5, appendix A.3.1: A R + B has more than 64 bits more than n.
    """
    high = Scratch.FORM_SUM
    total = linear(StepKind.ADD, _ACC, _ACC, high, _Q, "A R + B in Montgomery form")
    return [
        draw(_NONCE, _Q, "A"),
        multiply(_ACC, Operand.Q_POWER, _NONCE, _Q, "A in Montgomery form"),
        to_form(high, _ACC, _Q, "A R"),
        draw(_NONCE, _Q, "B"),
        multiply(_ACC, Operand.Q_POWER, _NONCE, _Q, "B in Montgomery form"),
        call(total, FROM_FORM),
        positive(_ACC, _Q, "k > 0?"),
        call(to_form(_NONCE, _ACC, _Q, "k"), BASE_SCALAR),
    ]


def _base_point(machine: Machine, *, draws: bool) -> list[Step]:
    """r = the coordinate x of k G, modulo n."""
    x_1, _, z_1 = SUM
    *reducing, restored = modulo_order(_R, x_1)
    steps = [
        replace(below(Operand.X, _Q), next=Next.EACH_MODULUS, target=_FIELD),
        *on_field((), _FIELD),
        *_multiple(Scratch.ONE_FORM, draws=draws),
    ]
    if machine.base_twice:
        steps += _made_again(draws=draws)
    return [
        *steps,
        call(move(_ACC, z_1, _P), AFFINE),
        *reducing,
        replace(restored, next=Next.EACH_MODULUS),
        positive(_R, _Q, "r > 0?"),
        call(below(_R, _Q), ENTER),
    ]


def _multiple(z: Scratch, *, draws: bool) -> list[Step]:
    """k G, beginning with a random Z, or without random numbers with this one."""
    if not draws:
        return [multiply_base(z)]
    drawn = Scratch.X_ADDED
    return [
        draw(drawn, _P, "Z"),
        multiply(_ACC, Operand.P_POWER, drawn, _P, "Z, below 2 c P"),
        multiply_base(_ACC),
    ]


def _made_again(*, draws: bool) -> list[Step]:
    """k G once more, with other coordinates, and compared: a fault in either ends with FAULT."""
    x, z = Scratch.X_KEPT, Scratch.Z_KEPT
    x_1, _, z_1 = SUM
    below_6 = {"X1": NumberPlace(x_1, below=SUM_BELOW), "Z1": NumberPlace(z_1, below=SUM_BELOW)}
    first = (Scratch.X_ADDED, Scratch.Z_ADDED)  # the first sum, as multipliers
    x_first, z_first = (NumberPlace(right=one, below=SUM_BELOW) for one in first)
    kept = {"XK": x_first, "ZK": z_first}
    *compared, last = curve_formula(
        "u=Z1*XK v=X1*ZK d=u-v", {**below_6, **kept}, {"d": NumberPlace(_ACC)}
    )
    return [
        move(x, x_1, _P),
        move(z, z_1, _P),
        *_multiple(Scratch.FACTOR, draws=draws),
        *(move(to, one, _P) for to, one in zip(first, (x, z), strict=True)),
        *compared,
        call(last, FROM_FORM),
        Step(kind=StepKind.CHECK_SUM, y=_ACC, modulus=_P, note="is k G the same again?"),
    ]


def draw(destination: Scratch, context: Context, name: str) -> Step:
    """Random digits, as many as the modulus has; of the right bank."""
    note = f"{name} is drawn"
    return linear(StepKind.DRAW, destination, destination, context.modulus, context, note)


def _signature() -> list[Step]:
    """s = (z + r d) / k modulo n, and its check; nothing of k is kept."""
    z, d, total = Scratch.FORM_Z, Scratch.FORM_D, Scratch.FORM_SUM
    difference = linear(StepKind.SUBTRACT, _ACC, _ACC, total, _Q, "s k - (z + r d)")
    return [
        call(move(_ACC, _NONCE, _Q), INVERT),
        inverse(_INVERSE, _Q),
        to_form(z, Operand.X, _Q, "z"),
        move(_ACC, Operand.Q_POWER, _Q),
        multiply(d, _ACC, Operand.SECRET, _Q, "d in Montgomery form"),
        to_form(_ACC, _R, _Q, "r"),
        multiply(_ACC, _ACC, d, _Q, "r d"),
        linear(StepKind.ADD, total, _ACC, z, _Q, "z + r d"),
        *plain_product(total, _INVERSE, _Q, "(z + r d) / k"),
        move(_S, _ACC, _Q),
        positive(_S, _Q, "s > 0?"),
        to_form(_ACC, _S, _Q, "s"),
        multiply(_ACC, _ACC, _NONCE, _Q, "s k"),
        call(replace(difference, times_modulus=4), FROM_FORM),
        Step(kind=StepKind.CHECK_SUM, y=_ACC, modulus=_Q, note="s k = z + r d?"),
        *(zero(one, _Q) for one in (_NONCE, _INVERSE, d, Scratch.PART)),
        zero(Operand.E, Context.WHOLE),
        *pair_result(_R, _S, _Q),
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
        *(Operand.X, Operand.Y, Operand.E, Operand.M, Operand.SECRET, *TABLE),
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
    settings=(("nonce", "random"),),
    banked=with_drawn_nonce,
)
