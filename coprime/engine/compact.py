"""The `compact` engine: products of differences on one DSP slice and one block RAM.

The two halves of one RAMB36E1, 1024 words of 18 bits with two ports each, are two banks, so that
four digits come in each cycle. On ecp5 each bank is one DP16KD.
"""

from collections.abc import Mapping

from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.model.montgomery import digits
from coprime.multipliers.compact import CompactMultiplier

from .contract import Capabilities, Command, Operand
from .design import EngineDesign, check_ranges, required_operands
from .layout import BankedLayout

__all__ = ["compact"]

_WINDOW, _WHOLE_WINDOW = 4, 2
"""Bits of the exponent at once, modulo a prime and modulo the whole modulus."""


def compact(max_bits: int = 1024) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 64 to 4096.

    Exponents are scanned in windows of 4 bits modulo a prime, and of 2 bits modulo the whole
    modulus, for the sake of the table's size. A bank of 1024 words, both of which are one RAMB36E1,
    holds moduli of up to 2104 bits; two RAMB36E1 hold 4096.
    """
    check_ranges(max_bits=(max_bits, range(64, 4097)))
    width = CompactMultiplier.DIGIT_WIDTH
    headroom = 2 + width  # 2^(17*D) > 4cM with c < 2^17
    min_length = (CompactMultiplier.MIN_DIGITS - 1) * width - headroom + 1
    whole = digits(max_bits, width, headroom)
    layout = BankedLayout.of(whole, digits((max_bits + 1) // 2, width, headroom))
    capabilities = Capabilities(
        family="compact",
        family_number=8,
        digit_width=width,
        headroom=headroom,
        round_bits=width,
        min_length=min_length,
        max_length=max_bits,
        max_prime_length=min(layout.longest_prime_digits * width - headroom, max_bits),
        required=_required(),
        constant_time=True,
        checked=True,
    )

    def make_multiplier(capabilities: Capabilities, target: Target) -> CompactMultiplier:
        return CompactMultiplier(whole, capabilities.count_bits, target)

    exponentiation = Exponentiation("fixed-window", _WINDOW, _WHOLE_WINDOW)
    return EngineDesign(capabilities, layout, make_multiplier, exponentiation)


def _required() -> Mapping[Command, frozenset[Operand]]:
    """As of others, but RSA_PRIVATE takes one weight and the public exponent, and no M_POWER."""
    required = required_operands(inverses=True)
    private = required[Command.RSA_PRIVATE] - {Operand.CRT_Q} | {Operand.E}
    return {**required, Command.RSA_PRIVATE: private}
