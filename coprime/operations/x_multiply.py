"""X_MULTIPLY: the u-coordinate of k times a point of a Montgomery curve: X25519, X448.

Source: RFC 7748, section 5, the Montgomery ladder; its names are those of the steps' notes. What
differs: nothing is reduced between products, as R is 16 c M or more: numbers below 2 c M have sums
and differences below 4 c M, whose products are below 2 c M again. There is no `cswap`: the two
multiples change places in the addresses, and every bit has the same steps. The inversion is a power
with the exponent M - 2, which is public; z = 0, where there is no inverse, has the result 0, as in
the RFC.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.steps import Next, Step, StepKind, linear, multiply, scan

from .banked import (
    POWER,
    REDUCE_ONCE,
    after_power,
    canonical_result,
    clear,
    ending,
    enter_whole,
    fill_table,
    make_added_modulus,
    move,
    prepare_banked,
)
from .operation import Input, Machine, Operation
from .shared_steps import call, check_below_modulus, check_modulus, descale, reduced

_ACC, _WHOLE = Scratch.ACCUMULATOR, Context.WHOLE
_ONE_FORM, _UNIT = Scratch.ONE_FORM, Scratch.UNIT
_BIT = "x_ladder"
"""Label."""
_COPIES: Mapping[Reference, Reference] = {
    Scratch.SUM_2: Scratch.SUM_2_COPY,
    Scratch.SUM_3: Scratch.SUM_3_COPY,
    Scratch.DIFFERENCE_2: Scratch.DIFFERENCE_2_COPY,
    Scratch.DIFFERENCE_3: Scratch.DIFFERENCE_3_COPY,
}
_BELOW = 2  # times c M: the multiple that a difference of products adds


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    return [[*_prepare(machine), *_ladder(machine), *_finish(machine)]]


def _prepare(machine: Machine) -> list[Step]:
    """Checks; constants; X_2 : Z_2 = 1 : 0 and X_3 : Z_3 = u : 1, or these times a random z."""
    multiplication = machine.multiplication
    one = multiply(_ACC, _ACC, Mode.ONE, _WHOLE, "1 in Montgomery form")
    out = multiply(_ACC, _ACC, Mode.ONE, _WHOLE, "1, below 2M")
    return [
        check_modulus(_WHOLE),
        check_below_modulus(Operand.X),
        check_below_modulus(Operand.Y),
        *enter_whole(multiplication, Scratch.U_1),
        move(Scratch.KEPT_SCALAR, Operand.E, _WHOLE),
        move(_ACC, Operand.M_POWER, _WHOLE),
        multiply(Scratch.A_24, _ACC, Operand.Y, _WHOLE, "a24 in Montgomery form"),
        one,
        move(_ONE_FORM, _ACC, _WHOLE),
        descale(multiplication, out),
        *reduced(_UNIT, _ACC, _WHOLE),
        *make_added_modulus(multiplication, _WHOLE),
        *(_random_points() if machine.randomizes else _points()),
        *_round_of(machine).before(),
    ]


def _points() -> list[Step]:
    return [
        move(Scratch.X_2, _ONE_FORM, _WHOLE),
        clear(Scratch.Z_2),
        move(Scratch.X_3, Scratch.U_1, _WHOLE),
        move(Scratch.Z_3, _ONE_FORM, _WHOLE),
    ]


def _random_points() -> list[Step]:
    """The same points, z : 0 and u z : z of a random z."""
    digits, z = Scratch.SUM_2_COPY, Scratch.X_2
    drawn = linear(StepKind.DRAW, digits, digits, Operand.M, _WHOLE, "digits are drawn")
    return [
        drawn,
        move(_ACC, Operand.M_POWER, _WHOLE),
        multiply(z, _ACC, digits, _WHOLE, "a random z"),
        clear(Scratch.Z_2),
        multiply(Scratch.X_3, z, Scratch.U_1, _WHOLE, "u z"),
        move(Scratch.Z_3, z, _WHOLE),
    ]


def _ladder(machine: Machine) -> list[Step]:
    """A round for each bit of k, from the highest one on."""
    scanned = scan(StepKind.SCAN_WINDOWS, _WHOLE, "from the highest bit of k")
    a_round = _round_of(machine)
    return [scanned, *a_round.steps(), *a_round.after()]


def _round_of(machine: Machine) -> "_Round":
    return (_OverlappedRound if machine.multiplication.overlaps else _Round)(_COPIES)


@dataclass(frozen=True)
class _Round:
    """x_2 : z_2 is doubled, and x_3 : z_3 becomes the sum of both, or the other way round.

    DA and CB change places with the bit; so they are made before it is looked at, as their
    difference is squared.

    Parameters
    ----------
    copies : of sums and differences in the right bank
    """

    copies: Mapping[Reference, Reference]

    def before(self) -> list[Step]:
        """What comes before the first round."""
        return self._sums_and_differences()

    def steps(self) -> list[Step]:
        """All rounds."""
        others = [replace(one, by_bit=True) for one in [*self._points(), *self.before()]]
        da, cb = self._cross_products(Scratch.Z_3, Scratch.Z_2)
        return _repeated([da, cb, *others])

    def after(self) -> list[Step]:
        """What comes after the last round."""
        return []

    def _cross_products(self, da: Reference, cb: Reference) -> list[Step]:
        copies = self.copies
        return [
            _product(da, Scratch.DIFFERENCE_3, copies[Scratch.SUM_2], "DA"),
            _product(cb, Scratch.SUM_3, copies[Scratch.DIFFERENCE_2], "CB"),
        ]

    def _points(self) -> list[Step]:
        """The new points."""
        x_2, z_2, x_3, z_3 = Scratch.X_2, Scratch.Z_2, Scratch.X_3, Scratch.Z_3
        a, b = Scratch.SUM_2, Scratch.DIFFERENCE_2
        a_copy, b_copy = self.copies[a], self.copies[b]
        return [
            _product(a, a, a, "AA = A^2"),
            _product(b_copy, b, b, "BB = B^2"),
            _sum(x_3, z_3, z_2, "DA + CB"),
            _difference(z_3, z_3, z_2, "DA - CB"),
            _product(x_2, a, b_copy, "x_2 = AA * BB"),
            _difference(b, a, b_copy, "E = AA - BB"),
            _product(x_3, x_3, x_3, "x_3 = (DA + CB)^2"),
            _product(z_2, b, Scratch.A_24, "a24 * E"),
            _product(z_3, z_3, z_3, "(DA - CB)^2"),
            _sum(a_copy, a, z_2, "AA + a24 * E"),
            _product(z_3, z_3, Scratch.U_1, "z_3 = u * (DA - CB)^2"),
            _product(z_2, b, a_copy, "z_2 = E * (AA + a24 * E)"),
        ]

    def _sums_and_differences(self) -> list[Step]:
        """C and D, A and B: of x_3 and z_3, and of x_2 and z_2."""
        x_2, z_2, x_3, z_3 = Scratch.X_2, Scratch.Z_2, Scratch.X_3, Scratch.Z_3
        steps = [
            _sum(Scratch.SUM_3, x_3, z_3, "C = x_3 + z_3"),
            _difference(Scratch.DIFFERENCE_3, x_3, z_3, "D = x_3 - z_3"),
            _sum(Scratch.SUM_2, x_2, z_2, "A = x_2 + z_2"),
            _difference(Scratch.DIFFERENCE_2, x_2, z_2, "B = x_2 - z_2"),
        ]
        return [replace(one, copy=self.copies[one.destination]) for one in steps]


class _OverlappedRound(_Round):
    """The same where products overlap: no product waits for another one, nor for a sum.

    Each point ends with a product, E * (AA + a24 * E) or u * (DA - CB)^2, from which the next
    round's first sum is made. With the next bit these factors change places: so the point that is
    doubled next gets its z first, and its sum is made beside the other point's product. u is moved
    to the place of an E for that. Of a round of 500 cycles of products on 12 DSP slices 56 are
    saved.
    """

    def before(self) -> list[Step]:
        """Each z as a product by 1."""
        (e, u), (left, right) = self._factors
        return [
            move(e, Scratch.Z_2, _WHOLE),
            move(u, Scratch.Z_3, _WHOLE),
            move(left, _ONE_FORM, _WHOLE),
            move(right, _ONE_FORM, _WHOLE),
        ]

    def steps(self) -> list[Step]:
        """All rounds: z of both points; A to D, AA, BB, DA, CB; then all but z of both points.

        Each sum is made beside products that do not need it.
        """
        x_2, z_2, x_3, z_3 = Scratch.X_2, Scratch.Z_2, Scratch.X_3, Scratch.Z_3
        a, b = Scratch.SUM_2, Scratch.DIFFERENCE_2
        (e, u), (left, right) = self._factors
        bb = self.copies[Scratch.DIFFERENCE_3]
        c, d, sum_a, difference_b = self._sums_and_differences()
        da, cb = self._cross_products(z_3, left)
        steps = [
            self._z_2(),
            _product(z_3, u, right, "z_3 = u * (DA - CB)^2"),
            sum_a,
            _product(a, a, a, "AA = A^2"),
            difference_b,
            _product(bb, b, b, "BB = B^2"),
            replace(d, copy=None),
            replace(c, copy=None),
            da,
            _difference(e, a, bb, "E = AA - BB"),
            cb,
            _product(z_2, e, Scratch.A_24, "a24 * E"),
            _sum(x_3, z_3, left, "DA + CB"),
            _product(x_2, a, bb, "x_2 = AA * BB"),
            _difference(z_3, z_3, left, "DA - CB"),
            _product(right, z_3, z_3, "(DA - CB)^2"),
            _sum(left, a, z_2, "AA + a24 * E"),
            move(u, Scratch.U_1, _WHOLE),
            _product(x_3, x_3, x_3, "x_3 = (DA + CB)^2"),
        ]
        return _repeated([replace(one, by_bit=True) for one in steps])

    def after(self) -> list[Step]:
        """z of the result; the other point is not needed."""
        return [self._z_2()]

    def _z_2(self) -> Step:
        (e, _), (left, _) = self._factors
        return _product(Scratch.Z_2, e, left, "z_2 = E * (AA + a24 * E)")

    @property
    def _factors(self) -> tuple[tuple[Reference, Reference], tuple[Reference, Reference]]:
        """Where E and u are, and what they are multiplied by."""
        return (
            (Scratch.DIFFERENCE_2, Scratch.DIFFERENCE_3),
            (self.copies[Scratch.SUM_2], self.copies[Scratch.SUM_3]),
        )


def _repeated(steps: list[Step]) -> list[Step]:
    """For each bit."""
    first, *others, last = steps
    return [
        replace(first, label=_BIT),
        *others,
        replace(last, next=Next.NEXT_BIT, target=_BIT),
    ]


def _product(into: Reference, x: Reference, y: Reference, note: str) -> Step:
    return multiply(into, x, y, _WHOLE, note)


def _sum(into: Reference, x: Reference, y: Reference, note: str) -> Step:
    return linear(StepKind.ADD, into, x, y, _WHOLE, note)


def _difference(into: Reference, x: Reference, y: Reference, note: str) -> Step:
    step = linear(StepKind.SUBTRACT, into, x, y, _WHOLE, note)
    return replace(step, times_modulus=_BELOW)


def _finish(machine: Machine) -> list[Step]:
    """RESULT = x_2 * z_2^(M - 2), canonical; E as it was."""
    multiplication = machine.multiplication
    overlaps = multiplication.overlaps
    e, term = Operand.E, Scratch.TERM
    less_one = linear(StepKind.SUBTRACT, e, Operand.M, _UNIT, _WHOLE, "M - 1")
    base = Scratch.BASE if overlaps else None
    product = multiply(_ACC, Scratch.X_2, term, _WHOLE, "x_2 / z_2, below 3M")
    one = Scratch.T_0 if overlaps else _ACC
    table = [
        *prepare_banked(multiplication, _WHOLE),
        move(_ACC, Scratch.Z_2, _WHOLE),
        move(Mode.WINDOW, _ACC, _WHOLE),
        *([move(base, _ACC, _WHOLE)] if base else []),
        fill_table(_WHOLE, base),
    ]
    return [
        less_one,
        linear(StepKind.SUBTRACT, e, e, _UNIT, _WHOLE, "M - 2"),
        *table,
        call(move(one, _ONE_FORM, _WHOLE), POWER),
        *after_power(machine),
        move(term, _ACC, _WHOLE),
        move(e, Scratch.KEPT_SCALAR, _WHOLE),
        call(descale(multiplication, product), REDUCE_ONCE),
        *ending(canonical_result()),
    ]


def ladder(x: int, e: int, y: int, m: int) -> int:
    """The same on integers, as RFC 7748 has it: x is u, e is k, y is a24, m is p."""
    x_2, z_2, x_3, z_3 = 1, 0, x, 1
    for t in reversed(range(e.bit_length())):
        bit = e >> t & 1
        if bit:
            x_2, z_2, x_3, z_3 = x_3, z_3, x_2, z_2
        a, b, c, d = x_2 + z_2, x_2 - z_2, x_3 + z_3, x_3 - z_3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        x_3, z_3 = (da + cb) ** 2 % m, x * (da - cb) ** 2 % m
        x_2, z_2 = aa * bb % m, (aa - bb) * (aa + y * (aa - bb)) % m
        if bit:
            x_2, z_2, x_3, z_3 = x_3, z_3, x_2, z_2
    return x_2 * pow(z_2, m - 2, m) % m


X_MULTIPLY = Operation(
    name="X_MULTIPLY",
    code=7,
    doc="The u-coordinate of E * (X, v) on the Montgomery curve with (A - 2) / 4 = Y modulo M.",
    formula="u of e · (x, v) on a Montgomery curve: X25519, X448",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="coordinate u of the point"),
        Input(name="e", operand=Operand.E, meaning="scalar k", is_scalar=True),
        Input(name="y", operand=Operand.Y, meaning="number (A - 2) / 4 of the curve"),
        Input(name="m", operand=Operand.M, meaning="prime modulus p"),
    ),
    result=ladder,
    prime=True,
    optional=True,
    setting=("curves", "montgomery"),
    banked=on_two_banks,
)
