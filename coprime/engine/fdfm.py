"""The `fdfm` engine: FDFM's processor core on one DSP slice and one block RAM.

Source: Ito, Nakano, Song (2011), section 5.2, figures 7 and 8. What differs: an operand's last
digit is known from its length, held beside the command, not from a flag in the memory's 18th bit;
so a memory that holds anything at all cannot keep the engine from ending.
"""

from functools import partial

from coprime.exponentiators.exponentiation import WINDOWS, Exponentiation
from coprime.model.montgomery import digits
from coprime.multipliers.fdfm import FdfmMultiplication, FdfmMultiplier

from .design import EngineDesign, capabilities_of, check_ranges
from .layout import Layout

__all__ = ["fdfm"]


MEMORY_WORDS = 2048
"""Digits that one RAMB36E1 holds, the paper's block RAM."""
_MULTIPLICATION = FdfmMultiplication()


def fdfm(
    max_bits: int = 2176,
    multipliers: int = 1,
    exponentiator: str = "left-to-right",
    window: int = 4,
) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 64 to 2176.

    With two multipliers (the paper has one) each has its DSP slice and its block RAM. At 2176 bits
    the operands fill one RAMB36E1; the primes may then have up to 1392 bits each. A smaller maximum
    takes the smallest memory, of a power of two words, that holds its operands and the table that
    the exponentiator may have. ValueError, which says what does fit, if they do not fit into one.
    """
    check_ranges(max_bits=(max_bits, range(64, 2177)), multipliers=(multipliers, range(1, 3)))
    width, headroom = _MULTIPLICATION.digit_width, _MULTIPLICATION.headroom
    exponentiation = Exponentiation(exponentiator, window)
    layout, prime = _memory(max_bits, multipliers, exponentiation)
    if layout.depth > MEMORY_WORDS:
        raise ValueError(_what_fits(max_bits, multipliers, exponentiation))
    capabilities = capabilities_of(
        _MULTIPLICATION,
        max_bits,
        prime,
        family="fdfm",
        family_number=1,
        min_length=(_MULTIPLICATION.min_digits - 1) * width - headroom + 1,
        multipliers=multipliers,
        constant_time=exponentiation.constant_time,
    )
    make = partial(FdfmMultiplier, capabilities.count_bits)
    return EngineDesign(capabilities, layout, _MULTIPLICATION, make, exponentiation)


def _memory(max_bits: int, multipliers: int, exponentiation: Exponentiation) -> tuple[Layout, int]:
    """The memory, of whatever size; and the digits of the longest prime."""
    whole, half = (
        digits(bits, _MULTIPLICATION.digit_width, _MULTIPLICATION.headroom)
        for bits in (max_bits, (max_bits + 1) // 2)
    )
    return Layout.smallest(whole, half, multipliers, exponentiation.table)


def _what_fits(max_bits: int, multipliers: int, exponentiation: Exponentiation) -> str:
    """Why a design does not fit into one block RAM, and which ones near it do."""

    def fits(bits: int, window: int) -> bool:
        chosen = Exponentiation(exponentiation.name, window)
        return _memory(bits, multipliers, chosen)[0].depth <= MEMORY_WORDS

    longest = max(bits for bits in range(64, max_bits) if fits(bits, exponentiation.window))
    windows = [str(window) for window in WINDOWS if fits(max_bits, window)]
    others = f"; of max_bits={max_bits}, a window of {' or '.join(windows)}" if windows else ""
    return (
        f"the table of exponentiator={exponentiation.name} with window={exponentiation.window} and"
        f" max_bits={max_bits} does not fit into one block RAM beside the operands;"
        f" that of max_bits={longest} does{others}"
    )
