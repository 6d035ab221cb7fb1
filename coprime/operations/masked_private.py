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

from dataclasses import replace

from coprime.multipliers.bounds import Bound
from coprime.multipliers.multiplication import Multiplication
from coprime.program.operands import BLINDED_OF, Context, Mode, Operand, Scratch
from coprime.program.routine import Named, Routine
from coprime.program.steps import (
    BARRIER,
    PASS,
    SIGNS,
    Next,
    Step,
    StepKind,
    linear,
    mask_bits,
    multiply,
    times,
)

from .banked import POWER, clear, fill_table, leave, move, prepare_banked
from .banked_private import (
    for_each_prime,
    meet,
    scan_public,
    weigh,
)
from .masked_primes import (
    enter_form,
    mask_primes,
    modulo_prime,
    modulo_prime_again,
    negative_power_again,
    power_of,
    weigh_masked,
)
from .operation import Machine
from .shared_steps import (
    call,
    check_below_modulus,
    check_modulus,
    descale,
    jump,
    reduced,
)

PUBLIC_POWER = "public_power"
"""A routine."""

_ACC, _TERM = Scratch.ACCUMULATOR, Scratch.TERM
_WHOLE, _P, _CURRENT = Context.WHOLE, Context.P, Context.CURRENT

_PRIMES, _HALF, _CHECK = "primes", "half", "check"
"""Labels."""


def masked_private(machine: Machine) -> list[list[Step]]:
    """X ^ D mod M, M = P * Q, on one lane or on two: a list for each."""
    if machine.lanes == 2:
        return [_leading_lane(machine.multiplication), _second_lane(machine.multiplication)]
    return [_alone(machine.multiplication)]


def _alone(multiplication: Multiplication) -> list[Step]:
    """On one lane: Q's half, then P's."""
    first, *half = _half(multiplication, Mode.HALF)
    prepared, *check, compared = _check(multiplication)
    return [
        check_modulus(_WHOLE),
        for_each_prime(replace(check_modulus(_CURRENT), label=_PRIMES), _PRIMES),
        *(step for context in BLINDED_OF for step in _refresh(multiplication, context)),
        *mask_primes(multiplication),
        *_mask(multiplication),
        *_blind(multiplication),
        replace(first, label=_HALF),
        *half,
        for_each_prime(clear(Scratch.FACTOR), _HALF),
        move(Scratch.FACTOR, Scratch.PART, Context.Q),
        *_recombine(multiplication),
        *_claim(multiplication),
        replace(prepared, label=_CHECK),
        *check,
        for_each_prime(compared, _CHECK),
        jump(PASS, ""),
    ]


def _leading_lane(multiplication: Multiplication) -> list[Step]:
    """The first of two lanes, which has P, draws all random numbers, and makes what is of M."""
    *refreshed, of_q = (step for one in BLINDED_OF for step in _refresh(multiplication, one))
    *recombined, result = _recombine(multiplication)
    *check, compared = _check(multiplication)
    taken = (Scratch.RANDOM, Scratch.BLINDED_BASE)
    blinded: list[Step] = []
    for step in _blind(multiplication):
        is_taken = step.kind is StepKind.MOVE and step.destination in taken
        blinded += [BARRIER, step] if is_taken else [step]
    return [
        *map(check_modulus, (_WHOLE, Context.Q, _P)),
        *refreshed,
        meet(of_q),
        move(Scratch.BLINDED_Q, Scratch.BLINDED_Q, _WHOLE),
        *_mask(multiplication),
        *blinded,
        *_half(multiplication, _ACC),
        meet(clear(Scratch.FACTOR)),
        replace(move(Scratch.FACTOR, Mode.OTHER, Context.Q), below=2),
        *recombined,
        meet(result),
        *_claim(multiplication),
        *check,
        meet(compared),
        jump(PASS, ""),
    ]


