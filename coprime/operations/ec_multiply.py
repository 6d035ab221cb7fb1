"""EC_MULTIPLY: k P on a short Weierstrass curve, both coordinates: ECDH on P-256 and its like."""

from coprime.model.curve_points import multiple
from coprime.program.builder import Builder
from coprime.program.operands import Core, Operand, UpperHalf
from coprime.program.steps import Next, Step

from .banked import Banked
from .curve_form import WEIERSTRASS
from .encodings.pairs import POINT
from .operation import Input, Machine
from .weierstrass import (
    BITS_SUMMED,
    BLIND,
    CURVE,
    EC_MULTIPLY_CODE,
    EXPONENT_FITS,
    MULTIPLY,
    POINT_OF_X,
    SUM,
    SUMMED,
    CurvePoint,
    claim,
    curve_operation,
    lengthen,
    times_order,
)

_ACC, _UNIT = Core.ACCUMULATOR, Banked.UNIT


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    e, point, kept = Operand.E, (Operand.X, UpperHalf.X_HIGH), Banked.KEPT_SCALAR
    zeros, bits = SUMMED
    x_1, y_1, z_1 = SUM
    code = Builder()
    p, q = code.p, code.q
    p.check_modulus()
    q.check_modulus()
    q.check_below(e, e)
    q.check_positive(e, "k > 0?")
    q.move(kept, e)
    q.move(_ACC, e)
    # Nothing is 1 from its last step on until the point is entered: where a fault has a jump miss
    # that, so that another one is multiplied, the sum of the bits is not k.
    if machine.hardened:
        _lengthen_blinded(code)
    else:
        lengthen(q, compared=_UNIT)
    code.next_modulus("field_of_point")
    p.zero(zeros)
    code.call(POINT_OF_X)
    p.move(bits, _UNIT)
    code.call(MULTIPLY)
    p.move(_ACC, z_1)
    code.call(WEIERSTRASS.affine)
    claim(p, x_1, y_1)
    for coordinate in point:
        p.move(_ACC, coordinate)
    code.next_modulus()
    _compare_scanned(code, machine)
    q.check_zero(_ACC, "was k scanned?")
    code.then(Next.EACH_MODULUS, WEIERSTRASS.result_on_curve)
    return [code.steps]


def _lengthen_blinded(code: Builder) -> None:
    """E = k + (1 + 4 r) n, and once or twice 2^(b + 2) n, of a k in ACCUMULATOR and a random r.

    It has b + 3 bits more than n. M is the power of two below it. No prefix of E but the last two
    is 0 or -1 modulo n, since 1 + 4 r is neither modulo 4.
    """
    e, multiple, whole, fits = Operand.E, Banked.MULTIPLE, code.whole, EXPONENT_FITS
    whole.zero(e)
    code.q.add(e, _ACC, Operand.Q, "k + n")
    times_order(code)
    whole.add(multiple, multiple, multiple, "2 n", fits=fits)
    whole.add(multiple, multiple, multiple, "4 n", fits=fits)
    code.call(BLIND)
    whole.add(e, e, multiple, "... + 2^(b + 2) n", fits=fits)
    whole.subtract(CurvePoint.DIFFERENCE, e, Operand.M, "is it below M?")
    code.q.move(_UNIT, Operand.Q)
    whole.restore(e, e, multiple, "... once more, if it is")


def _compare_scanned(code: Builder, machine: Machine) -> None:
    """ACCUMULATOR is 0 if the sum of the bits scanned is k + n or k + 2 n; of a blinded scalar that
    is modulo n."""
    q, kept, scanned = code.q, Banked.KEPT_SCALAR, Banked.TERM
    if not machine.hardened:
        q.add(_ACC, kept, Operand.Q, "k + n")
    q.zero(scanned)
    code.p.move(scanned, BITS_SUMMED)  # it may have a digit less than n
    if machine.hardened:
        q.subtract(_ACC, scanned, kept, "0, if k was scanned")
    else:
        q.subtract(_ACC, scanned, _ACC, "0 or n, if k was scanned")
        q.reduce(_ACC, _ACC)


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
    outputs=POINT,
    result=multiple,
    checks=True,
    blinds=True,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
