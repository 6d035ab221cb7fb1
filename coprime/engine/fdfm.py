"""The `fdfm` engine: FDFM's processor core on one DSP slice and one block RAM.

Source: Ito, Nakano, Song (2011), section 5.2, figures 7 and 8. What differs: an operand's last
digit is known from its length, held beside the command, not from a flag in the memory's 18th bit;
so a memory that holds anything at all cannot keep the engine from ending.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.model.montgomery import digits
from coprime.multipliers.fdfm_multiplication import FdfmMultiplication
from coprime.operations.commands import Command
from coprime.parameters import check_ranges
from coprime.program.operands import Core, Operand

from .capabilities import WordAddresses
from .design import EngineDesign, lane_capabilities
from .layout import Layout

if TYPE_CHECKING:
    from coprime.multipliers.fdfm import FdfmMultiplier

BARE = Command.RSA_PRIVATE  # the one command of a lean node's core


def fdfm(
    max_bits: int = 2176,
    multipliers: int = 1,
    exponentiator: str = "left-to-right",
    window: int = 4,
) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 64 to 8192.

    With two multipliers (the paper has one) each has its DSP slice and its memory, the smallest of
    a power of two digits that holds the operands and the exponentiator's table. One RAMB36E1, as in
    the paper, holds 2048 digits: moduli of up to 2308 bits, or of 2176 with primes of up to 1392.
    Two hold 4622 bits, and four 8192.
    """
    check_ranges(max_bits=(max_bits, range(64, 8193)), multipliers=(multipliers, range(1, 3)))
    exponentiation, multiplication = Exponentiation(exponentiator, window), FdfmMultiplication()
    width, headroom = multiplication.digit_width, multiplication.headroom
    whole, half = (digits(bits, width, headroom) for bits in (max_bits, (max_bits + 1) // 2))
    memory, prime = Layout.smallest(whole, half, multipliers, exponentiation.table)
    capabilities = lane_capabilities(
        multiplication,
        max_bits,
        prime,
        family="fdfm",
        family_number=1,
        min_length=(multiplication.min_digits - 1) * width - headroom + 1,
        multipliers=multipliers,
        constant_time=exponentiation.constant_time,
    )
    make = partial(_multiplier, capabilities.count_bits)
    return EngineDesign(capabilities, memory, multiplication, make, exponentiation)


def _multiplier(count_bits: int, target: Target, *, dense: bool = False) -> "FdfmMultiplier":
    from coprime.multipliers.fdfm import FdfmMultiplier

    return FdfmMultiplier(count_bits, target, dense=dense)


def bare_fdfm(
    max_bits: int = 2176,
    multipliers: int = 1,
    exponentiator: str = "left-to-right",
    window: int = 4,
) -> EngineDesign:
    """Design the paper's core, for a lean node: RSA_PRIVATE alone, in the same memory and cycles.

    ValueError for what the paper's core does not have: a second multiplier, or another
    exponentiation.
    """
    for name, value, only in (
        ("multipliers", multipliers, 1),
        ("exponentiator", exponentiator, "left-to-right"),
    ):
        if value != only:
            raise ValueError(f"a lean node needs {name}={only}, not {value}: use node=full")
    design = fdfm(max_bits, multipliers, exponentiator, window)
    capabilities, memory = design.capabilities, design.layout
    required = capabilities.required[BARE]
    addresses = WordAddresses(
        memory.depth,
        {command: memory.bases[command] for command in sorted(required)},
        memory.bases[Core.RESULT],
        # Y and E, which are not required, follow each other, and have seven words at least.
        free=-(-memory.bases[Operand.Y] // 4) * 4,
    )
    return replace(
        design,
        capabilities=replace(capabilities, required={BARE: required}, addresses=addresses),
        make_multiplier=partial(_multiplier, capabilities.count_bits, dense=True),
    )