def _second_lane(multiplication: Multiplication) -> list[Step]:
    """The second of two lanes, which has Q: what it takes has a mask, but for S as it is given."""
    other, below = Mode.OTHER, _most_masked(multiplication)
    s = Scratch.SUM
    return [
        BARRIER,
        move(Scratch.BLINDED_Q, other, _WHOLE),
        BARRIER,
        move(Scratch.RANDOM, other, _WHOLE),
        BARRIER,
        move(Scratch.BLINDED_BASE, other, _WHOLE),
        *_half(multiplication, _ACC),
        BARRIER,
        replace(move(_ACC, _ACC, Context.Q), note="C of Q, for the other lane", below=2),
        BARRIER,
        move(s, other, _WHOLE),
        Step(kind=StepKind.CHECK_REDUCED, x=s, y=Operand.M, note="S < M?"),
        move(s, other, _WHOLE),
        replace(move(Scratch.MASKED_SUM, other, _WHOLE), below=below),
        replace(move(Scratch.FACTOR, other, _WHOLE), below=below),
        *_check(multiplication),
        jump(BARRIER, ""),
    ]


def _most_masked(multiplication: Multiplication) -> int:
    """How many times M a number with a mask is at most."""
    return 2 << mask_bits(multiplication.digit_width)


def _refresh(multiplication: Multiplication, context: Context) -> list[Step]:
    """The blinded exponent gets another random multiple of p - 1, modulo 2^bits (p - 1).

    Once, after the host has written the exponent, it is that; from then on only what is blinded is
    read. Random bits are signs of 2^i (p - 1), so that each makes a sum that is written. The last
    double is added, too: the multiple is odd, and above 0.
    """
    blinded, multiple, own = BLINDED_OF[context], Scratch.MULTIPLE, context.modulus
    bits, again, written = SIGNS, f"refresh_{context.name}", StepKind.MOVE_WRITTEN
    fits = "primes are shorter than the modulus by as many digits as k has"
    doubles = linear(
        StepKind.ADD, multiple, multiple, multiple, _WHOLE, f"2^(i + 1) ({own.name} - 1)"
    )
    name = blinded.name
    steps = [
        clear(_ACC),
        linear(written, _ACC, context.exponent, Operand.M, context, "if the host has written it"),
        linear(written, blinded, _ACC, Operand.M, _WHOLE, "the same"),
        clear(multiple),
        linear(StepKind.MAKE_EVEN, multiple, own, Operand.M, context, f"{own.name} - 1"),
        replace(
            linear(StepKind.ADD_OR_SUBTRACT, blinded, blinded, multiple, _WHOLE, f"{name} +- 2^i"),
            label=again,
        ),
        replace(doubles, next=Next.LOOP, times=bits, target=again),
        linear(StepKind.ADD, blinded, blinded, multiple, _WHOLE, f"{name} + 2^{bits}"),
        doubles,
        linear(StepKind.SUBTRACT, blinded, blinded, multiple, _WHOLE, f"{name} - 2^{bits + 1}"),
        linear(StepKind.RESTORE, blinded, blinded, multiple, _WHOLE, "... where it is not below 0"),
    ]
    adds = (StepKind.ADD, StepKind.ADD_OR_SUBTRACT)
    return [replace(step, fits=fits) if step.kind in adds else step for step in steps]


def _mask(multiplication: Multiplication) -> list[Step]:
    """MASKED and CLAIMED, which X is read for.

    Random bits are signs of 2^i M, whose sum is odd, and one more bit makes that odd or even: where
    M was subtracted from 0, it is added again. So t is that of V bits that is 2^(V - 1) greater.
    """
    mask, multiple, other = Scratch.MASK, Scratch.MULTIPLE, Scratch.ACCUMULATOR
    masks = multiplication.modulus_mask_bits > 0
    bits, again, once_more = mask_bits(multiplication.digit_width), "mask", "mask_bit"
    subtract, add, either = StepKind.SUBTRACT, StepKind.ADD, StepKind.ADD_OR_SUBTRACT
    doubles = linear(add, multiple, multiple, multiple, _WHOLE, "2^(i + 1) M")
    # A loop spends the digit that its bits are of: the second time counts.
    bit = replace(linear(either, mask, mask, Operand.M, _WHOLE, "+-M"), next=Next.LOOP, times=2)
    return [
        replace(clear(mask), label=once_more),
        replace(bit, target=once_more),
        linear(StepKind.RESTORE, mask, mask, Operand.M, _WHOLE, "0 or M"),
        move(multiple, Operand.M, _WHOLE),
        replace(linear(either, mask, mask, multiple, _WHOLE, "+-2^i M"), label=again),
        replace(doubles, next=Next.LOOP, times=bits - 1, target=again),
        doubles,
        linear(subtract, multiple, multiple, Operand.M, _WHOLE, "(2^V - 1) M"),
        linear(subtract, other, multiple, mask, _WHOLE, "2 (2^V - 1) M - t M"),
        linear(add, mask, mask, multiple, _WHOLE, "t M"),
        check_below_modulus(Operand.X),
        linear(add, Scratch.CLAIMED, other, Operand.X, _WHOLE, "X + 2 (2^V - 1) M - t M"),
        linear(add, Scratch.MASKED, mask, Operand.X, _WHOLE, "X + t M"),
        # Port and carry had X, and what they have next is the same in each operation.
        *([linear(add, other, mask, mask, _WHOLE, "2 t M, over X")] if masks else []),
    ]


