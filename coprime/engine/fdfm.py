"""The `fdfm` engine: FDFM's processor core on one DSP slice and one block RAM.

Source: Ito, Nakano, Song (2011), section 5.2, figures 7 and 8. What differs: an operand's last
digit is known from its length, held beside the command, not from a flag in the memory's 18th bit;
so a memory that holds anything at all cannot keep the engine from ending.
"""

from coprime.cells.target import Target
from coprime.multipliers.fdfm import FdfmMultiplier

from .contract import Capabilities, Command, Operand
from .design import EngineDesign
from .layout import Layout

__all__ = ["fdfm"]

_MODULUS = {Operand.X, Operand.M, Operand.M_INVERSE}
_PRIMES = {
    *(Operand.P, Operand.DP, Operand.P_INVERSE, Operand.P_POWER, Operand.CRT_P),
    *(Operand.Q, Operand.DQ, Operand.Q_INVERSE, Operand.Q_POWER, Operand.CRT_Q),
}
_REQUIRED = {
    Command.MODMUL: frozenset(_MODULUS | {Operand.M_POWER, Operand.Y}),
    Command.MODEXP: frozenset(_MODULUS | {Operand.M_POWER, Operand.E}),
    Command.RSA_PUBLIC: frozenset(_MODULUS | {Operand.M_POWER, Operand.E}),
    Command.RSA_PRIVATE: frozenset(_MODULUS | _PRIMES),
}


def fdfm(max_bits: int = 2176, multipliers: int = 1) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 64 to 2176.

    With two multipliers (the paper has one) each has its DSP slice and its block RAM. At 2176 bits
    the operands fill one RAMB36E1; the primes may then have up to 1392 bits each. A smaller maximum
    takes the smallest memory, of a power of two words, that holds its operands.
    """
    if not isinstance(max_bits, int):
        raise TypeError(f"max_bits must be an int, not {max_bits!r}")
    if max_bits not in range(64, 2177):
        raise ValueError(f"max_bits must be in 64..2176, not {max_bits}")
    if multipliers not in (1, 2):
        raise ValueError(f"multipliers must be 1 or 2, not {multipliers!r}")
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
        min_length=16,  # 2 digits
        max_length=max_bits,
        max_prime_length=min(prime * width - headroom, max_bits),
        required=_REQUIRED,
        multipliers=multipliers,
    )
    layout = Layout.pack(depth, whole=whole, prime=prime)
    return EngineDesign(capabilities, layout, _multiplier)


def _multiplier(capabilities: Capabilities, target: Target) -> FdfmMultiplier:
    return FdfmMultiplier(capabilities.count_bits, target)
