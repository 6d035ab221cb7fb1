"""Cycles of private operations on rings of tiles, by number of DSP slices: a model, not hardware.

`python -m bench.ring_table` prints Markdown tables; `--loop 3 5` sets the cycles around a tile.
Nothing here is simulated: a private operation is its multiplications (`model/ring_counts.py`) times
the period of a multiplication (`model/ring_schedule.py`), with the delay of q and the number of
places that make this the shortest.
"""

import argparse
from dataclasses import dataclass
from functools import cache

from coprime.cells.tiles import TILES, Tile
from coprime.model.ring import products, words
from coprime.model.ring_counts import best_count
from coprime.model.ring_schedule import RingPlan, Timing, least_step

from .page import table, thousands

LOOPS = (3,)
"""Cycles beside the latency of a tile from a column's last slot to the first that uses its word."""
SIZES = (1024, 2048, 3072, 4096)


@dataclass(frozen=True)
class Design:
    """Engines, one for both primes in turn or one for each, with 1, 2 or 4 tiles."""

    tile: type[Tile]
    engines: int
    tiles: int

    @property
    def name(self) -> str:
        return f"{self.engines}x {self.tile.NAME}, T = {self.tiles}"

    @property
    def dsp(self) -> int:
        return self.tile.SLICES * self.engines * self.tiles


DESIGNS = (
    *(Design(TILES[name], 1, 1) for name in ("one17", "adk2x16", "bal50")),
    *(Design(TILES[name], 2, 1) for name in ("adk2x16", "bal50")),
    *(Design(TILES["kara95"], 1, 1), Design(TILES["bal50"], 2, 2)),
    *(Design(TILES["kara95"], 2, 1), Design(TILES["bal50"], 2, 4)),
)


@cache
def shortest(bits: int, word: int, tiles: int, latency: int) -> Timing:
    """The shortest period for a prime of `bits` bits."""
    found = []
    for delay in (0, 1, 2):
        count = words(bits, word, delay)
        for places in range(count + max(1, delay), min(count + 4, 2 * count) + 1):
            ring = RingPlan(count, delay, tiles, places)
            found.append(Timing.at_least(ring, least_step(ring, latency), latency))
    return min(found, key=lambda timing: timing.period)


def timing(design: Design, size: int, loop: int) -> Timing:
    """Of a multiplication modulo a prime of a key of `size` bits."""
    tile = design.tile
    return shortest(size // 2, tile.WORD, design.tiles, tile.LATENCY + loop)


def cycles(design: Design, size: int, loop: int) -> int:
    """Of a private operation with a key of `size` bits, both primes."""
    in_turn = 2 // design.engines
    return in_turn * best_count(size // 2).total * timing(design, size, loop).period


def private_operations(loop: int) -> str:
    rows = [
        (
            *(design.name, design.dsp),
            *(thousands(cycles(design, size, loop)) for size in SIZES),
            f"{design.dsp * cycles(design, 2048, loop) / 1e6:.1f}M",
        )
        for design in DESIGNS
    ]
    sizes = (f"RSA-{size}" for size in SIZES)
    return table(["design", "DSP slices", *sizes, "slices x cycles, RSA-2048"], rows)


def multiplications(loop: int) -> str:
    rows = []
    for design in {(design.tile, design.tiles): design for design in DESIGNS}.values():
        for size in (1024, 2048):
            found = timing(design, size, loop)
            ring = found.ring
            used = products(ring.count, ring.delay) / (ring.tiles * found.period)
            sizes = (
                design.tiles,
                size // 2,
                ring.count,
                ring.delay,
                ring.places,
                max(found.lengths),
            )
            rows.append((design.tile.NAME, *sizes, found.period, f"{100 * used:.1f}%"))
    head = ["tile", "T", "bits", "D", "d", "P", "longest step", "cycles", "slots in use"]
    return table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loop", type=int, nargs="+", default=LOOPS, metavar="CYCLES")
    print("**Model, not hardware**: multiplications counted, times a modelled period.\n")
    for loop in parser.parse_args().loop:
        print(f"Private operations, check included; {loop} cycles around a tile:\n")
        print(private_operations(loop))
        print(f"A multiplication modulo a prime; {loop} cycles around a tile:\n")
        print(multiplications(loop))


if __name__ == "__main__":
    main()
