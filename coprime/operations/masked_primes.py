"""Random multiples of the primes, which the products of a masked private operation use instead.

Source: a random multiple of the modulus instead of the modulus, Ciet, Joye (2003). What differs: a
scaled multiplication already works modulo a multiple of the modulus, c P, of which it only uses
M' = (c P + 1) / 2^W, W its `scale_bits`. M' + t P is the same for c + 2^W t. So a mask is an
addition, and needs neither another inverse nor another preparation.

A multiplication has room for a mask if it has `modulus_mask_bits`; otherwise primes have no masks.
"""

from coprime.exponentiators.table import enter
from coprime.multipliers.bounds import Bound
from coprime.multipliers.multiplication import Multiplication
from coprime.program.builder import Builder, RoutineBuilder
from coprime.program.operands import Context, Core, Mode, Operand, PerPrime, Reference, Scratch
from coprime.program.routine import Routine
from coprime.program.steps import StepKind, mask_bits

from .banked import Banked, clear, prepare_banked
from .banked_private import negative
from .operation import Machine


class PrimeMasking(Scratch):
    """What hides the primes, and numbers modulo them."""

    MASK = 19
    """t * M, with a random t of `mask_bits` and 2^(mask_bits - 1) more."""
    PRIME_MASK = 23
    """t * P, with a random t from 1 to 2^mask_bits, of the current prime."""
    NEGATIVE_POWER = 28
    """t * P - P_POWER, of the current prime."""
    CHECK_POWER = 29
    """P_POWER + t * P of the current prime, made anew for the check of a result."""


DRAW_MULTIPLE = "draw_multiple"
"""A routine."""

_ACC, _TERM = Core.ACCUMULATOR, Banked.TERM
_CURRENT = Context.CURRENT
_MASK = PrimeMasking.PRIME_MASK


def mask_primes(code: Builder, multiplication: Multiplication) -> None:
    """M' and R R_p of each prime, and -R R_p of P, get a random multiple of it added."""
    if not multiplication.modulus_mask_bits:
        return
    _masked(code, multiplication, PerPrime.SCALED_Q, PerPrime.MASKED_POWER_Q)
    code.next_modulus("mask_p")
    _masked(code, multiplication, PerPrime.SCALED_P, PerPrime.MASKED_POWER_P)
    code.call(DRAW_MULTIPLE)
    _opposite(code, PrimeMasking.NEGATIVE_POWER)
    code.next_modulus("masked")
    code.whole.rest()


def _masked(code: Builder, multiplication: Multiplication, scaled: Scratch, power: Scratch) -> None:
    """Of the current prime M' + t P, and R R_p + t P with another t."""
    prepare_banked(code, multiplication)
    code.call(DRAW_MULTIPLE)
    code.add(scaled, Core.SCALED, _MASK, "M' + t P", fits="operands have room for it")
    code.call(DRAW_MULTIPLE)
    code.add(power, _CURRENT.power, _MASK, "R R_p + t P")


def _opposite(code: Builder, destination: Scratch) -> None:
    code.subtract(destination, _MASK, _CURRENT.power, "t P - R R_p")


def modulo_prime(code: Builder, multiplication: Multiplication) -> None:
    """Modulo the current prime from here on; with masks, modulo its multiple."""
    if not multiplication.modulus_mask_bits:
        prepare_banked(code, multiplication)
        return
    prepare_banked(code.whole, multiplication)  # for the window alone
    clear(code, Core.SCALED)  # products read digits of it beyond the prime's
    code.move(Core.SCALED, PerPrime.SCALED_P)


def modulo_prime_again(code: Builder, multiplication: Multiplication) -> None:
    """The same, of the operands alone: a check sees what is wrong in what `mask_primes` has made.

    Were M' + t P or R R_p + t P 0 in both, so would be all numbers of the check.
    """
    if not multiplication.modulus_mask_bits:
        prepare_banked(code, multiplication)
        return
    clear(code, Core.SCALED)
    _masked(code, multiplication, Core.SCALED, PrimeMasking.CHECK_POWER)


def power_of(multiplication: Multiplication, *, in_check: bool = False) -> Reference:
    """What brings a number into Montgomery form modulo the current prime."""
    if not multiplication.modulus_mask_bits:
        return _CURRENT.power
    return PrimeMasking.CHECK_POWER if in_check else PerPrime.MASKED_POWER_P


def enter_form(
    code: Builder,
    multiplication: Multiplication,
    slot: Scratch,
    factor: Reference,
    *,
    in_check: bool = False,
) -> None:
    """A number as long as M, in Montgomery form."""
    enter(code, slot, factor)
    code.amend(x=power_of(multiplication, in_check=in_check))


def negative_power_again(
    code: Builder, multiplication: Multiplication, destination: Scratch
) -> None:
    """-R R_p modulo the current prime, in a check."""
    if multiplication.modulus_mask_bits:
        code.call(DRAW_MULTIPLE)
        _opposite(code, destination)
    else:
        negative(code, destination)


def draw_multiple(machine: Machine) -> list[Routine]:
    """DRAW_MULTIPLE: PRIME_MASK is t times the current prime, with a random t from 1 to 2^V."""
    multiplication, prime = machine.multiplication, _CURRENT.modulus
    if not multiplication.modulus_mask_bits:
        return []
    mask, multiple = _MASK, Banked.MULTIPLE
    bits, either = mask_bits(multiplication.digit_width), StepKind.ADD_OR_SUBTRACT
    code = RoutineBuilder(
        DRAW_MULTIPLE,
        _CURRENT,
        takes={},
        gives={mask: Bound.times(1 << bits)},
        clobbers=(multiple,),
    )
    # The sum of signs of 2^i p is odd: one more bit makes it odd or even.
    with code.loop(DRAW_MULTIPLE, 2):
        code.subtract(mask, prime, prime, "0")
        code.linear(either, mask, mask, prime, "+-P")
    code.restore(mask, mask, prime, "0 or P")
    code.move(multiple, prime)
    with code.loop("draw_bits", bits - 1):
        code.linear(either, mask, mask, multiple, "+-2^i P")
        code.add(multiple, multiple, multiple, "2^(i + 1) P")
    code.add(mask, mask, multiple, "t P")
    return [code.routine()]


def weigh_masked(code: Builder, multiplication: Multiplication) -> None:
    """As `weigh`, of halves that are random multiples of their primes more, with a masked Z_p."""
    p, whole, part, weight = code.p, code.whole, Core.PART, Banked.MULTIPLE
    note, outer = "-S_q, times R_p", Context.WHOLE
    p.multiply(part, PrimeMasking.NEGATIVE_POWER, Banked.FACTOR, note, outer=outer)
    p.multiply(part, part, Mode.ONE, "-S_q modulo P")
    p.add(_TERM, _ACC, part, "S_p - S_q")
    prepare_banked(whole, multiplication)
    whole.add(weight, Operand.CRT_P, PrimeMasking.MASK, "Z_p + t M")
    note = "Z_p * (S_p - S_q) mod M, below 2 c M"
    whole.multiply(_ACC, weight, _TERM, note, outer=Context.P)
    whole.add(_ACC, Banked.FACTOR, _ACC, "... + S_q")
