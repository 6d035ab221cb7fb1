"""ECDSA_VERIFY: whether r and s are a signature on a short Weierstrass curve.

Source: FIPS 186-5, section 6.4.2; its names are those of the steps' notes. All numbers are public.
The result is r; of a wrong signature there is an error.
"""

from dataclasses import replace

from coprime.model.curve_points import add, multiple
from coprime.program.operands import PAIRS_OF_TABLE, Context, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, multiply

from .banked import move
from .ecdsa_routines import IS_R, factors, finite_sum, sum_of_multiples
from .operation import Input, Machine
from .shared_steps import call, check_modulus, jump
from .weierstrass import (
    BASE_AND_CURVE,
    ENTER,
    INVERT_BY_BITS,
    RESULT_IS_X,
    below,
    curve_operation,
    on_field,
    positive,
    to_form,
)

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    return [[*_factors(), *_sum(), *_comparison()]]


def _factors() -> list[Step]:
    """u_1 = z / s, for the comb, and u_2 = r / s, modulo n."""
    r, s = Operand.X, Scratch.X_HIGH
    of_z = [
        move(_ACC, Operand.Q_POWER, _Q),
        multiply(_ACC, _ACC, Operand.E, _Q, "z in Montgomery form"),
    ]
    return [
        check_modulus(_P),
        check_modulus(_Q),
        below(r, _Q),
        positive(r, _Q, "r > 0?"),
        below(s, _Q),
        positive(s, _Q, "s > 0?"),
        call(below(Operand.E, _Q), ENTER),
        call(to_form(_ACC, s, _Q, "s"), INVERT_BY_BITS),
        *factors([to_form(_ACC, r, _Q, "r")], of_z),
    ]


def _sum() -> list[Step]:
    """X_1 : Y_1 : Z_1 = u_1 G + u_2 * the public key."""
    field, key = "field_of_points", (Operand.POINT, Scratch.POINT_HIGH)
    return [
        replace(positive(Operand.Q, _Q, "modulo p"), next=Next.EACH_MODULUS, target=field),
        *on_field(key, field),
        *sum_of_multiples(),
    ]


def _comparison() -> list[Step]:
    """Is r the coordinate x of the sum modulo n?"""
    unequal = Step(kind=StepKind.CHECK_SIGNATURE, y=_ACC, modulus=_P, note="is r of the sum?")
    return [
        *finite_sum(),
        below(Operand.X, _P),
        call(move(Scratch.SIGNATURE_R, Operand.X, _Q), IS_R),
        jump(unequal, RESULT_IS_X),
    ]


def verified(
    r: int, s: int, z: int, x: int, y: int, gx: int, gy: int, a: int, b: int, p: int, n: int
) -> tuple[int, int]:
    """The same on integers: r and 0. ValueError for a wrong signature."""
    if not 0 < r < n or not 0 < s < n:
        raise ValueError("r or s is out of range")
    w = pow(s, -1, n)
    u_1, u_2 = z * w % n, r * w % n
    first = multiple(gx, gy, u_1, a, b, p, n) if u_1 else None
    total = add(first, multiple(x, y, u_2, a, b, p, n), a, p)
    if total is None or total[0] % n != r:
        raise ValueError("the signature is wrong")
    return r, 0


_READS = frozenset(
    {
        *(Operand.X, Operand.Y, Operand.M, Operand.E, Operand.POINT, *PAIRS_OF_TABLE),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP),
        *(Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER, Operand.DQ),
    }
)

ECDSA_VERIFY = curve_operation(
    name="ECDSA_VERIFY",
    code=10,
    doc="Whether X is a signature of the hash E with the public key POINT; TABLE_0 is G.",
    formula="r, if it is x of (z/s) · (gx, gy) + (r/s) · (x, y) modulo n",
    inputs=(
        Input(name="r", operand=Operand.X, meaning="number r of the signature"),
        Input(name="s", operand=Operand.X, upper=True, meaning="number s of the signature"),
        Input(name="z", operand=Operand.E, meaning="hash z, below n", public=True),
        Input(name="x", operand=Operand.POINT, meaning="coordinate x of the public key"),
        Input(
            name="y", operand=Operand.POINT, upper=True, meaning="coordinate y of the public key"
        ),
        *BASE_AND_CURVE,
    ),
    result=verified,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
