"""Random multiples of the primes, which the products of a masked private operation use instead.

Source: a random multiple of the modulus instead of the modulus, Ciet, Joye (2003). What differs: a
scaled multiplication already works modulo a multiple of the modulus, c P, of which it only uses
M' = (c P + 1) / 2^W, W its `scale_bits`. M' + t P is the same for c + 2^W t. So a mask is an
addition, and needs neither another inverse nor another preparation.

A multiplication has room for a mask if it has `modulus_mask_bits`; otherwise primes have no masks.
"""

from dataclasses import replace

from coprime.exponentiators.table import enter
from coprime.multipliers.bounds import Bound
from coprime.multipliers.multiplication import Multiplication
from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.routine import Routine
from coprime.program.steps import PASS, Next, Step, StepKind, linear, mask_bits, multiply

from .banked import clear, move, prepare_banked
from .banked_private import for_each_prime, negative
from .operation import Machine
from .shared_steps import call

DRAW_MULTIPLE = "draw_multiple"
"""A routine."""

_ACC, _TERM = Scratch.ACCUMULATOR, Scratch.TERM
_WHOLE, _P, _CURRENT = Context.WHOLE, Context.P, Context.CURRENT
_MASK = Scratch.PRIME_MASK

_OF_P, _MASKED = "mask_p", "masked"
"""Labels."""


def mask_primes(multiplication: Multiplication) -> list[Step]:
    """M' and R R_p of each prime, and -R R_p of P, get a random multiple of it added."""
    if not multiplication.modulus_mask_bits:
        return []
    of_q = _masked(multiplication, Scratch.SCALED_Q, Scratch.MASKED_POWER_Q)
    *of_p, last = _masked(multiplication, Scratch.SCALED_P, Scratch.MASKED_POWER_P)
    of_p += [call(last, DRAW_MULTIPLE), _opposite(Scratch.NEGATIVE_POWER)]
    return [
        *of_q[:-1],
        for_each_prime(of_q[-1], _OF_P),
        replace(of_p[0], label=_OF_P),
        *of_p[1:-1],
        for_each_prime(of_p[-1], _MASKED),
        replace(PASS, label=_MASKED),
    ]


def _masked(multiplication: Multiplication, scaled: Scratch, power: Scratch) -> list[Step]:
    """Of the current prime M' + t P, and R R_p + t P with another t."""
    (prepared,) = prepare_banked(multiplication, _CURRENT)
    added = linear(StepKind.ADD, scaled, Scratch.SCALED, _MASK, _CURRENT, "M' + t P")
    return [
        call(prepared, DRAW_MULTIPLE),
        call(replace(added, fits="operands have room for it"), DRAW_MULTIPLE),
        linear(StepKind.ADD, power, _CURRENT.power, _MASK, _CURRENT, "R R_p + t P"),
    ]


def _opposite(destination: Scratch) -> Step:
    return linear(StepKind.SUBTRACT, destination, _MASK, _CURRENT.power, _CURRENT, "t P - R R_p")


def modulo_prime(multiplication: Multiplication) -> list[Step]:
    """Modulo the current prime from here on; with masks, modulo its multiple."""
    if not multiplication.modulus_mask_bits:
        return prepare_banked(multiplication, _CURRENT)
    return [
        *prepare_banked(multiplication, _WHOLE),  # for the window alone
        clear(Scratch.SCALED),  # products read digits of it beyond the prime's
        move(Scratch.SCALED, Scratch.SCALED_P, _CURRENT),
    ]


def modulo_prime_again(multiplication: Multiplication) -> list[Step]:
    """The same, of the operands alone: a check sees what is wrong in what `mask_primes` has made.

    Were M' + t P or R R_p + t P 0 in both, so would be all numbers of the check.
    """
    if not multiplication.modulus_mask_bits:
        return prepare_banked(multiplication, _CURRENT)
    return [
        clear(Scratch.SCALED),
        *_masked(multiplication, Scratch.SCALED, Scratch.CHECK_POWER),
    ]


