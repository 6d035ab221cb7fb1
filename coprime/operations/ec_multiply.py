"""EC_MULTIPLY: k P on a short Weierstrass curve, both coordinates: ECDH on P-256 and its like."""

from dataclasses import replace

from coprime.model.curve_points import multiple
from coprime.program.operands import Context, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, linear

from .banked import move
from .curve_form import WEIERSTRASS
from .operation import Input, Machine
from .shared_steps import call, check_modulus, reduced
from .weierstrass import (
    BITS_SUMMED,
    CURVE,
    EC_MULTIPLY_CODE,
    MULTIPLY,
    POINT_OF_X,
    SUM,
    SUMMED,
    below,
    checked,
    claim,
    curve_operation,
    lengthen,
    lengthen_blinded,
    positive,
    zero,
)

_ACC, _P, _Q = Scratch.ACCUMULATOR, Context.P, Context.Q


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    e, point, field = Operand.E, (Operand.X, Scratch.X_HIGH), "field_of_point"
    kept = Scratch.KEPT_SCALAR
    added, last = _lengthened(machine)
    zeros, bits = SUMMED
    x_1, y_1, z_1 = SUM
    steps = [
        check_modulus(_P),
        check_modulus(_Q),
        below(e, _Q),
        positive(e, _Q, "k > 0?"),
        move(kept, e, _Q),
        move(_ACC, e, _Q),
        *added,
        # Nothing is 1 from here on until the point is entered: where a fault has a jump miss that,
        # so that another one is multiplied, the sum of the bits is not k.
        replace(last, next=Next.EACH_MODULUS, target=field),
        replace(call(zero(zeros), POINT_OF_X), label=field),
        call(move(bits, Scratch.UNIT, _P), MULTIPLY),
        call(move(_ACC, z_1, _P), WEIERSTRASS.affine),
    ]
    check = [
        *claim(x_1, y_1, _P),
        move(_ACC, point[0], _P),
        replace(move(_ACC, point[1], _P), next=Next.EACH_MODULUS),
        *_scanned_less_k(machine),
        replace(
            checked(_Q, "was k scanned?"),
            next=Next.EACH_MODULUS,
            target=WEIERSTRASS.result_on_curve,
        ),
    ]
    return [[*steps, *check]]


def _lengthened(machine: Machine) -> tuple[list[Step], Step]:
    """The scalar as the ladder takes it, but for the last step, before which nothing is 1."""
    unit = Scratch.UNIT
    if machine.hardened:
        *blinded, last = lengthen_blinded()
        return [*blinded, move(unit, Operand.Q, _Q)], last
    added, compared, last = lengthen()
    return [added, replace(compared, destination=unit)], last


def _scanned_less_k(machine: Machine) -> list[Step]:
    """ACCUMULATOR is 0 if the sum of the bits scanned is k + n or k + 2 n; of a blinded scalar that
    is modulo n."""
    kept, scanned = Scratch.KEPT_SCALAR, Scratch.TERM
    summed = [zero(scanned, _Q), move(scanned, BITS_SUMMED, _P)]  # it may have a digit less than n
    if machine.hardened:
        less = linear(StepKind.SUBTRACT, _ACC, scanned, kept, _Q, "0, if k was scanned")
        return [*summed, less]
    return [
        linear(StepKind.ADD, _ACC, kept, Operand.Q, _Q, "k + n"),
        *summed,
        linear(StepKind.SUBTRACT, _ACC, scanned, _ACC, _Q, "0 or n, if k was scanned"),
        *reduced(_ACC, _ACC, _Q),
    ]


_READS = frozenset(
    {
        *(Operand.X, Operand.Y, Operand.E),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP, Operand.Q, Operand.M),
    }
)

EC_MULTIPLY = curve_operation(
    name="EC_MULTIPLY",
    code=EC_MULTIPLY_CODE,
    doc="E times the point X on the short Weierstrass curve Y modulo P, whose points have order Q.",
    formula="k · (x, y) on y² = x³ + a·x + b modulo p",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="coordinate x of the point"),
        Input(name="y", operand=Operand.X, upper=True, meaning="coordinate y of the point"),
        Input(name="k", operand=Operand.E, meaning="scalar k"),
        *CURVE,
    ),
    result=multiple,
    checks=True,
    blinds=True,
    gives_point=True,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
