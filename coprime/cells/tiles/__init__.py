"""Tiles: the product of two differences of wide words on a few DSP slices, added up."""

from collections.abc import Mapping

from .adk2x16 import Adk2x16
from .bal50 import Bal50
from .kara95 import Kara95
from .one17 import One17
from .tile import Tile

__all__ = ["TILES", "Tile"]

TILES: Mapping[str, type[Tile]] = {tile.NAME: tile for tile in (One17, Adk2x16, Bal50, Kara95)}
"""Every tile by its name, from the fewest DSP slices to the most."""
