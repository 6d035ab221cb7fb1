"""The `karatsuba` engine: very-high-radix Montgomery on pipelined Karatsuba multipliers.

Source: San, At (2014). The operands lie in a block RAM instead of shift registers; the multiplicand
streams out of it, a word a cycle.
"""

from typing import TYPE_CHECKING

from coprime.cells.facts import WIDTHS, KaratsubaFacts
from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.multipliers.karatsuba.multiplication import KaratsubaMultiplication
from coprime.parameters import check_ranges

from .design import EngineDesign, lane_capabilities
from .layout import Layout

if TYPE_CHECKING:
    from coprime.multipliers.karatsuba.multiplier import KaratsubaMultiplier


def karatsuba(
    max_bits: int = 2048,
    word: int = 32,
    latency: int = 6,
    multipliers: int = 2,
    exponentiator: str = "fixed-window",
    window: int = 4,
    scaled: int = 0,
    interleaved: int = 0,
) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 64 to 8192.

    Words have 16 to 128 bits, the radix of the multiplication. A product takes `latency` cycles, 1
    to 13, or as many as the word's product has pipeline registers. A multiplier that works alone
    exponentiates by the algorithm `exponentiator`, with windows of `window` bits, 1, 2 or 4, if
    that has windows. Each of the multipliers, 1 or 2, has its own memory. With 1, and a fixed
    window, the two halves of RSA_PRIVATE can be `interleaved` on it. `scaled`, the multipliers work
    modulo multiples whose lowest word is -1, which takes one word more and a third of the DSP
    slices less.

    Raises ValueError for another word, for `max_bits` too short for it, and for combinations that
    are excluded above.
    """
    check_ranges(
        max_bits=(max_bits, range(64, 8193)),
        latency=(latency, range(1, 14)),
        multipliers=(multipliers, range(1, 3)),
        scaled=(scaled, range(2)),
        interleaved=(interleaved, range(2)),
    )
    if word not in WIDTHS:
        raise ValueError(f"word must be 16, 32, 64 or 128, not {word!r}")
    exponentiation = Exponentiation(exponentiator, window)
    if interleaved and (multipliers != 1 or not exponentiation.constant_time):
        raise ValueError("interleaved needs multipliers=1 and exponentiator=fixed-window")
    multiplication = KaratsubaMultiplication(
        word,
        min(latency, KaratsubaFacts.most(word)),
        scaled=bool(scaled),
        interleaved=bool(interleaved),
    )
    headroom = multiplication.headroom
    whole = -(-(max_bits + headroom) // word)
    min_length = 1 if scaled else word - 1  # 2 words
    if max_bits < min_length:
        raise ValueError(f"max_bits must be {min_length} or more for words of {word} bits")
    least_prime = -(-(max((max_bits + 1) // 2, min_length) + headroom) // word)
    memory, prime = Layout.smallest(whole, least_prime, multipliers, exponentiation.table)
    capabilities = lane_capabilities(
        multiplication,
        max_bits,
        prime,
        family="karatsuba",
        family_number=5,
        min_length=min_length,
        multipliers=multipliers,
        equal_primes=bool(interleaved),
        constant_time=exponentiation.constant_time,
    )

    def make(target: Target) -> "KaratsubaMultiplier":
        from coprime.multipliers.karatsuba.multiplier import KaratsubaMultiplier

        return KaratsubaMultiplier(multiplication, whole, capabilities.count_bits, target)

    return EngineDesign(capabilities, memory, multiplication, make, exponentiation)