def power_of(multiplication: Multiplication, *, in_check: bool = False) -> Reference:
    """What brings a number into Montgomery form modulo the current prime."""
    if not multiplication.modulus_mask_bits:
        return _CURRENT.power
    return Scratch.CHECK_POWER if in_check else Scratch.MASKED_POWER_P


def enter_form(
    multiplication: Multiplication, slot: Scratch, factor: Reference, *, in_check: bool = False
) -> Step:
    """A number as long as M, in Montgomery form."""
    return replace(enter(_CURRENT, slot, factor), x=power_of(multiplication, in_check=in_check))


def negative_power_again(
    multiplication: Multiplication, destination: Scratch, before: Step
) -> list[Step]:
    """-R R_p modulo the current prime, in a check, after the step before it."""
    if not multiplication.modulus_mask_bits:
        return [before, negative(destination, _CURRENT)]
    return [call(before, DRAW_MULTIPLE), _opposite(destination)]


def draw_multiple(machine: Machine) -> list[Routine]:
    """DRAW_MULTIPLE: PRIME_MASK is t times the current prime, with a random t from 1 to 2^V."""
    multiplication, prime = machine.multiplication, _CURRENT.modulus
    if not multiplication.modulus_mask_bits:
        return []
    mask, multiple = _MASK, Scratch.MULTIPLE
    bits, once_more, again = mask_bits(multiplication.digit_width), DRAW_MULTIPLE, "draw_bits"
    add, subtract, either = StepKind.ADD, StepKind.SUBTRACT, StepKind.ADD_OR_SUBTRACT
    # The sum of signs of 2^i p is odd: one more bit makes it odd or even.
    bit = replace(linear(either, mask, mask, prime, _CURRENT, "+-P"), next=Next.LOOP, times=2)
    doubles = linear(add, multiple, multiple, multiple, _CURRENT, "2^(i + 1) P")
    routine = Routine(
        name=DRAW_MULTIPLE,
        steps=(
            replace(linear(subtract, mask, prime, prime, _CURRENT, "0"), label=DRAW_MULTIPLE),
            replace(bit, target=once_more),
            linear(StepKind.RESTORE, mask, mask, prime, _CURRENT, "0 or P"),
            move(multiple, prime, _CURRENT),
            replace(linear(either, mask, mask, multiple, _CURRENT, "+-2^i P"), label=again),
            replace(doubles, next=Next.LOOP, times=bits - 1, target=again),
            replace(linear(add, mask, mask, multiple, _CURRENT, "t P"), next=Next.RETURN),
        ),
        context=_CURRENT,
        takes={},
        gives={mask: Bound.times(1 << bits)},
        clobbers=frozenset({multiple}),
    )
    return [routine]


def weigh_masked(multiplication: Multiplication) -> list[Step]:
    """As `weigh`, of halves that are random multiples of their primes more, with a masked Z_p."""
    part, whole, weight = Scratch.PART, _WHOLE, Scratch.MULTIPLE
    weighed = multiply(_ACC, weight, _TERM, whole, "Z_p * (S_p - S_q) mod M, below 2 c M", outer=_P)
    return [
        multiply(part, Scratch.NEGATIVE_POWER, Scratch.FACTOR, _P, "-S_q, times R_p", outer=whole),
        multiply(part, part, Mode.ONE, _P, "-S_q modulo P"),
        linear(StepKind.ADD, _TERM, _ACC, part, _P, "S_p - S_q"),
        *prepare_banked(multiplication, whole),
        linear(StepKind.ADD, weight, Operand.CRT_P, Scratch.MASK, whole, "Z_p + t M"),
        weighed,
        linear(StepKind.ADD, _ACC, Scratch.FACTOR, _ACC, whole, "... + S_q"),
    ]
