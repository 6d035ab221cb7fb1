"""The engines around the multipliers that scan one bit a round.

Sources: Amanor, Paar, Pelzl, Bunimov, Schimmler (2005) for BITSERIAL's three carry-save
multipliers; COMPRESSION, Algorithms 2 and 6, for `montgomery_r2`, the one that it calls MM. The
operands lie in a block RAM instead of registers; the multiplier loads and unloads word by word.
"""

from functools import partial

from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.multipliers.bit_serial import BitSerialMultiplier
from coprime.multipliers.interleaved_csa import InterleavedCsa
from coprime.multipliers.montgomery_1csa import MontgomeryOneCsa
from coprime.multipliers.montgomery_2csa import MontgomeryTwoCsa
from coprime.multipliers.montgomery_r2 import MontgomeryRadix2

from .design import EngineDesign, check_ranges, lane_capabilities
from .layout import Layout

__all__ = ["interleaved_csa", "montgomery_1csa", "montgomery_2csa", "montgomery_r2"]


def _design(
    multiplier: type[BitSerialMultiplier],
    family: str,
    family_number: int,
    longest: int,
    max_bits: int = 2048,
    word: int = 32,
    multipliers: int = 2,
    exponentiator: str = "left-to-right",
    window: int = 4,
) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 2 to `longest`.

    Memory and multiplier exchange words of `word` bits, 8 to 64, or of the longest operand's bits
    if these are fewer. Each of the multipliers, 1 or 2, has its own memory. Primes may be as long
    as the memory has room for.
    """
    check_ranges(
        max_bits=(max_bits, range(2, longest + 1)),
        word=(word, range(8, 65)),
        multipliers=(multipliers, range(1, 3)),
    )
    headroom = multiplier.computes.headroom
    width = min(word, max_bits + headroom)
    whole = -(-(max_bits + headroom) // width)
    least_prime = -(-((max_bits + 1) // 2 + headroom) // width)
    exponentiation = Exponentiation(exponentiator, window)
    if exponentiation.window_bits > width:
        raise ValueError(f"window must be at most {width}, a digit's bits, not {window}")
    multiplication = multiplier.computes(whole, width)
    layout, prime = Layout.smallest(whole, least_prime, multipliers, exponentiation.table)
    capabilities = lane_capabilities(
        multiplication,
        max_bits,
        prime,
        family=family,
        family_number=family_number,
        min_length=1,
        multipliers=multipliers,
        constant_time=exponentiation.constant_time,
    )

    def make(target: Target) -> BitSerialMultiplier:
        # The cells are the same on all targets.
        return multiplier(multiplication, capabilities.count_bits, capabilities.round_count_bits)

    return EngineDesign(capabilities, layout, multiplication, make, exponentiation)


montgomery_2csa = partial(_design, MontgomeryTwoCsa, "montgomery-2csa", 2, 8192)
montgomery_1csa = partial(_design, MontgomeryOneCsa, "montgomery-1csa", 3, 8192)
interleaved_csa = partial(_design, InterleavedCsa, "interleaved-csa", 4, 8192)
montgomery_r2 = partial(_design, MontgomeryRadix2, "montgomery-r2", 6, 4096)
"""Its adders propagate carries over the whole modulus: the clock slows down with its length."""
