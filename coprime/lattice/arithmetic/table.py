"""The constants that the slice multiplies by, in the order in which steps use them."""

from coprime.model.lattice.arithmetic import (
    EXACT,
    LAYERS,
    MODULO,
    WIDTHS,
    WORDS,
    compression_multiplier,
    expansion_factor,
    expansion_shift,
    forward_constants,
    inverse_constants,
    last_constants,
    pair_constants,
)

from .steps import BYTE_WIDTHS, StepType

TABLE_BITS = 18
"""Of a constant, with its sign."""
INVERSE_BASE = WORDS
PAIR_BASE = 2 * WORDS
LAST_BASE = 3 * WORDS
EXACT_BASE = LAST_BASE + 2
PACK_BASE = LAST_BASE + 16
UNPACK_BASE = LAST_BASE + 24
"""Then by the number of the width."""
TABLE_WORDS = 4 * WORDS
PLAIN_SHIFT = expansion_shift(WIDTHS[-1])
"""Packing 12 bits multiplies by this power of two, so that the same bits of the product hold them.
"""
BASES = {
    StepType.TRANSFORM: 0,
    StepType.INVERSE: INVERSE_BASE,
    StepType.LAST: LAST_BASE,
    StepType.PAIR: PAIR_BASE,
    StepType.MULTIPLY: 0,
    StepType.EXACT_SUM: EXACT_BASE,
    StepType.UNPACK: UNPACK_BASE,
    StepType.PACK: PACK_BASE,
}
"""Where a step begins; UNPACK and PACK add the number of the width."""


def table_words() -> list[int]:
    """The whole table, signed."""
    words = [0] * TABLE_WORDS
    factors = [compression_multiplier(width) for width in WIDTHS]
    expansions = [expansion_factor(width) for width in WIDTHS]
    for base, part in (
        (BASES[StepType.TRANSFORM], forward_constants()),
        (INVERSE_BASE, inverse_constants()),
        (PAIR_BASE, pair_constants()),
        (LAST_BASE, last_constants()),
        (EXACT_BASE, (EXACT,)),
        (PACK_BASE, (*factors, 1 << PLAIN_SHIFT)),
        (UNPACK_BASE, (*expansions, MODULO)),
    ):
        words[base : base + len(part)] = part
    assert len(words) == TABLE_WORDS
    assert len(forward_constants()) == (1 << LAYERS) - 1
    assert len(BYTE_WIDTHS) == len(WIDTHS) + 1
    return words
