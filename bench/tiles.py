"""Area and clock of each tile alone: `python -m bench.tiles` writes the table of results.md."""

from coprime.cells.target import Target
from coprime.cells.tiles import TILES
from coprime.flow.mapping import map_design
from coprime.flow.routing import route_design

from .page import replace_part, table

PRODUCTS = 64
"""Most in a sum."""
DEVICE = "LFE5U-85F"
SEEDS = (1, 2, 3)
TARGET_MHZ = 150.0
NONE = "-"


def rows() -> list[tuple[str, ...]]:
    """Each tile in cells of xc7 and ecp5."""
    found = []
    for name, tile_class in TILES.items():
        own = (name, tile_class.WORD, tile_class.SLICES, tile_class.LATENCY)
        xc7 = map_design(Target.XC7, tile_class(PRODUCTS, Target.XC7), "coprime_tile")
        figures: tuple[object, ...] = (NONE,) * 3
        if Target.ECP5 in tile_class.TARGETS:
            ecp5 = map_design(Target.ECP5, tile_class(PRODUCTS, Target.ECP5), "coprime_tile")
            routed = route_design(
                Target.ECP5,
                tile_class(PRODUCTS, Target.ECP5),
                "coprime_tile",
                seeds=SEEDS,
                target_mhz=TARGET_MHZ,
                device=DEVICE,
            )
            clocks = sorted(routed.fmax_by_seed.values())
            figures = (ecp5.lut, ecp5.ff, f"{clocks[0]:.0f} to {clocks[-1]:.0f}")
        found.append((*own, tile_class.most_products(), xc7.lut, xc7.ff, *figures))
    return [
        tuple(f"{figure:,}" if isinstance(figure, int) else str(figure) for figure in row)
        for row in found
    ]


def main() -> None:
    heads = ("tile", "w", "DSP", "latency", "most products", "xc7: LUT", "FF")
    replace_part("results.md", "tiles", table((*heads, "ecp5: LUT", "FF", "MHz"), rows()))


if __name__ == "__main__":
    main()
