"""X_MULTIPLY: the u-coordinate of k times a point of a Montgomery curve: X25519, X448.

Source: RFC 7748, section 5, the Montgomery ladder; its names are those of the steps' notes. What
differs: nothing is reduced between products, as R is 16 c M or more: numbers below 2 c M have sums
and differences below 4 c M, whose products are below 2 c M again. There is no `cswap`: the two
multiples change places in the addresses, and every bit has the same steps. The inversion is a power
with the exponent M - 2, which is public; z = 0, where there is no inverse, has the result 0, as in
the RFC.
"""

from coprime.program.builder import Builder
from coprime.program.operands import Core, Entry, Exchanged, Mode, Operand, Scratch
from coprime.program.steps import Step, StepKind

from .banked import (
    POWER,
    REDUCE_ONCE,
    Banked,
    after_power,
    enter_whole,
    fill_table,
    finish_canonical,
    make_added_modulus,
    prepare_banked,
)
from .encodings.montgomery import Montgomery
from .operation import Input, Machine, Operation, Output


class Ladder(Scratch):
    """What X_MULTIPLY has beside the numbers that change places."""

    U_1 = 68
    """The coordinate u of a point of a Montgomery curve."""
    A_24 = 69
    """(A - 2) / 4 of a Montgomery curve."""


_ACC, _ONE_FORM, _UNIT = Core.ACCUMULATOR, Banked.ONE_FORM, Banked.UNIT
_X_2, _Z_2, _X_3, _Z_3 = Exchanged.X_2, Exchanged.Z_2, Exchanged.X_3, Exchanged.Z_3
_A, _B = Exchanged.SUM_2, Exchanged.DIFFERENCE_2
_A_COPY, _B_COPY = Exchanged.SUM_2_COPY, Exchanged.DIFFERENCE_2_COPY
_C, _D = Exchanged.SUM_3, Exchanged.DIFFERENCE_3
_C_COPY, _D_COPY = Exchanged.SUM_3_COPY, Exchanged.DIFFERENCE_3_COPY
_BIT = "x_ladder"
"""Label."""
_FROM_HIGHEST, _NEW_Z_2 = "from the highest bit of k", "z_2 = E * (AA + a24 * E)"
"""Notes."""
_BELOW = 2  # times c M: the multiple that a difference of products adds


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    code = Builder()
    _prepare(code, machine)
    (_ladder_beside if machine.multiplication.overlaps else _ladder)(code)
    _finish(code, machine)
    return [code.steps]


def _prepare(code: Builder, machine: Machine) -> None:
    """Checks; constants; X_2 : Z_2 = 1 : 0 and X_3 : Z_3 = u : 1, or these times a random z."""
    multiplication = machine.multiplication
    code.check_modulus()
    code.check_below(Operand.X)
    code.check_below(Operand.Y)
    enter_whole(code, multiplication, Ladder.U_1)
    code.move(Banked.KEPT_SCALAR, Operand.E)
    code.move(_ACC, Operand.M_POWER)
    code.multiply(Ladder.A_24, _ACC, Operand.Y, "a24 in Montgomery form")
    code.multiply(_ACC, _ACC, Mode.ONE, "1 in Montgomery form")
    code.move(_ONE_FORM, _ACC)
    code.multiply(_ACC, _ACC, Mode.ONE, "1, below 2M", descale=multiplication.scaled)
    code.reduce(_UNIT, _ACC)
    make_added_modulus(code, multiplication)
    if machine.randomizes:
        digits = _A_COPY
        code.draw(digits, digits)
        code.move(_ACC, Operand.M_POWER)
        code.multiply(_X_2, _ACC, digits, "a random z")
        code.zero(_Z_2, of=Operand.M)
        code.multiply(_X_3, _X_2, Ladder.U_1, "u z")
        code.move(_Z_3, _X_2)
    else:
        code.move(_X_2, _ONE_FORM)
        code.zero(_Z_2, of=Operand.M)
        code.move(_X_3, Ladder.U_1)
        code.move(_Z_3, _ONE_FORM)


def _ladder(code: Builder) -> None:
    """A round for each bit of k, from the highest one on.

    x_2 : z_2 is doubled, and x_3 : z_3 becomes the sum of both, or the other way round. DA and CB
    change places with the bit; so they are made before it is looked at, as their difference is
    squared.
    """
    _sums_and_differences(code)
    code.scan(StepKind.SCAN_WINDOWS, _FROM_HIGHEST)
    with code.each_bit(_BIT):
        code.multiply(_Z_3, _D, _A_COPY, "DA")
        code.multiply(_Z_2, _C, _B_COPY, "CB")
        by_bit = code.modulo(code.context, by_bit=True)
        by_bit.multiply(_A, _A, _A, "AA = A^2")
        by_bit.multiply(_B_COPY, _B, _B, "BB = B^2")
        by_bit.add(_X_3, _Z_3, _Z_2, "DA + CB")
        by_bit.subtract(_Z_3, _Z_3, _Z_2, "DA - CB", times_modulus=_BELOW)
        by_bit.multiply(_X_2, _A, _B_COPY, "x_2 = AA * BB")
        by_bit.subtract(_B, _A, _B_COPY, "E = AA - BB", times_modulus=_BELOW)
        by_bit.multiply(_X_3, _X_3, _X_3, "x_3 = (DA + CB)^2")
        by_bit.multiply(_Z_2, _B, Ladder.A_24, "a24 * E")
        by_bit.multiply(_Z_3, _Z_3, _Z_3, "(DA - CB)^2")
        by_bit.add(_A_COPY, _A, _Z_2, "AA + a24 * E")
        by_bit.multiply(_Z_3, _Z_3, Ladder.U_1, "z_3 = u * (DA - CB)^2")
        by_bit.multiply(_Z_2, _B, _A_COPY, "z_2 = E * (AA + a24 * E)")
        _sums_and_differences(by_bit)