def _blind(multiplication: Multiplication) -> list[Step]:
    """UNBLINDING and BLINDED_BASE, modulo M.

    RANDOM is r in Montgomery form, which is as good as it is drawn. What X enters as leaves that
    form.
    """
    square, done, random = "blind_square", "blind_done", Scratch.RANDOM
    drawn = linear(StepKind.DRAW, _ACC, random, Operand.M, _WHOLE, "r is drawn")
    squares = multiply(
        _ACC, _ACC, _ACC, _WHOLE, "C = C * C", next=Next.IF_BIT, target=done, label=square
    )
    entering = multiply(_ACC, _ACC, Scratch.MASKED, _WHOLE, "r^(E - 1) * X")
    return [
        drawn,
        *prepare_banked(multiplication, _WHOLE),
        multiply(_ACC, _ACC, Mode.ONE, _WHOLE, "... below 2 c M"),
        move(random, _ACC, _WHOLE),
        replace(scan_public(done), modulus=_WHOLE),
        replace(PASS, modulus=_WHOLE, note="C = r", next=Next.NEXT_BIT, target=square),
        jump(PASS, done),
        replace(squares, even_exponent=True),
        multiply(_ACC, _ACC, random, _WHOLE, "C = C * r", next=Next.NEXT_BIT, target=square),
        replace(entering, label=done),
        move(Scratch.UNBLINDING, _ACC, _WHOLE),
        multiply(_ACC, _ACC, random, _WHOLE, "r^E * X"),
        move(Scratch.BLINDED_BASE, _ACC, _WHOLE),
    ]


def _half(multiplication: Multiplication, result: Scratch | Mode) -> list[Step]:
    """A prime's half: R^2 times the power of BLINDED_BASE, with the R of M.

    That is the R of the product with UNBLINDING, and of what takes S out of Montgomery form. The
    power is below 2p, or as random as the modulus is.
    """
    overlaps, again = multiplication.overlaps, "times_radix"
    masks = multiplication.modulus_mask_bits > 0
    one = Scratch.T_0 if overlaps else Scratch.T_15
    ones = enter_form(multiplication, one, Mode.ONE)
    into_form = multiply(_ACC, power_of(multiplication), _TERM, _CURRENT, "C * R")
    left = leave(multiplication, result)
    return [
        *modulo_prime(multiplication),
        # As in a half without masks: where the quotient is in memory, 1 enters before T_1.
        *([] if overlaps else [ones]),
        enter_form(multiplication, _ACC, Scratch.BLINDED_BASE),
        move(Mode.WINDOW, _ACC, _CURRENT),
        fill_table(_CURRENT, Scratch.T_1 if overlaps else None),
        call(ones if overlaps else move(_ACC, one, _CURRENT), POWER),
        replace(move(_TERM, _ACC, _CURRENT), label=again),
        replace(into_form, next=Next.LOOP, times=2, target=again),
        replace(left, descale=False) if masks else left,
    ]


def _recombine(multiplication: Multiplication) -> list[Step]:
    """RESULT = S, of the powers of both halves, the one of Q in FACTOR.

    S is nowhere else, and stays there: products would read digits of it beyond the ends of shorter
    numbers in its place.
    """
    result = Scratch.RESULT
    *weighed, total = weigh(multiplication)
    if multiplication.modulus_mask_bits:
        *weighed, total = weigh_masked(multiplication)
    product = multiply(_ACC, _ACC, Scratch.UNBLINDING, _WHOLE, "S = C * r^(E - 1) * X")
    plain = multiply(result, _ACC, Mode.ONE, _WHOLE, "S, out of Montgomery form")
    return [
        *weighed,
        total,
        product,
        descale(multiplication, plain),
        *reduced(result, result, _WHOLE),
    ]


