"""The `compact` engine: products of differences on one DSP slice and one block RAM.

The two halves of one RAMB36E1, 1024 words of 18 bits with two ports each, are two banks, so that
four digits come in each cycle. On ecp5 each bank is one DP16KD.
"""

from typing import TYPE_CHECKING

from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.model.compact import RADIX_BITS
from coprime.model.montgomery import digits
from coprime.multipliers.compact.multiplication import CompactMultiplication
from coprime.parameters import check_ranges
from coprime.program.steps import mask_bits

from .curve_settings import CurveSettings
from .design import EngineDesign, lane_capabilities
from .family import BLINDING
from .layout import Banks

if TYPE_CHECKING:
    from coprime.multipliers.compact.multiplier import CompactMultiplier

WINDOW, BLINDED_WINDOW, WHOLE_WINDOW = 4, 3, 2
"""Bits of the exponent at once, modulo a prime, without blinding and with it, and modulo the whole
modulus."""
MASKED_BLOCK_BITS = 5
"""A bank has 2^5 blocks where masks of numbers have places, too."""
_LEAST_BLINDED = 128
"""Bits of a modulus with whose primes a blinded exponent is not longer than itself."""


def compact(
    max_bits: int = 1024,
    blinding: str = "none",
    curves: str = "none",
    ecdsa: str = "host",
) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 64 to 8192.

    Exponents are scanned in windows of 4 bits modulo a prime, and of 2 bits modulo the whole
    modulus, for the sake of the table's size. A bank of 1024 words, both of which are one RAMB36E1,
    holds moduli of up to 2104 bits; two RAMB36E1 hold 4280 bits, and four 8192.

    `blinding` is none or all: then RSA_PRIVATE takes random bytes and computes with random numbers
    only, but for the loading of X and the result; moduli have masks, and operands 18 more bits for
    them, unless there are curves too. Windows modulo a prime have 3 bits, and a bank 32 blocks.
    Blinded exponents need max_bits of 128, and primes that have four digits less than the modulus.

    `curves` is none, montgomery, with X_MULTIPLY, weierstrass, with ECDSA and its like, or edwards,
    with EdDSA; the last two on curves over fields of up to 528 bits that are no longer than the
    longest prime. Several are joined by +. Banks then have 32 blocks, or 64 for several, and
    numbers 4 or 6 bits more than c * M, so that sums need not be reduced. With weierstrass and
    edwards the longest modulus is one of which a half holds a field's number.

    `ecdsa` is host, for ECDSA_SIGN_WITH, whose nonce the host gives; drawn, for ECDSA_SIGN, which
    draws the nonce, and points have random coordinates; or hardened: then, too, the private key of
    ECDSA_SIGN is kept as two random numbers whose sum it is, others after each signature, and
    secret scalars are blinded with half as many random bits as the order has. Banks then have 64
    blocks.

    Raises ValueError where a parameter is out of its range.
    """
    blinded = BLINDING.parse(blinding) == "all"
    settings = CurveSettings(curves, ecdsa, blinds=blinded)
    check_ranges(max_bits=(max_bits, range(_LEAST_BLINDED if blinded else 64, 8193)))
    # Curves take less than two digits of headroom.
    modulus_mask = mask_bits(RADIX_BITS) + 1 if blinded and not settings.any else 0
    multiplication = CompactMultiplication(slack=settings.slack, modulus_mask=modulus_mask)
    width, headroom = multiplication.digit_width, multiplication.headroom
    min_length = max(1, (multiplication.min_digits - 1) * width - headroom + 1)
    whole = digits(max_bits, width, headroom)
    block_bits = max(settings.block_bits, MASKED_BLOCK_BITS if blinded else 0)
    banks = Banks(
        whole,
        digits((max_bits + 1) // 2, width, headroom),
        entry_bits=block_bits,
        block_bits=block_bits,
    )
    banks, longest, half_bits = settings.lengthened(banks, multiplication, max_bits)
    whole = banks.whole
    capabilities = lane_capabilities(
        multiplication,
        longest,
        banks.longest_prime_digits,
        family="compact",
        family_number=8,
        min_length=min_length,
        constant_time=True,
        checked=True,
        draws=blinded or settings.draws,
        half_bits=half_bits,
        blinds_scalars=settings.hardened,
    )
    window = BLINDED_WINDOW if blinded else WINDOW
    exponentiation = Exponentiation("fixed-window", window, WHOLE_WINDOW, blinded)

    def make(target: Target) -> "CompactMultiplier":
        from coprime.multipliers.compact.multiplier import CompactMultiplier

        return CompactMultiplier(whole, capabilities.count_bits, target)

    design = EngineDesign(capabilities, banks, multiplication, make, exponentiation)
    return settings.added_to(design)
