"""The `fdfm` engine: FDFM's processor core on one DSP slice and one block RAM.

Source: Ito, Nakano, Song (2011), section 5.2, figures 7 and 8. What differs: an operand's last
digit is known from its length, held beside the command, not from a flag in the memory's 18th bit;
so a memory that holds anything at all cannot keep the engine from ending.
"""

from coprime.cells.target import Target
from coprime.multipliers.fdfm import FdfmMultiplier

from .contract import Capabilities
from .design import EngineDesign, check_ranges, required_operands
from .layout import Layout

__all__ = ["fdfm"]


def fdfm(max_bits: int = 2176, multipliers: int = 1) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 64 to 2176.

    With two multipliers (the paper has one) each has its DSP slice and its block RAM. At 2176 bits
    the operands fill one RAMB36E1; the primes may then have up to 1392 bits each. A smaller maximum
    takes the smallest memory, of a power of two words, that holds its operands.
    """
    check_ranges(
        max_bits=(max_bits, range(64, 2177)),
        multipliers=(multipliers, range(1, 3)),
    )
    width, headroom = FdfmMultiplier.DIGIT_WIDTH, 2  # 2^(17d) > 4M
    whole = -(-(max_bits + headroom) // width)
    half = (max_bits + 1) // 2
    least_prime = -(-(half + headroom) // width)
    depth = Layout.smallest_depth(whole, least_prime)
    prime = min(Layout.longest_prime(depth, whole), whole)
    capabilities = Capabilities(
        family="fdfm",
        family_number=1,
        digit_width=width,
        headroom=headroom,
        round_bits=width,
        min_length=(FdfmMultiplier.MIN_DIGITS - 1) * width - headroom + 1,
        max_length=max_bits,
        max_prime_length=min(prime * width - headroom, max_bits),
        required=required_operands(inverses=True),
        multipliers=multipliers,
    )
    layout = Layout.pack(depth, whole=whole, prime=prime)
    return EngineDesign(capabilities, layout, _multiplier)


def _multiplier(capabilities: Capabilities, target: Target) -> FdfmMultiplier:
    return FdfmMultiplier(capabilities.count_bits, target)
