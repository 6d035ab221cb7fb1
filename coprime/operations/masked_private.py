"""RSA_PRIVATE on lanes of two banks that compute with masked numbers only.

Sources: blinding of the base, Kocher (1996), Chaum (1983); of the exponent, Kocher (1996); masks
that are multiples of the modulus, Walter (1999), Coron (1999), there of a scalar. What differs: no
inverse is needed, and the check itself is blinded.

    MASKED     = X + t M             t is random, of V bits and 2^(V - 1) more
    CLAIMED    = X + 2 (2^V - 1) M - t M
    UNBLINDING = r^(E - 1) X         r is random modulo M; made of MASKED
    BASE       = r^E X               modulo M
    POWER      = BASE^(D_p - 1)      modulo each prime, with D_p + k (P - 1) for D_p
    POWER      of both primes, modulo M (Garner)
    S          = POWER * UNBLINDING
               = r^(1 - E) X^(D - 1) * r^(E - 1) X
    MASKED_SUM = S + t M
    (r' MASKED_SUM)^E = r'^E CLAIMED modulo each prime, or everything is wiped; r' = r + 1

So X is read unmasked for the comparison with M and then in two sums; S is unmasked from its product
on, while it is reduced to canonical form, masked, and copied; everything else depends on them only
through random numbers. As CLAIMED and MASKED have different masks, the check detects a fault in t
M, which would make S the power of another number. V is the width of RESIDUE: modulo 2^V - 1 the sum
of CLAIMED and t M is X, although no step reads X again. The check computes its own r'^E, as it
would not detect a fault in an r^E shared with BASE. And if r were 0 modulo one prime only, S would
reveal that prime: r' S is then not 0, unlike r S.

The numbers that products use instead of the primes have masks where the multiplier has room for
them (`masked_primes.py`).
"""

from coprime.multipliers.multiplication import Multiplication
from coprime.program.builder import Builder, RoutineBuilder
from coprime.program.operands import (
    BLINDED_OF,
    Context,
    Core,
    Entry,
    Mode,
    Operand,
    Retained,
    Scratch,
)
from coprime.program.routine import Routine
from coprime.program.steps import SIGNS, Step, StepKind, mask_bits

from .banked import POWER, Banked, clear, fill_table, leave, prepare_banked
from .banked_private import scan_public, weigh
from .masked_primes import (
    PrimeMasking,
    enter_form,
    mask_primes,
    modulo_prime,
    modulo_prime_again,
    negative_power_again,
    power_of,
    weigh_masked,
)
from .operation import Machine


class Masking(Scratch):
    """What hides the base and the result."""

    RANDOM = 14
    """The random number r of a blinded base, in Montgomery form."""
    UNBLINDING = 15
    """r ^ (E - 1) * X: what the power of r ^ E * X is multiplied by."""
    MASKED = 20
    """X + t * M, which is blinded and raised to a power."""
    MASKED_SUM = 22
    """S + t * M, of which the check is."""
    BLINDED_BASE = 30
    """r ^ E * X modulo M."""
    EXPECTED = 31
    """-(r + 1) ^ E * X modulo a prime: what the power of (r + 1) * S is compared with."""


PUBLIC_POWER = "public_power"
"""A routine."""

_ACC, _TERM, _CURRENT = Core.ACCUMULATOR, Banked.TERM, Context.CURRENT


def masked_private(machine: Machine) -> list[list[Step]]:
    """X ^ D mod M, M = P * Q, on one lane or on two: a list for each."""
    lanes = [_leading_lane, _second_lane] if machine.lanes == 2 else [_alone]
    return [lane(machine.multiplication) for lane in lanes]


def _alone(multiplication: Multiplication) -> list[Step]:
    """On one lane: Q's half, then P's."""
    code = Builder()
    code.check_modulus()
    with code.each_modulus("primes"):
        code.current.check_modulus()
    for context in BLINDED_OF:
        _refresh(code, context)
    mask_primes(code.current, multiplication)
    _mask(code, multiplication)
    _blind(code, multiplication)
    with code.each_modulus("half"):
        _half(code.current, multiplication, Mode.HALF)
        clear(code, Banked.FACTOR)
    code.q.move(Banked.FACTOR, Core.PART)
    _recombine(code, multiplication)
    _claim(code, multiplication)
    with code.each_modulus("check"):
        _check(code.current, multiplication)
    code.rest()
    code.finish()
    return code.steps


