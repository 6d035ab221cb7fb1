"""Product, square, reduction and sum modulo fixed numbers, in Verilator, against Python's %."""

import gc
import itertools
import random
import tracemalloc

import pytest
from amaranth.back import rtlil
from amaranth.lib.wiring import In

from coprime.cells import compressor_tree
from coprime.cells.compression import (
    ModularProduct,
    ModularReduction,
    ModularSquare,
    ModularSum,
)
from coprime.cells.compressor_tree import Counters, Folding
from coprime.cells.prefix_adder import Network
from coprime.model.compression import Recoding
from coprime.model.moduli import MODULI, modulus_of, vassoler_pair
from coprime.model.pseudo_moduli import product_estimate
from tests.combinational import Bench

BITS = 7  # of the longest modulus that all operands are tried for


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.matrix)


def all_cases(component):
    """Every vector of operands that fit the ports, above the modulus, too; and what is wanted."""
    m = component.modulus
    if isinstance(component, ModularReduction):
        return {x: x % m for x in range(1 << len(component.x))}
    values = range(1 << len(component.result))
    if isinstance(component, ModularSquare):
        return {x: x * x % m for x in values}
    if isinstance(component, ModularProduct):
        return {x | y << BITS: x * y % m for x in values for y in values}
    assert component.count == 2
    return {x | y << BITS: (x + y) % m for x in values for y in values}


def check_all(components):
    bench = Bench(components, {"x": 0, "y": BITS, "x0": 0, "x1": BITS})
    for component, results in zip(components, bench.run(range(1 << 2 * BITS)), strict=True):
        for vector, wanted in all_cases(component).items():
            assert results[vector] == wanted, (component.modulus, vector)


@pytest.mark.proof(quick=1)
@pytest.mark.parametrize("kind", [ModularProduct, ModularSquare, ModularReduction, ModularSum])
@pytest.mark.parametrize(
    "moduli",
    [
        (3, 4, 5, 7, 9),
        slow((6, 8)),
        slow(range(10, 45)),
        *(slow(range(k, k + 21)) for k in range(45, 129, 21)),
    ],
    ids=str,
)
def test_every_operand_for_every_modulus(kind, moduli):
    options = {ModularReduction: lambda m: (2 * (m - 1).bit_length(),), ModularSum: lambda m: (2,)}
    check_all([kind(m, *options.get(kind, lambda m: ())(m)) for m in moduli])


@pytest.mark.parametrize("m", [7, *map(slow, (6, 8, 9, 11, 13, 29, 35, 43, 85, 127))])
def test_every_operand_for_every_choice(m):
    choices = itertools.product(Counters, Folding, Recoding)
    check_all(
        [
            ModularProduct(m, counters=counters, folding=folding, recoding=recoding)
            for counters, folding, recoding in choices
        ]
    )


def input_bits(component):
    members = component.signature.members
    return [len(getattr(component, name)) for name in members if members[name].flow == In]


def wanted(component, vector):
    """What Python says of the ports' values, one behind the other in a vector."""
    values = []
    for bits in input_bits(component):
        values.append(vector & ((1 << bits) - 1))
        vector >>= bits
    if isinstance(component, ModularProduct):
        return values[0] * values[1] % component.modulus
    if isinstance(component, ModularSquare):
        return values[0] ** 2 % component.modulus
    return sum(values) % component.modulus


def check_random(components, seed, count=200):
    """Edges and random operands; those of all ports are independent of each other."""
    m, bits = components[0].modulus, len(components[0].result)
    generator = random.Random(seed)
    full = (1 << bits) - 1
    edges = [0, 1, 2, m - 1, m - 2, m // 2, 1 << bits - 1, full, full - 1, full // 3]

    def operand(k):
        if k % 3:
            return generator.getrandbits(bits) if k % 3 == 1 else generator.randrange(m)
        one = 1 << generator.randrange(bits)
        return generator.choice([*edges, one, full - one])

    longest = max(sum(input_bits(component)) for component in components)
    vectors = []
    for k in range(count):
        operands = [operand(k) << start for start in range(0, longest, bits)]
        vectors.append(sum(operands) & ((1 << longest) - 1))
    for component, results in zip(components, Bench(components).run(vectors), strict=True):
        for vector, result in zip(vectors, results, strict=True):
            assert result == wanted(component, vector), (hex(m), hex(vector))


LONG = [
    *(2**16, 2**16 - 1, 2**16 + 1, 2**16 + 85, 2**16 - 85, 3**10),
    *(2**32, 2**32 - 1, 2**32 + 1, 2**32 - 5, 0xB7E15163),
    *(2**64 - 2**32 + 1, 2**64 - 59, 2**64 + 1, 0xB7E151628AED2A6B),
    *(2**127 - 1, 2**128 - 159, 2**128 + 1),
]


KINDS = {
    "product": ModularProduct,
    "square": ModularSquare,
    "sum": lambda m: ModularSum(m, 5),
    "reduction": lambda m: ModularReduction(m, 2 * (m - 1).bit_length() + 3),
}


@pytest.mark.parametrize("m", [*map(slow, (2**31 - 2**27 + 1, *LONG))], ids=hex)
def test_long_operands(m):
    check_random([kind(m) for kind in KINDS.values()], seed=m)


# A product of 1,023 bits has a matrix of a million bits; what is short is among those above.
NAMED = {
    **{name: one.value for name, one in MODULI.items() if 32 < one.bits <= 256},
    "p-521": modulus_of("p-521"),
    "2^256 - 1": 2**256 - 1,
    "random, 256 bits": (7**90 % 2**256) | 1 << 255,
}


@pytest.mark.matrix
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMED)
def test_named_moduli(name, kind):
    m = NAMED[name]
    check_random([KINDS[kind](m)], seed=m, count=60)


