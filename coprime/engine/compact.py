"""The `compact` engine: products of differences on one DSP slice and one block RAM.

The two halves of one RAMB36E1, 1024 words of 18 bits with two ports each, are two banks, so that
four digits come in each cycle. On ecp5 each bank is one DP16KD.
"""

from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.multipliers.compact import CompactMultiplier

from .contract import Capabilities
from .design import EngineDesign, check_ranges, required_operands
from .layout import BankedLayout

__all__ = ["compact"]

_WINDOW, _WHOLE_WINDOW = 4, 2
"""Bits of the exponent at once, modulo a prime and modulo the whole modulus."""


def compact(max_bits: int = 1024) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 64 to 4096.

    Exponents are scanned in windows of 4 bits modulo a prime, and of 2 bits modulo the whole
    modulus, for the sake of the table's size. Banks have 16 words for each digit of the modulus,
    rounded up to a power of two: 1024 words, one RAMB36E1 both, hold 1,050 bits, 2048 hold 2,138.
    """
    check_ranges(max_bits=(max_bits, range(64, 4097)))
    width = CompactMultiplier.DIGIT_WIDTH
    headroom = 2 + width  # 2^(17*D) > 4cM with c < 2^17
    min_length = (CompactMultiplier.MIN_DIGITS - 1) * width - headroom + 1
    whole = -(-(max_bits + headroom) // width)
    least_prime = -(-((max_bits + 1) // 2 + headroom) // width)
    layout = BankedLayout.of(whole, least_prime)
    prime = min(layout.longest_prime_digits, whole)
    capabilities = Capabilities(
        family="compact",
        family_number=8,
        digit_width=width,
        headroom=headroom,
        round_bits=width,
        min_length=min_length,
        max_length=max_bits,
        max_prime_length=min(prime * width - headroom, max_bits),
        required=required_operands(inverses=True),
        constant_time=True,
    )

    def make_multiplier(capabilities: Capabilities, target: Target) -> CompactMultiplier:
        return CompactMultiplier(whole, capabilities.count_bits, target)

    exponentiation = Exponentiation("fixed-window", _WINDOW, _WHOLE_WINDOW, banked=True)
    return EngineDesign(capabilities, layout, make_multiplier, exponentiation)
