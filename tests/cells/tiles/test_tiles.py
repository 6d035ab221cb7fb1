"""Every tile against integers: its behavioural twin, and its structure of behavioural slices."""

import random
from dataclasses import dataclass, field, replace

import pytest
from amaranth.hdl import Module, Mux
from amaranth.sim import Simulator

from coprime.cells import adders
from coprime.cells.facts import ACCUMULATOR_BITS
from coprime.cells.product import Product
from coprime.cells.target import Target
from coprime.cells.tiles import TILES, accumulator
from coprime.cells.tiles import tile as tile_module
from coprime.cells.tiles.tile_slice import TileSlice

PRODUCTS = 40
CYCLES = 500


@dataclass(frozen=True)
class Operation:
    x_0: int = 0
    x_1: int = 0
    y_0: int = 0
    y_1: int = 0
    subtract: int = 0
    first: int = 0

    @property
    def product(self):
        product = (self.x_0 - self.x_1) * (self.y_0 - self.y_1)
        return -product if self.subtract else product


@dataclass
class Stream:
    """Operations for a tile, with at most so many products in a sum."""

    word: int
    products: int
    generator: random.Random = field(default_factory=lambda: random.Random(17))

    def a_word(self):
        """Random, or runs of equal bits."""
        generator, bits = self.generator, self.word
        kind = generator.randrange(4)
        if kind == 0:
            return generator.getrandbits(bits)
        if kind == 1:
            return generator.choice([0, (1 << bits) - 1])
        if kind == 2:
            return generator.choice([1, -1]) << generator.randrange(bits) & (1 << bits) - 1
        ends = sorted(generator.randrange(bits + 1) for _ in range(4))
        return sum((1 << top) - (1 << low) for low, top in zip(ends[::2], ends[1::2], strict=True))

    def operations(self, count):
        length = 0
        for _ in range(count):
            length = 0 if length == self.products or self.generator.random() < 0.1 else length
            words = [self.a_word() for _ in range(4)]
            yield Operation(*words, self.generator.randrange(2), length == 0)
            length += 1


def run(tile, operations, watch=lambda context: None):
    """Compare every sum with integers; `watch` is called in every cycle."""
    skewed = tile.skewed and tile.target is not Target.XC7
    lower = (1 << tile.WORD) - 1 if skewed else 0
    latency = tile.latency(holds=tile.holds)
    generator, choices = random.Random(5), ("keep", "clear", None)

    async def bench(context):
        sums, total, chosen, shown = [], 0, None, None
        for cycle, operation in enumerate([*operations, *[Operation()] * (latency + skewed)]):
            for name in ("x_0", "x_1", "y_0", "y_1", "subtract", "first"):
                context.set(getattr(tile, name), getattr(operation, name))
            total = operation.product + (0 if operation.first else total)
            sums.append(total)
            if cycle >= latency + skewed:
                lowest, whole = (sums[cycle - latency - k] for k in (0, skewed))
                found = lowest & lower | whole & ~lower
                shown = {None: found, "keep": shown, "clear": 0}[chosen]
                assert context.get(tile.sum) == shown, cycle
            if tile.holds and cycle > latency:
                chosen = generator.choice(choices)
                for name in choices[:-1]:
                    context.set(getattr(tile, name), name == chosen)
            watch(context)
            await context.tick()

    module = Module()
    module.submodules.tile = tile
    simulator = Simulator(module)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.fixture(params=TILES)
def tile_class(request):
    return TILES[request.param]


@pytest.fixture
def placed(monkeypatch):
    """The slices of the tiles that are elaborated, each its behavioural twin."""
    found = []

    def twin(component):
        def make(target):
            assert target is not Target.GENERIC
            found.append(component(target=Target.GENERIC))
            return found[-1]

        return make

    def three(m, a, b, c, subtract_last):
        return (a + b - c if subtract_last else a + b + c)[: len(a)]

    def two(m, a, b, carry, *, complement=False, leave_out=0):
        b = ~b if complement else b
        return (a + Mux(leave_out, 0, b) + carry)[: len(a)]

    monkeypatch.setattr(tile_module, "TileSlice", twin(TileSlice))
    monkeypatch.setattr(tile_module, "Product", twin(Product))
    monkeypatch.setattr(adders, "chain_of_three", three)
    monkeypatch.setattr(adders, "chain_of_two", two)
    monkeypatch.setattr(accumulator, "chain_of_two", two)
    return found


