"""Cycles of private operations on rings of tiles, by number of DSP slices: a model, not hardware.

`python -m bench.ring_table` prints Markdown tables; `--latency 8 10 12` sets the loop latencies.
Nothing here is simulated: a private operation is its multiplications (`model/ring_counts.py`) times
the period of a multiplication (`model/ring_schedule.py`), with the delay of q and the number of
places that make this the shortest.
"""

import argparse
from dataclasses import dataclass
from functools import cache

from coprime.model.ring import products, words
from coprime.model.ring_counts import best_count
from coprime.model.ring_schedule import Ring, Timing, least_step

from .page import table, thousands

LATENCIES = (10,)
"""Cycles from a column's last slot to the first that can use its word: assumed."""
SIZES = (1024, 2048, 3072, 4096)


@dataclass(frozen=True)
class Tile:
    """Bits of its words, DSP slices, cycles that its latency is longer than that of the others."""

    name: str
    word: int
    dsp: int
    extra_latency: int = 0


@dataclass(frozen=True)
class Design:
    """Engines, one for both primes in turn or one for each, with 1, 2 or 4 tiles."""

    tile: Tile
    engines: int
    tiles: int

    @property
    def name(self) -> str:
        return f"{self.engines}x {self.tile.name}, T = {self.tiles}"

    @property
    def dsp(self) -> int:
        return self.tile.dsp * self.engines * self.tiles


ONE17, RECT24, ADK2X16 = Tile("one17", 17, 1), Tile("rect24", 24, 2), Tile("adk2x16", 32, 3)
RECT48, BAL50, KARA94 = Tile("rect48", 48, 6), Tile("bal50", 50, 6), Tile("kara94", 94, 18, 1)
DESIGNS = (
    *(Design(tile, 1, 1) for tile in (ONE17, RECT24, ADK2X16, RECT48, BAL50)),
    *(Design(tile, 2, 1) for tile in (ADK2X16, RECT48, BAL50)),
    *(Design(KARA94, 1, 1), Design(BAL50, 2, 2), Design(KARA94, 2, 1), Design(BAL50, 2, 4)),
)


@cache
def shortest(bits: int, word: int, tiles: int, latency: int) -> Timing:
    """The shortest period for a prime of `bits` bits."""
    found = []
    for delay in (0, 1, 2):
        count = words(bits, word, delay)
        for places in range(count + max(1, delay), min(count + 4, 2 * count) + 1):
            ring = Ring(count, delay, tiles, places)
            found.append(Timing(ring, least_step(ring, latency), latency))
    return min(found, key=lambda timing: timing.period)


def timing(design: Design, size: int, latency: int) -> Timing:
    """Of a multiplication modulo a prime of a key of `size` bits."""
    tile = design.tile
    return shortest(size // 2, tile.word, design.tiles, latency + tile.extra_latency)


def cycles(design: Design, size: int, latency: int) -> int:
    """Of a private operation with a key of `size` bits, both primes."""
    in_turn = 2 // design.engines
    return in_turn * best_count(size // 2).total * timing(design, size, latency).period


def private_operations(latency: int) -> str:
    rows = [
        (
            *(design.name, design.dsp),
            *(thousands(cycles(design, size, latency)) for size in SIZES),
            f"{design.dsp * cycles(design, 2048, latency) / 1e6:.1f}M",
        )
        for design in DESIGNS
    ]
    sizes = (f"RSA-{size}" for size in SIZES)
    return table(["design", "DSP slices", *sizes, "slices x cycles, RSA-2048"], rows)


def multiplications(latency: int) -> str:
    rows = []
    for design in DESIGNS:
        for size in (1024, 2048):
            found = timing(design, size, latency)
            ring = found.ring
            used = products(ring.count, ring.delay) / (ring.tiles * found.period)
            places = (size // 2, ring.count, ring.delay, ring.places)
            rows.append((design.name, *places, found.step, found.period, f"{100 * used:.1f}%"))
    head = ["design", "bits", "D", "d", "P", "least step", "cycles", "slots in use"]
    return table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency", type=int, nargs="+", default=LATENCIES, metavar="CYCLES")
    print("**Model, not hardware**: multiplications counted, times a modelled period.\n")
    for latency in parser.parse_args().latency:
        print(f"Private operations, check included, loop latency {latency} (kara94: one more):\n")
        print(private_operations(latency))
        print(f"A multiplication modulo a prime, loop latency {latency}:\n")
        print(multiplications(latency))


if __name__ == "__main__":
    main()