def _sums_and_differences(code: Builder) -> None:
    """C and D, A and B: of x_3 and z_3, and of x_2 and z_2."""
    code.add(_C, _X_3, _Z_3, "C = x_3 + z_3", copy=_C_COPY)
    code.subtract(_D, _X_3, _Z_3, "D = x_3 - z_3", times_modulus=_BELOW, copy=_D_COPY)
    code.add(_A, _X_2, _Z_2, "A = x_2 + z_2", copy=_A_COPY)
    code.subtract(_B, _X_2, _Z_2, "B = x_2 - z_2", times_modulus=_BELOW, copy=_B_COPY)


def _ladder_beside(code: Builder) -> None:
    """The same where products overlap: no product waits for another one, nor for a sum.

    Each point ends with a product, E * (AA + a24 * E) or u * (DA - CB)^2, from which the next
    round's first sum is made. With the next bit these factors change places: so the point that is
    doubled next gets its z first, and its sum is made beside the other point's product. u is moved
    to the place of an E for that. Of a round of 500 cycles of products on 12 DSP slices 56 are
    saved.
    """
    e, u = _B, _D
    of_e, of_u = _A_COPY, _C_COPY  # what E and u are multiplied by
    bb = _D_COPY
    # Each z as a product by 1.
    code.move(e, _Z_2)
    code.move(u, _Z_3)
    code.move(of_e, _ONE_FORM)
    code.move(of_u, _ONE_FORM)
    code.scan(StepKind.SCAN_WINDOWS, _FROM_HIGHEST)
    by_bit = code.modulo(code.context, by_bit=True)
    # z of both points; A to D, AA, BB, DA, CB; then all but z of both points. Each sum is made
    # beside products that do not need it.
    with code.each_bit(_BIT):
        by_bit.multiply(_Z_2, e, of_e, _NEW_Z_2)
        by_bit.multiply(_Z_3, u, of_u, "z_3 = u * (DA - CB)^2")
        by_bit.add(_A, _X_2, _Z_2, "A = x_2 + z_2", copy=_A_COPY)
        by_bit.multiply(_A, _A, _A, "AA = A^2")
        by_bit.subtract(_B, _X_2, _Z_2, "B = x_2 - z_2", times_modulus=_BELOW, copy=_B_COPY)
        by_bit.multiply(bb, _B, _B, "BB = B^2")
        by_bit.subtract(_D, _X_3, _Z_3, "D = x_3 - z_3", times_modulus=_BELOW)
        by_bit.add(_C, _X_3, _Z_3, "C = x_3 + z_3")
        by_bit.multiply(_Z_3, _D, _A_COPY, "DA")
        by_bit.subtract(e, _A, bb, "E = AA - BB", times_modulus=_BELOW)
        by_bit.multiply(of_e, _C, _B_COPY, "CB")
        by_bit.multiply(_Z_2, e, Ladder.A_24, "a24 * E")
        by_bit.add(_X_3, _Z_3, of_e, "DA + CB")
        by_bit.multiply(_X_2, _A, bb, "x_2 = AA * BB")
        by_bit.subtract(_Z_3, _Z_3, of_e, "DA - CB", times_modulus=_BELOW)
        by_bit.multiply(of_u, _Z_3, _Z_3, "(DA - CB)^2")
        by_bit.add(of_e, _A, _Z_2, "AA + a24 * E")
        by_bit.move(u, Ladder.U_1)
        by_bit.multiply(_X_3, _X_3, _X_3, "x_3 = (DA + CB)^2")
    code.multiply(_Z_2, e, of_e, _NEW_Z_2)  # of the result; the other point is not needed


def _finish(code: Builder, machine: Machine) -> None:
    """RESULT = x_2 * z_2^(M - 2), canonical; E as it was."""
    multiplication, e, term = machine.multiplication, Operand.E, Banked.TERM
    base, one = (Core.BASE, Entry.T_0) if multiplication.overlaps else (None, _ACC)
    code.subtract(e, Operand.M, _UNIT, "M - 1")
    code.subtract(e, e, _UNIT, "M - 2")
    prepare_banked(code, multiplication)
    code.move(_ACC, _Z_2)
    code.move(Mode.WINDOW, _ACC)
    if base:
        code.move(base, _ACC)
    fill_table(code, base)
    code.move(one, _ONE_FORM)
    code.call(POWER)
    after_power(code, machine)
    code.move(term, _ACC)
    code.move(e, Banked.KEPT_SCALAR)
    code.multiply(_ACC, _X_2, term, "x_2 / z_2, below 3M", descale=multiplication.scaled)
    code.call(REDUCE_ONCE)
    finish_canonical(code)


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
    encoding_of=Montgomery,
    formula="u of e · (x, v) on a Montgomery curve: X25519, X448",
    inputs=(
        Input(name="x", operand=Operand.X, meaning="coordinate u of the point"),
        Input(name="e", operand=Operand.E, meaning="scalar k", is_scalar=True),
        Input(name="y", operand=Operand.Y, meaning="number (A - 2) / 4 of the curve"),
        Input(name="m", operand=Operand.M, meaning="prime modulus p"),
    ),
    outputs=(Output(name="u", meaning="coordinate u of the multiple"),),
    result=ladder,
    optional=True,
    setting=("curves", "montgomery"),
    banked=on_two_banks,
)