def _leading_lane(multiplication: Multiplication) -> list[Step]:
    """The first of two lanes, which has P, draws all random numbers, and makes what is of M."""
    code = Builder()
    code.check_modulus()
    code.q.check_modulus()
    code.p.check_modulus()
    for context in BLINDED_OF:
        _refresh(code, context)
    code.meet()
    code.move(Retained.BLINDED_Q, Retained.BLINDED_Q)
    _mask(code, multiplication)
    _blind(code, multiplication, gives=True)
    _half(code.current, multiplication, _ACC)
    clear(code, Banked.FACTOR)
    code.meet()
    code.q.move(Banked.FACTOR, Mode.OTHER, below=2)
    _recombine(code, multiplication)
    code.meet()
    _claim(code, multiplication)
    _check(code.current, multiplication)
    code.meet()
    code.rest()
    code.finish()
    return code.steps


def _second_lane(multiplication: Multiplication) -> list[Step]:
    """The second of two lanes, which has Q: what it takes has a mask, but for S as it is given."""
    other, below = Mode.OTHER, _most_masked(multiplication)
    code = Builder()
    for taken in (Retained.BLINDED_Q, Masking.RANDOM, Masking.BLINDED_BASE):
        code.barrier()
        code.move(taken, other)
    _half(code.current, multiplication, _ACC)
    code.barrier()
    code.q.move(_ACC, _ACC, "C of Q, for the other lane", below=2)
    code.barrier()
    code.move(Core.SUM, other)
    code.do(StepKind.CHECK_REDUCED, "S < M?", x=Core.SUM, y=Operand.M)
    code.move(Core.SUM, other)
    code.move(Masking.MASKED_SUM, other, below=below)
    code.move(Banked.FACTOR, other, below=below)
    _check(code.current, multiplication)
    code.barrier()
    code.finish()
    return code.steps


def _most_masked(multiplication: Multiplication) -> int:
    """How many times M a number with a mask is at most."""
    return 2 << mask_bits(multiplication.digit_width)


def _refresh(code: Builder, context: Context) -> None:
    """The blinded exponent gets another random multiple of p - 1, modulo 2^bits (p - 1).

    Once, after the host has written the exponent, it is that; from then on only what is blinded is
    read. Random bits are signs of 2^i (p - 1), so that each makes a sum that is written. The last
    double is added, too: the multiple is odd, and above 0.
    """
    blinded, multiple, prime = BLINDED_OF[context], Banked.MULTIPLE, context.modulus
    name, of_prime, m = blinded.name, code.modulo(context), Operand.M
    written, either, even = StepKind.MOVE_WRITTEN, StepKind.ADD_OR_SUBTRACT, StepKind.MAKE_EVEN
    fits = "primes are shorter than the modulus by as many digits as k has"
    doubles = f"2^(i + 1) ({prime.name} - 1)"
    clear(code, _ACC)
    of_prime.linear(written, _ACC, context.exponent, m, "if the host has written it")
    code.linear(written, blinded, _ACC, m, "the same")
    clear(code, multiple)
    of_prime.linear(even, multiple, prime, m, f"{prime.name} - 1")
    with code.loop(f"refresh_{context.name}", SIGNS):
        code.linear(either, blinded, blinded, multiple, f"{name} +- 2^i", fits=fits)
        code.add(multiple, multiple, multiple, doubles, fits=fits)
    code.add(blinded, blinded, multiple, f"{name} + 2^{SIGNS}", fits=fits)
    code.add(multiple, multiple, multiple, doubles, fits=fits)
    code.subtract(blinded, blinded, multiple, f"{name} - 2^{SIGNS + 1}")
    code.restore(blinded, blinded, multiple, "... where it is not below 0")