def test_twin(tile_class):
    run(tile_class(PRODUCTS), list(Stream(tile_class.WORD, PRODUCTS).operations(CYCLES)))


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    "target", [Target.XC7, pytest.param(Target.ECP5, marks=pytest.mark.matrix)]
)
def test_structure(tile_class, target, placed):
    tile = tile_class(PRODUCTS, target)
    run(tile, list(Stream(tile_class.WORD, PRODUCTS).operations(CYCLES)))
    assert len(placed) == tile_class.SLICES


@pytest.mark.matrix(quick=6)
@pytest.mark.parametrize("target", Target)
def test_sums_that_are_held(tile_class, target, placed):
    """A sum stays, or is 0, for any number of cycles; what is added up behind it goes on."""
    tile = tile_class(PRODUCTS, target, holds=True)
    run(tile, list(Stream(tile.WORD, PRODUCTS).operations(CYCLES)))


def test_tiles_whose_sums_cannot_be_held():
    with pytest.raises(ValueError, match="a sum in two parts cannot be held"):
        TILES["kara95"](PRODUCTS, skewed=True, holds=True)


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("target", Target)
def test_skewed(target, placed):
    """The bits above a word come a cycle later, but on xc7."""
    tile = TILES["kara95"](PRODUCTS, target, skewed=True)
    run(tile, list(Stream(tile.WORD, PRODUCTS).operations(CYCLES)))


def test_tiles_that_cannot_be_skewed():
    with pytest.raises(ValueError, match="bal50 cannot be skewed"):
        TILES["bal50"](PRODUCTS, skewed=True)


def test_latency(tile_class):
    assert tile_class.LATENCY == TileSlice.LATENCY + tile_class.TREE


def test_sum_holds_the_most(tile_class):
    """All products as large as they can be, of either sign."""
    ones = (1 << tile_class.WORD) - 1
    for subtract in (0, 1):
        tile = tile_class(5)
        most = 5 * ones**2
        assert 1 << tile.sum_bits - 1 > most
        run(tile, [Operation(ones, 0, 0, ones, subtract, k == 0) for k in range(5)])


EXTREMES = {
    "one17": [Operation(0x1FFFF, 0, 0x1FFFF, 0), Operation(0x1FFFF, 0, 0, 0x1FFFF)],
    "adk2x16": [
        Operation(0xFFFF, 0xFFFF0000, 0xFFFF, 0xFFFF0000),
        Operation(0xFFFF, 0xFFFF0000, 0xFFFF0000, 0xFFFF),
    ],
    # The highest digits of both halves as far apart as they can be.
    "kara95": [
        Operation((1 << 95) - (1 << 47), 0, (1 << 95) - (1 << 47), 0),
        Operation((1 << 95) - (1 << 47), 0, (1 << 95) - (1 << 47), 0, subtract=1),
    ],
    # Digits 0 and 1 of x as far apart as can be; of y, too: -2^16 and 2^16 - 1, or the reverse.
    "bal50": [
        Operation(0x1FFFF, 0x1FFFF << 17, (0xFFFF << 17) - (1 << 16), 0),
        Operation(0x1FFFF << 17, 0x1FFFF, (0xFFFF << 17) - (1 << 16), 0),
    ],
}
"""Words that give a slice its greatest product, and words that give the negative of it."""


def test_extremes_of_accumulators(tile_class, placed):
    """The greatest products that there are: a slice's sum reaches the end of its range."""
    products = min(tile_class.most_products(), 128)
    for extreme in EXTREMES[tile_class.NAME]:
        placed.clear()
        reached = []

        def watch(context, reached=reached):
            reached.append(max(abs(context.get(component.p)) for component in placed))

        run(
            tile_class(products, Target.XC7),
            [replace(extreme, first=k == 0) for k in range(products)],
            watch,
        )
        assert max(reached) == products * max(tile_class.PRODUCTS)


def test_most_products_fill_the_accumulator(tile_class):
    most, greatest = tile_class.most_products(), max(tile_class.PRODUCTS)
    assert most * greatest < 1 << ACCUMULATOR_BITS - 1 <= (most + 1) * greatest


@pytest.mark.parametrize("products", [0, -1])
def test_no_products(tile_class, products):
    most = tile_class.most_products()
    with pytest.raises(ValueError, match=rf"products must be in 1\.\.{most} .*, not {products}"):
        tile_class(products)


def test_too_many_products(tile_class):
    most = tile_class.most_products()
    tile_class(most)
    with pytest.raises(ValueError, match=rf"products must be in 1\.\.{most} .*, not {most + 1}"):
        tile_class(most + 1)


def test_products_of_wrong_type(tile_class):
    with pytest.raises(TypeError, match=r"products must be an int, not 3\.5"):
        tile_class(3.5)
