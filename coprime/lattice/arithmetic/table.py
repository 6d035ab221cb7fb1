"""The constants that the slice multiplies by, in the order in which steps use them."""

from itertools import islice

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

from .crossing import lower
from .steps import BYTE_WIDTHS, StepType, crosses, last_layer

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


def table_words(lane: int = 0, lanes: int = 1) -> list[int]:
    """The whole table, signed, of one of several lanes."""
    words = [0] * TABLE_WORDS
    factors = [compression_multiplier(width) for width in WIDTHS]
    expansions = [expansion_factor(width) for width in WIDTHS]
    for base, part in (
        (BASES[StepType.TRANSFORM], _of_layers(StepType.TRANSFORM, lane, lanes)),
        (INVERSE_BASE, _of_layers(StepType.INVERSE, lane, lanes)),
        (PAIR_BASE, pair_constants()[lane::lanes]),
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


def _of_layers(kind: StepType, lane: int, lanes: int) -> list[int]:
    """The constants of a transform or its inverse, in a lane's order of use.

    All lanes have the same block of a layer, with one constant, but where words cross: there each
    butterfly is of another block. Its row is the odd address of a pair in the first half of the
    lanes, the even one in the second half.
    """
    forward, found = kind is StepType.TRANSFORM, []
    constants = iter(forward_constants() if forward else inverse_constants())
    for layer in range(last_layer(kind) + 1):
        span = WORDS >> layer + 1 if forward else 1 << layer
        blocks = list(islice(constants, WORDS // (2 * span)))
        if not crosses(kind, layer, lanes):
            found += blocks
            continue
        distance = span.bit_length() - 1
        first_half, k = lane < lanes // 2, lane % (lanes // 2)
        for pair in range(0, WORDS // lanes, 2):
            word = (pair + first_half) * lanes + lower(k, distance)
            found.append(blocks[word // (2 * span)])
    return found
