"""ECDSA_SIGN: the numbers r and s of a signature on a short Weierstrass curve.

Source: FIPS 186-5, section 6.4.1; its names are those of the steps' notes. z is the leftmost bits
of the hash, as many as n has, modulo n. Before a signature can be read, s k = z + r d modulo n is
checked, and that k G is on the curve.
"""

from dataclasses import replace

from coprime.program.operands import TABLE, Context, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, linear, multiply

from .banked import move
from .comb import BASE_POINT, BASE_SCALAR
from .operation import Input, Machine, Operation
from .points import multiple
from .shared_steps import call, check_modulus
from .weierstrass import (
    AFFINE,
    ENTER,
    FROM_FORM,
    INVERT,
    SUM,
    below,
    inverse,
    modulo_order,
    on_field,
    pair_result,
    plain_product,
    positive,
    to_form,
)

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q
_R, _S, _NONCE, _INVERSE = (
    *(Scratch.SIGNATURE_R, Scratch.SIGNATURE_S, Scratch.NONCE, Scratch.INVERSE),
)
_FIELD = "field_of_base_point"
"""Label."""


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    return [[*_nonce(), *_base_point(), *_signature()]]


def _nonce() -> list[Step]:
    """k in Montgomery form, and E for the multiple of the base point; modulo n."""
    e, secret = Operand.E, Operand.SECRET
    return [
        check_modulus(_P),
        check_modulus(_Q),
        below(e, _Q),
        positive(e, _Q, "k > 0?"),
        below(secret, _Q),
        call(positive(secret, _Q, "d > 0?"), ENTER),
        move(_ACC, Operand.Q_POWER, _Q),
        multiply(_NONCE, _ACC, e, _Q, "k in Montgomery form"),
        call(move(_ACC, e, _Q), BASE_SCALAR),
        replace(below(Operand.X, _Q), next=Next.EACH_MODULUS, target=_FIELD),
    ]


def _base_point() -> list[Step]:
    """r = the coordinate x of k G, modulo n."""
    *field, entered = on_field((), _FIELD)
    x_1, _, z_1 = SUM
    *reducing, restored = modulo_order(_R, x_1)
    return [
        *field,
        call(entered, BASE_POINT),
        call(move(_ACC, z_1, _P), AFFINE),
        *reducing,
        replace(restored, next=Next.EACH_MODULUS),
        positive(_R, _Q, "r > 0?"),
        call(below(_R, _Q), ENTER),
    ]


def _signature() -> list[Step]:
    """s = (z + r d) / k modulo n, and its check."""
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
        *pair_result(_R, _S, _Q),
    ]


def signature(
    z: int, d: int, k: int, gx: int, gy: int, a: int, b: int, p: int, n: int
) -> tuple[int, int]:
    """The same on integers. ValueError where r or s is 0."""
    r = multiple(gx, gy, k, a, b, p, n)[0] % n
    s = (z + r * d) * pow(k, -1, n) % n
    if not r or not s:
        raise ValueError("another k is needed: r or s is 0")
    return r, s


_READS = frozenset(
    {
        *(Operand.X, Operand.Y, Operand.E, Operand.M, Operand.SECRET, *TABLE),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP),
        *(Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER, Operand.DQ),
    }
)

ECDSA_SIGN = Operation(
    name="ECDSA_SIGN",
    code=9,
    doc="The numbers r and s of a signature with the key SECRET, the nonce E and the hash X.",
    formula="r = x of k · (gx, gy), s = (z + r·d) / k modulo n",
    inputs=(
        Input(name="z", operand=Operand.X, meaning="hash z, below n"),
        Input(name="d", operand=Operand.SECRET, meaning="private key d"),
        Input(name="k", operand=Operand.E, meaning="nonce k"),
        Input(name="gx", operand=Operand.TABLE_0, meaning="coordinate x of the base point"),
        Input(name="gy", operand=Operand.TABLE_0, upper=True, meaning="coordinate y of it"),
        Input(name="a", operand=Operand.Y, meaning="coefficient a of the curve"),
        Input(name="b", operand=Operand.Y, upper=True, meaning="coefficient b of the curve"),
        Input(name="p", operand=Operand.P, meaning="prime modulus p of the curve"),
        Input(name="n", operand=Operand.Q, meaning="prime order n of its points"),
    ),
    result=signature,
    uses_up=frozenset({Operand.E, Operand.M_POWER, Operand.Y}),
    on_curve=True,
    moduli=(Context.Q, Context.P),
    reads=lambda arithmetic: _READS,
    optional=True,
    setting=("curves", "weierstrass"),
    banked=on_two_banks,
)