def _mask(code: Builder, multiplication: Multiplication) -> None:
    """MASKED and CLAIMED, which X is read for.

    Random bits are signs of 2^i M, whose sum is odd, and one more bit makes that odd or even: where
    M was subtracted from 0, it is added again. So t is that of V bits that is 2^(V - 1) greater.
    """
    mask, multiple, other, m = PrimeMasking.MASK, Banked.MULTIPLE, _ACC, Operand.M
    bits, either = mask_bits(multiplication.digit_width), StepKind.ADD_OR_SUBTRACT
    # A loop spends the digit that its bits are of: the second time counts.
    with code.loop("mask_bit", 2):
        clear(code, mask)
        code.linear(either, mask, mask, m, "+-M")
    code.restore(mask, mask, m, "0 or M")
    code.move(multiple, m)
    with code.loop("mask", bits - 1):
        code.linear(either, mask, mask, multiple, "+-2^i M")
        code.add(multiple, multiple, multiple, "2^(i + 1) M")
    code.add(multiple, multiple, multiple, "2^(i + 1) M")
    code.subtract(multiple, multiple, m, "(2^V - 1) M")
    code.subtract(other, multiple, mask, "2 (2^V - 1) M - t M")
    code.add(mask, mask, multiple, "t M")
    code.check_below(Operand.X)
    code.add(Core.CLAIMED, other, Operand.X, "X + 2 (2^V - 1) M - t M")
    code.add(Masking.MASKED, mask, Operand.X, "X + t M")
    if multiplication.modulus_mask_bits:
        # Port and carry had X, and what they have next is the same in each operation.
        code.add(other, mask, mask, "2 t M, over X")


def _blind(code: Builder, multiplication: Multiplication, *, gives: bool = False) -> None:
    """UNBLINDING and BLINDED_BASE, modulo M; the other lane takes what it needs, if it `gives`.

    RANDOM is r in Montgomery form, which is as good as it is drawn. What X enters as leaves that
    form.
    """
    square, done, random = "blind_square", "blind_done", Masking.RANDOM
    code.draw(_ACC, random, "r is drawn")
    prepare_banked(code, multiplication)
    code.multiply(_ACC, _ACC, Mode.ONE, "... below 2 c M")
    if gives:
        code.barrier()
    code.move(random, _ACC)
    scan_public(code, done)
    code.rest("C = r")
    code.next_bit(square)
    code.rest()
    code.jump(done)
    with code.each_bit(square):
        code.multiply(_ACC, _ACC, _ACC, "C = C * C", even_exponent=True)
        code.if_bit(done)
        code.multiply(_ACC, _ACC, random, "C = C * r")
    code.label(done)
    code.multiply(_ACC, _ACC, Masking.MASKED, "r^(E - 1) * X")
    code.move(Masking.UNBLINDING, _ACC)
    code.multiply(_ACC, _ACC, random, "r^E * X")
    if gives:
        code.barrier()
    code.move(Masking.BLINDED_BASE, _ACC)


def _half(code: Builder, multiplication: Multiplication, result: Scratch | Mode) -> None:
    """A prime's half: R^2 times the power of BLINDED_BASE, with the R of M.

    That is the R of the product with UNBLINDING, and of what takes S out of Montgomery form. The
    power is below 2p, or as random as the modulus is.
    """
    overlaps, masks = multiplication.overlaps, multiplication.modulus_mask_bits > 0
    one = Entry.T_0 if overlaps else Entry.T_15
    modulo_prime(code, multiplication)
    if not overlaps:
        # As in a half without masks: where the quotient is in memory, 1 enters before T_1.
        enter_form(code, multiplication, one, Mode.ONE)
    enter_form(code, multiplication, _ACC, Masking.BLINDED_BASE)
    code.move(Mode.WINDOW, _ACC)
    fill_table(code, Entry.T_1 if overlaps else None)
    if overlaps:
        enter_form(code, multiplication, one, Mode.ONE)
    else:
        code.move(_ACC, one)
    code.call(POWER)
    with code.loop("times_radix", 2):
        code.move(_TERM, _ACC)
        code.multiply(_ACC, power_of(multiplication), _TERM, "C * R")
    leave(code, multiplication, result)
    if masks:
        code.amend(descale=False)


