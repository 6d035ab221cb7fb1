import itertools
import random

import pytest

from coprime.cells.prefix_adder import EndAround, EndAroundAdder, Network, PrefixAdder
from tests.combinational import Bench

SMALL = range(1, 6)


@pytest.mark.parametrize("network", Network)
@pytest.mark.parametrize("width", [*range(1, 70), 127, 128, 129, 256, 1000])
def test_each_range_is_put_together_once(network, width):
    """Follows each place's range down: parts join without gap or overlap, down to place 0."""
    lowest = list(range(width))
    levels = network.levels(width)
    for nodes in levels:
        before = list(lowest)
        for upper, lower in nodes:
            assert before[upper] == lower + 1
            lowest[upper] = before[lower]
    assert lowest == [0] * width
    log = (width - 1).bit_length()
    count = sum(map(len, levels))
    if network is Network.BRENT_KUNG:
        assert len(levels) <= max(0, 2 * log - 1)
        assert count <= 2 * width
    else:
        assert len(levels) == log
    if width == 1 << log:
        nodes = {
            Network.BRENT_KUNG: 2 * width - 2 - log,
            Network.SKLANSKY: width * log // 2,
            Network.KOGGE_STONE: width * log - width + 1,
        }
        assert count == nodes[network]


def test_every_sum():
    shapes = list(itertools.product(SMALL, Network))
    bench = Bench([PrefixAdder(width, network=network) for width, network in shapes])
    vectors = range(1 << 11)
    for (width, _), results in zip(shapes, bench.run(vectors), strict=True):
        mask = (1 << width) - 1
        for vector, result in zip(vectors, results, strict=True):
            a, b, carry = vector & mask, vector >> width & mask, vector >> 2 * width & 1
            assert result == a + b + carry


def test_every_sum_with_the_carry_coming_around():
    shapes = list(itertools.product(SMALL, EndAround, Network))
    bench = Bench([EndAroundAdder(*shape, network=network) for *shape, network in shapes])
    vectors = range(1 << 10)
    for (width, kind, _), results in zip(shapes, bench.run(vectors), strict=True):
        mask = (1 << width) - 1
        for vector, result in zip(vectors, results, strict=True):
            a, b = vector & mask, vector >> width & mask
            if kind is EndAround.INVERTED:
                assert result == (a + b + 1) % ((1 << width) + 1)
            elif a == b == mask:
                assert result == mask
            else:
                assert result == (a + b) % mask


@pytest.mark.parametrize(
    "widths", [(32,), pytest.param((33, 64, 100, 256), marks=pytest.mark.matrix)], ids=str
)
def test_long_sums(widths):
    """Carries from any place to any other, then anything."""
    generator = random.Random(11)
    shapes = list(itertools.product(widths, Network))
    adders = [PrefixAdder(width, network=network) for width, network in shapes]
    around = [EndAroundAdder(width, kind) for width in widths for kind in EndAround]
    bench = Bench([*adders, *around], {"a": 0, "b": 256, "carry_in": 512})
    full = (1 << 256) - 1
    pairs = [(full, 1), (full, 0), (full, full), (0, 0), (full >> 1, 1), (full // 3, full // 3 * 2)]
    pairs += [(full - (1 << k) + 1 & full, 1 << k) for k in range(256)]
    pairs += [(generator.getrandbits(256), generator.getrandbits(256)) for _ in range(200)]
    vectors = [a | b << 256 | carry << 512 for a, b in pairs for carry in (0, 1)]
    results = bench.run(vectors)
    for k, width in enumerate(
        [*(width for width, _ in shapes), *(adder.width for adder in around)]
    ):
        mask = (1 << width) - 1
        for vector, result in zip(vectors, results[k], strict=True):
            a, b, carry = vector & mask, vector >> 256 & mask, vector >> 512
            if k < len(shapes):
                assert result == a + b + carry
            elif around[k - len(shapes)].kind is EndAround.INVERTED:
                assert result == (a + b + 1) % (mask + 2)
            else:
                assert result == (mask if a == b == mask else (a + b) % mask)


def test_refusals():
    for refused in (lambda: PrefixAdder(0), lambda: EndAroundAdder(0, EndAround.CARRY)):
        with pytest.raises(ValueError, match="at least 1, not 0"):
            refused()
    with pytest.raises(TypeError, match="must be an int, not '8'"):
        PrefixAdder("8")
    with pytest.raises(ValueError, match="ripple"):
        PrefixAdder(8, network="ripple")
