"""What is known of cells without their hardware: sizes, ranges and latencies.

Designs are computed with these, so that describing one does not import Amaranth. The components
have them as attributes.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

DSP_LATENCY = 3
"""Cycles from the factors of a `DspSlice` to its sum."""
ACCUMULATOR_BITS = 48
"""Of the sum in a `TileSlice`."""

# --- Tiles ----------------------------------------------------------------------------------------


_ONES_16, _ONES_17, _ONES_24 = (1 << 16) - 1, (1 << 17) - 1, (1 << 24) - 1
_HALF_17 = 1 << 16
# Magnitudes of the digits of L and H of kara95, and of their differences, on XC7.
_HALVES = ((_ONES_24, 1 << 23), (_ONES_16, _ONES_16, 1 << 15))
_MIDDLE = ((_ONES_24, 1 << 24), (_ONES_16, _ONES_16, 1 << 16))


class TileFacts:
    """A tile's size, its latency, and how many products it adds up."""

    NAME: ClassVar[str]
    WORD: ClassVar[int]  # bits of a word
    SLICES: ClassVar[int]  # DSP slices
    TREE: ClassVar[int]  # registers between products and their recombination
    LATENCY: ClassVar[int]  # cycles from words to the sum that includes their product: 4 + TREE
    SKEWS: ClassVar[bool] = False  # whether the tile can be skewed
    PRODUCTS: ClassVar[Sequence[int]]  # greatest magnitude of each slice's product, on XC7

    @classmethod
    def most_products(cls) -> int:
        """Products in a sum that the accumulators hold."""
        return int(((1 << ACCUMULATOR_BITS - 1) - 1) // max(cls.PRODUCTS))

    @classmethod
    def latency(cls, *, holds: bool = False) -> int:
        """Cycles from words to the sum that includes their product.

        Without a tree, a sum that is held is in a register of its own.
        """
        return max(cls.LATENCY, 5) if holds else cls.LATENCY


class One17Facts(TileFacts):
    """One product, of the differences of words."""

    NAME = "one17"
    WORD = 17
    SLICES = 1
    TREE = 0
    LATENCY = 4
    PRODUCTS = (_ONES_17**2,)


class Adk2x16Facts(TileFacts):
    """Three products, of two digits and of their difference; a tree of two levels."""

    NAME = "adk2x16"
    WORD = 32
    SLICES = 3
    TREE = 2
    LATENCY = 6
    PRODUCTS = (_ONES_16**2, _ONES_16**2, (2 * _ONES_16) ** 2)


class Bal50Facts(TileFacts):
    """Six products, of three digits and their three differences; a tree of two levels."""

    NAME = "bal50"
    WORD = 50
    SLICES = 6
    TREE = 2
    LATENCY = 6
    PRODUCTS = (
        *(_ONES_17 * _HALF_17, _ONES_17 * _HALF_17, (_HALF_17 - 1) * _HALF_17),
        *(
            2 * _ONES_17 * _ONES_17,
            (_ONES_17 + _HALF_17 - 1) * 2 * _HALF_17,
            (_ONES_17 + _HALF_17 - 1) * 2 * _HALF_17,
        ),
    )


class Kara95Facts(TileFacts):
    """Six products for each half and for their difference; a tree of three levels."""

    NAME = "kara95"
    WORD = 95
    SLICES = 18
    TREE = 3
    LATENCY = 7
    SKEWS = True
    PRODUCTS = tuple(
        x * y for left, right in (_HALVES, _HALVES, _MIDDLE) for x in left for y in right
    )


TILE_FACTS: Mapping[str, type[TileFacts]] = {
    tile.NAME: tile for tile in (One17Facts, Adk2x16Facts, Bal50Facts, Kara95Facts)
}
"""Those of every tile by its name, from the fewest DSP slices to the most."""

# --- Karatsuba's product --------------------------------------------------------------------------

WIDTHS = (16, 32, 64, 128)
SIGNED_LEVELS = 2
"""Levels at which signed differences are halved; above, their magnitudes are multiplied."""


class KaratsubaFacts:
    """Sizes of a `KaratsubaProduct`."""

    @staticmethod
    def levels(width: int) -> int:
        """How often a factor is halved: 0 to 3."""
        return WIDTHS.index(width)

    @classmethod
    def most(cls, width: int) -> int:
        """Maximum number of pipeline registers."""
        return len(register_places(cls.levels(width)))

    @classmethod
    def dsp_slices(cls, width: int) -> int:
        """DSP slices of a product."""
        return int(3 ** cls.levels(width))


def register_places(levels: int) -> list[str]:
    """Places for registers, the most useful one first."""
    downwards = range(levels, 0, -1)
    return [
        "output",
        *(f"total_{level}" for level in downwards),
        "inputs",
        *(f"sum_{level}" for level in downwards),
        *(f"magnitude_{level}" for level in downwards if level > SIGNED_LEVELS),
        *(f"before_{level}" for level in downwards),
        "middle",
    ]
