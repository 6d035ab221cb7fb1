"""The engines around the multipliers that scan one bit a round.

Sources: Amanor, Paar, Pelzl, Bunimov, Schimmler (2005) for BITSERIAL's three carry-save
multipliers; COMPRESSION, Algorithms 2 and 6, for `montgomery-r2`, the one that it calls MM. The
operands lie in a block RAM instead of registers; the multiplier loads and unloads word by word.
"""

from functools import partial
from typing import TYPE_CHECKING

from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.multipliers.bit_serial_multiplication import (
    BitSerialMultiplication,
    InterleavedMultiplication,
    MontgomeryCarrySaveMultiplication,
    MontgomeryRadix2Multiplication,
)
from coprime.parameters import check_ranges

from .design import EngineDesign, lane_capabilities
from .families import BIT_SERIAL_LONGEST, RADIX_2_LONGEST
from .layout import Layout

if TYPE_CHECKING:
    from coprime.multipliers.bit_serial import BitSerialMultiplier


def _design(
    computes: type[BitSerialMultiplication],
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
    exponentiation = Exponentiation(exponentiator, window)
    headroom = computes.headroom
    width = min(word, max_bits + headroom)
    whole = -(-(max_bits + headroom) // width)
    least_prime = -(-((max_bits + 1) // 2 + headroom) // width)
    if exponentiation.window_bits > width:
        raise ValueError(f"window must be at most {width}, a digit's bits, not {window}")
    multiplication = computes(whole, width)
    memory, prime = Layout.smallest(whole, least_prime, multipliers, exponentiation.table)
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

    def make(target: Target) -> "BitSerialMultiplier":
        # The cells are the same on all targets.
        return _multiplier(family)(
            multiplication, capabilities.count_bits, capabilities.round_count_bits
        )

    return EngineDesign(capabilities, memory, multiplication, make, exponentiation)


def _multiplier(family: str) -> "type[BitSerialMultiplier]":
    """The hardware of a family's multiplication."""
    from coprime.multipliers.interleaved_csa import InterleavedCsa
    from coprime.multipliers.montgomery_1csa import MontgomeryOneCsa
    from coprime.multipliers.montgomery_2csa import MontgomeryTwoCsa
    from coprime.multipliers.montgomery_r2 import MontgomeryRadix2

    return {
        "montgomery-2csa": MontgomeryTwoCsa,
        "montgomery-1csa": MontgomeryOneCsa,
        "interleaved-csa": InterleavedCsa,
        "montgomery-r2": MontgomeryRadix2,
    }[family]


_CSA = MontgomeryCarrySaveMultiplication
montgomery_2csa = partial(_design, _CSA, "montgomery-2csa", 2, BIT_SERIAL_LONGEST)
montgomery_1csa = partial(_design, _CSA, "montgomery-1csa", 3, BIT_SERIAL_LONGEST)
interleaved_csa = partial(
    _design, InterleavedMultiplication, "interleaved-csa", 4, BIT_SERIAL_LONGEST
)
montgomery_r2 = partial(
    _design, MontgomeryRadix2Multiplication, "montgomery-r2", 6, RADIX_2_LONGEST
)
