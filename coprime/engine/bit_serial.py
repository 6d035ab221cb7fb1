"""The engines around the multipliers that scan one bit a round.

Sources: Amanor, Paar, Pelzl, Bunimov, Schimmler (2005) for BITSERIAL's three carry-save
multipliers; COMPRESSION, Algorithms 2 and 6, for `montgomery-r2`, the one that it calls MM. The
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
from coprime.parameters import Parameter, check_ranges

from .design import EngineDesign, lane_capabilities
from .family import Family, exponentiation, longest_modulus, multipliers_each
from .layout import Layout


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
    exponentiation = Exponentiation(exponentiator, window)
    headroom = multiplier.computes.headroom
    width = min(word, max_bits + headroom)
    whole = -(-(max_bits + headroom) // width)
    least_prime = -(-((max_bits + 1) // 2 + headroom) // width)
    if exponentiation.window_bits > width:
        raise ValueError(f"window must be at most {width}, a digit's bits, not {window}")
    multiplication = multiplier.computes(whole, width)
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

    def make(target: Target) -> BitSerialMultiplier:
        # The cells are the same on all targets.
        return multiplier(multiplication, capabilities.count_bits, capabilities.round_count_bits)

    return EngineDesign(capabilities, memory, multiplication, make, exponentiation)


def _family(
    multiplier: type[BitSerialMultiplier],
    name: str,
    number: int,
    summary: str,
    *,
    paper: str = "BITSERIAL",
    longest: int = 8192,
) -> Family:
    """The record of a family."""
    return Family(
        name=name,
        paper=paper,
        summary=f"{summary}, with CRT",
        parameters=(
            longest_modulus(2, longest, 2048),
            Parameter("word", 8, 64, 32, "bits that memory and multiplier exchange"),
            multipliers_each(2),
            *exponentiation("left-to-right"),
        ),
        design=partial(_design, multiplier, name, number, longest),
    )


MONTGOMERY_2CSA = _family(
    *(MontgomeryTwoCsa, "montgomery-2csa", 2), "bit-serial Montgomery with two carry-save adders"
)
MONTGOMERY_1CSA = _family(
    *(MontgomeryOneCsa, "montgomery-1csa", 3), "bit-serial Montgomery with one carry-save adder"
)
INTERLEAVED_CSA = _family(
    *(InterleavedCsa, "interleaved-csa", 4), "bit-serial interleaved with a carry-save adder"
)
MONTGOMERY_R2 = _family(
    *(MontgomeryRadix2, "montgomery-r2", 6),
    "radix-2 Montgomery without a last subtraction, adders that propagate carries",
    paper="COMPRESSION",
    longest=4096,
)
"""Its adders propagate carries over the whole modulus: the clock slows down with its length."""