@pytest.mark.parametrize("stages", [0, 2])
def test_more_bits_than_a_signal_may_have(monkeypatch, stages):
    """A matrix in several signals, the last of them shorter; in registers, too."""
    monkeypatch.setattr(compressor_tree, "LONGEST", 7)
    product = ModularProduct(61, stages=stages)
    vectors = [x | y << 6 for x in range(64) for y in range(64)]
    (results,) = Bench([product], latencies=[product.latency]).run(vectors)
    for vector, result in zip(vectors, results, strict=True):
        assert result == wanted(product, vector)


def test_bits_in_many_signals_take_no_more_memory(monkeypatch):
    """Amaranth lists all bits of a concatenation for each bit that is taken out of it."""

    def most_memory(longest):
        monkeypatch.setattr(compressor_tree, "LONGEST", longest)
        product = ModularProduct(2**16 - 1, counters=Counters.FULL_ADDERS, folding=Folding.ALWAYS)
        gc.collect()
        gc.disable()  # when it would run depends on the tests before, and the peak on when it ran
        tracemalloc.start()
        try:
            rtlil.convert(product, name="product", emit_src=False)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            gc.enable()

    assert 1.1 * most_memory(65535) > most_memory(100)


# --- Registers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [7, *map(slow, (13, 31, 32, 33, 43, 61, 2**16 - 15))])
def test_registers(m):
    """A new product in every cycle, `latency` cycles later, with any number of registers."""
    depth = ModularProduct(m).plan.depth
    components = [ModularProduct(m, stages=stages) for stages in range(depth + 2)]
    assert [component.latency for component in components] == list(range(depth + 2))
    generator = random.Random(m)
    bits = len(components[0].x)
    vectors = [generator.getrandbits(2 * bits) for _ in range(500)]
    bench = Bench(components, latencies=[component.latency for component in components])
    for results in bench.run(vectors):
        for vector, result in zip(vectors, results, strict=True):
            assert result == wanted(components[0], vector)


def test_more_registers_than_levels():
    depth = ModularProduct(13).plan.depth
    with pytest.raises(ValueError, match=rf"0\.\.{depth + 1}, not {depth + 2}"):
        ModularProduct(13, stages=depth + 2)


# --- Choices and refusals -----------------------------------------------------------------------


def test_square_has_half_the_matrix():
    for m in (2**16 - 1, 2**16 + 1, 2**16 - 15, 2**31 - 2**27 + 1):
        product, square = ModularProduct(m).plan, ModularSquare(m).plan
        assert square.count < 0.65 * product.count
        assert square.depth <= product.depth


def test_the_check_finds_a_wrong_digit(monkeypatch):
    digits = compressor_tree.residue_digits

    def wrong(weight, m, *, recoding):
        found = digits(weight, m, recoding=recoding)
        return found if weight != 6 else ((0, 1), *found[1:])

    monkeypatch.setattr(compressor_tree, "residue_digits", wrong)
    with pytest.raises(AssertionError):
        check_all([ModularProduct(13)])


def test_refusals():
    for refused, text in (
        (lambda: ModularProduct(2), "at least 3, not 2"),
        (lambda: ModularReduction(7, 0), "at least 1, not 0"),
        (lambda: ModularSum(7, 0), "at least 1, not 0"),
        (lambda: ModularProduct(7, network="ripple"), "ripple"),
        (lambda: ModularProduct(7, stages=-1), "not -1"),
    ):
        with pytest.raises(ValueError, match=text):
            refused()
    for refused in (
        lambda: ModularProduct(7.0),
        lambda: ModularReduction(7, 9.0),
        lambda: ModularSum(7, "3"),
    ):
        with pytest.raises(TypeError, match="must be an int, not"):
            refused()


def test_networks():
    check_all([ModularProduct(m, network=network) for m in (11, 15) for network in Network])


@pytest.mark.matrix(quick=3)
@pytest.mark.parametrize(
    "m",
    [
        *(2**31 - 1, 2**32 - 5, 2**33 + 1, *vassoler_pair(30)),
        *(modulus_of(name) for name in ("babybear", "dilithium", "goldilocks")),
        *(0xCB91CF, 0xF1446BEB, 0xEC1DA6EB8C9F),
    ],
)
def test_estimates_are_those_of_the_trees(m):
    """What multiples of a modulus are chosen by, beside what is built: within a sixth."""
    area, delay = product_estimate(m)
    plan = ModularProduct(m).plan
    assert abs(area / plan.area - 1) < 1 / 6
    assert abs(delay / plan.delay - 1) < 1 / 6