def _claim(multiplication: Multiplication) -> list[Step]:
    """S, S with a mask, and X with a mask, which are to be checked."""
    below = _most_masked(multiplication)
    masked = linear(StepKind.ADD, Scratch.MASKED_SUM, Scratch.SUM, Scratch.MASK, _WHOLE, "S + t M")
    return [
        move(Scratch.SUM, Scratch.RESULT, _WHOLE),
        Step(kind=StepKind.CHECK_REDUCED, x=Scratch.SUM, y=Operand.M, note="S < M?"),
        move(Scratch.RESULT, Scratch.SUM, _WHOLE),
        replace(masked, below=below),
        # The port of the right bank had S.
        *([move(_TERM, Scratch.BLINDED_BASE, _P)] if multiplication.modulus_mask_bits else []),
        replace(move(Scratch.FACTOR, Scratch.CLAIMED, _WHOLE), below=below),
    ]


def _check(multiplication: Multiplication) -> list[Step]:
    """(r' S) ^ E = r' ^ E X modulo a prime, with r' = r + 1, or everything is wiped."""
    masks = multiplication.modulus_mask_bits > 0
    power, part = power_of(multiplication, in_check=True), Scratch.PART
    expected, kept = Scratch.EXPECTED, move(_TERM, _ACC, _CURRENT)
    masked = multiply(part, part, Scratch.MASKED_SUM, _CURRENT, "r' S", outer=_WHOLE)
    total = linear(StepKind.ADD, _ACC, _ACC, expected, _CURRENT, "(r' S)^E - r'^E X, below 4cp")
    zero = times(Mode.ONE, _CURRENT, "(r' S)^E - r'^E X, below 2p", into=_ACC)
    return [
        *modulo_prime_again(multiplication),
        # Of r R that is R_p r R, to which R_p R is added; then R_p is taken away.
        enter_form(multiplication, _ACC, Scratch.RANDOM, in_check=True),
        linear(StepKind.ADD, _ACC, _ACC, power, _CURRENT, "r' = r + 1"),
        multiply(_ACC, _ACC, Mode.ONE, _CURRENT, "r', below 2 c p"),
        move(_TERM, _ACC, _CURRENT),
        multiply(part, power, _TERM, _CURRENT, "r' R"),
        call(masked, PUBLIC_POWER),
        *negative_power_again(multiplication, expected, kept),
        multiply(expected, expected, _TERM, _CURRENT, "-r'^E R"),
        multiply(expected, expected, Scratch.FACTOR, _CURRENT, "-r'^E X", outer=_WHOLE),
        call(move(_TERM, part, _CURRENT), PUBLIC_POWER),
        total,
        # What is left is a multiple of the prime, and becomes 0 modulo the prime itself.
        *(prepare_banked(multiplication, _CURRENT) if masks else []),
        descale(multiplication, zero),
        *reduced(_ACC, _ACC, _CURRENT),
        linear(StepKind.CHECK_ZERO, _ACC, _ACC, _ACC, _CURRENT, "(r' S)^E - r'^E X = 0?"),
    ]


def public_power(machine: Machine) -> Routine:
    """ACCUMULATOR = TERM ^ E modulo the current modulus, in Montgomery form, with a public E."""
    square, done = "public_square", "public_done"
    multiplication = machine.multiplication
    usual = multiplication.usual_bound
    takes: dict[Named, Bound | None] = {_TERM: usual}
    if multiplication.modulus_mask_bits:
        takes[Scratch.CHECK_POWER] = None
    return Routine(
        name=PUBLIC_POWER,
        steps=(
            replace(enter_form(multiplication, _ACC, Mode.ONE, in_check=True), label=PUBLIC_POWER),
            scan_public(done),
            times(
                _ACC, _CURRENT, "C = C * C", into=_ACC, next=Next.IF_BIT, target=done, label=square
            ),
            times(_TERM, _CURRENT, "C = C * B", into=_ACC, next=Next.NEXT_BIT, target=square),
            replace(PASS, next=Next.RETURN, label=done),
        ),
        context=_CURRENT,
        takes=takes,
        gives={_ACC: usual},
    )