def _recombine(code: Builder, multiplication: Multiplication) -> None:
    """RESULT = S, of the powers of both halves, the one of Q in FACTOR.

    S is nowhere else, and stays there: products would read digits of it beyond the ends of shorter
    numbers in its place.
    """
    result, scaled = Core.RESULT, multiplication.scaled
    (weigh_masked if multiplication.modulus_mask_bits else weigh)(code, multiplication)
    code.multiply(_ACC, _ACC, Masking.UNBLINDING, "S = C * r^(E - 1) * X")
    code.multiply(result, _ACC, Mode.ONE, "S, out of Montgomery form", descale=scaled)
    code.reduce(result, result)


def _claim(code: Builder, multiplication: Multiplication) -> None:
    """S, S with a mask, and X with a mask, which are to be checked."""
    s, below = Core.SUM, _most_masked(multiplication)
    code.move(s, Core.RESULT)
    code.do(StepKind.CHECK_REDUCED, "S < M?", x=s, y=Operand.M)
    code.move(Core.RESULT, s)
    code.add(Masking.MASKED_SUM, s, PrimeMasking.MASK, "S + t M", below=below)
    if multiplication.modulus_mask_bits:  # the port of the right bank had S
        code.p.move(_TERM, Masking.BLINDED_BASE)
    code.move(Banked.FACTOR, Core.CLAIMED, below=below)


def _check(code: Builder, multiplication: Multiplication) -> None:
    """(r' S) ^ E = r' ^ E X modulo a prime, with r' = r + 1, or everything is wiped."""
    whole, power = Context.WHOLE, power_of(multiplication, in_check=True)
    part, expected = Core.PART, Masking.EXPECTED
    difference = "(r' S)^E - r'^E X"
    modulo_prime_again(code, multiplication)
    # Of r R that is R_p r R, to which R_p R is added; then R_p is taken away.
    enter_form(code, multiplication, _ACC, Masking.RANDOM, in_check=True)
    code.add(_ACC, _ACC, power, "r' = r + 1")
    code.multiply(_ACC, _ACC, Mode.ONE, "r', below 2 c p")
    code.move(_TERM, _ACC)
    code.multiply(part, power, _TERM, "r' R")
    code.multiply(part, part, Masking.MASKED_SUM, "r' S", outer=whole)
    code.call(PUBLIC_POWER)
    code.move(_TERM, _ACC)
    negative_power_again(code, multiplication, expected)
    code.multiply(expected, expected, _TERM, "-r'^E R")
    code.multiply(expected, expected, Banked.FACTOR, "-r'^E X", outer=whole)
    code.move(_TERM, part)
    code.call(PUBLIC_POWER)
    code.add(_ACC, _ACC, expected, f"{difference}, below 4cp")
    if multiplication.modulus_mask_bits:
        # What is left is a multiple of the prime, and becomes 0 modulo the prime itself.
        prepare_banked(code, multiplication)
    code.times(Mode.ONE, f"{difference}, below 2p", _ACC, descale=multiplication.scaled)
    code.reduce(_ACC, _ACC)
    code.check_zero(_ACC, f"{difference} = 0?")


def public_power(machine: Machine) -> Routine:
    """ACCUMULATOR = TERM ^ E modulo the current modulus, in Montgomery form, with a public E."""
    done, multiplication = "public_done", machine.multiplication
    usual = multiplication.usual_bound
    power = {PrimeMasking.CHECK_POWER: None} if multiplication.modulus_mask_bits else {}
    code = RoutineBuilder(
        PUBLIC_POWER, _CURRENT, takes={_TERM: usual, **power}, gives={_ACC: usual}
    )
    enter_form(code, multiplication, _ACC, Mode.ONE, in_check=True)
    scan_public(code, done)
    with code.each_bit("public_square"):
        code.times(_ACC, "C = C * C", _ACC)
        code.if_bit(done)
        code.times(_TERM, "C = C * B", _ACC)
    code.label(done)
    code.whole.rest()
    return code.routine()
