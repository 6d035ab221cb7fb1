"""The multiplier against integers, and its cycles against `RingMultiplication`."""

import random
from itertools import product as pairs_of

import pytest

from coprime.cells.tiles import TILES
from coprime.model.montgomery import inverse
from coprime.multipliers.ring.multiplication import RingMultiplication
from tests.multipliers.ring.ring_bench import ONE, Product, chained, run, tiny_tiles

POWER = chained(
    Product(2, 3, 4),
    Product(4, 4, 4),
    Product(4, 4, 4),
    Product(4, 3, 5),
    Product(5, ONE, 6, descale=True),
)
"""x * y squared twice, in its own place, times y, and out of Montgomery form modulo M."""


_SHAPES = [(1, 0, False), (2, 0, False), (2, 1, False)]
_NAMES = ("tiles", "delay", "skewed")
_OTHERS = [(1, 0, True), (1, 1, False), (1, 1, True)]
ALL_SHAPES = pytest.mark.parametrize(
    _NAMES, [*_SHAPES, *_OTHERS[:2], pytest.param(*_OTHERS[2], marks=pytest.mark.matrix)]
)
SHAPES = pytest.mark.parametrize(
    _NAMES, [*_SHAPES, *(pytest.param(*one, marks=pytest.mark.matrix) for one in _OTHERS)]
)
"""Tiles, the delay of q, and whether sums are skewed, which a power tests every time."""


def each_with_a_shape(names, values):
    """Three values, each with one shape, and each shape with one; in the long sweep all pairs."""
    pairs = [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            *shape,
            marks=[] if k == number else pytest.mark.matrix,
        )
        for k, value in enumerate(values)
        for number, shape in enumerate([*_SHAPES, *_OTHERS])
    ]
    return pytest.mark.parametrize((*names.split(", "), *_NAMES), pairs)


def modulus_of(inner, word, generator, delay=0):
    bits = word * (inner - 1 - delay) - 2
    return generator.getrandbits(bits) | 1 << bits - 1 | 1


def whole(modulus, word, delay=0):
    """c * M."""
    return inverse(modulus, word * (1 + delay)) * modulus


def multiplied(x, y, modulus, word, rounds, descale, delay=0):
    """The one integer that Montgomery's method has."""
    whole_bits = word * (rounds - (1 + delay if descale else 0))
    c_m = whole(modulus, word, delay)
    q = -x * y * pow(c_m, -1, 1 << whole_bits) % (1 << whole_bits)
    s = x * y + q * c_m >> whole_bits
    for _ in range(1 + delay if descale else 0):
        s = s + (s * inverse(modulus, word) % (1 << word)) * modulus >> word
    assert s % modulus == x * y * pow(2, -word * rounds, modulus) % modulus
    return s


def times(multiplication, products, inner, longest):
    """Cycles of `done` and the first idle one, from a preparation that is asked for in cycle 0."""
    dones = [multiplication.prepare_cycles(longest or inner)]
    idle, joins, closes = dones[0] + 1, -1, -1
    for product in products:
        rounds = product.rounds or inner
        count = multiplication.words(inner, rounds)
        shift = multiplication.shift(rounds, count, product.descale)
        start = idle if product.wait is None else dones[-1] + 1 + product.wait
        start = max(start, dones[-1] + 1)
        follows = product.follows and start + multiplication.ASKING <= joins
        takes = (
            closes
            if follows
            else max(idle, start + multiplication.ASKING) + multiplication.loading(count, shift)
        )
        closes = takes + multiplication.period(count)
        joins = takes + sum(multiplication.step(s, count) for s in range(count + 1))  # step D
        drained = closes + multiplication.draining(count)
        dones.append(takes)
        if product.descale:
            dones[-1] = drained = multiplication.rounds_after(
                drained - multiplication.settling, count
            )
            joins = -1
        idle = drained + 1
    return dones, idle


def check(tiles, modulus, operands, products, *, inner, delay=0, **options):
    """Run the products, and compare results, cycles and products of words."""
    outcome = run(tiles, modulus, operands, products, inner=inner, delay=delay, **options)
    word = tiles[0].WORD
    values = dict(operands)
    for product in products:
        x, y = values[product.x], 1 if product.y == ONE else values[product.y]
        rounds = product.rounds or inner
        values[product.to] = multiplied(x, y, modulus, word, rounds, product.descale, delay)
    for place in {product.to for product in products}:
        assert outcome.operands[place] == values[place], f"operand {place}"
    skew = int(tiles[0].skewed)
    multiplication = RingMultiplication(
        word, tiles[0].latency(holds=len(tiles) == 2), len(tiles), delay, skew
    )
    dones, idle = times(multiplication, products, inner, options.get("longest"))
    assert (outcome.dones, outcome.idle) == (dones, idle)
    assert outcome.multiplying == sum(
        multiplication.products(inner, product.rounds or inner) for product in products
    )
    return values


@pytest.mark.matrix(quick=2)
@pytest.mark.covering(2)
@ALL_SHAPES
@pytest.mark.parametrize(
    ("word", "D", "latency"),
    [
        (3, 9, 4),
        *(
            pytest.param(*case, marks=pytest.mark.matrix)
            for case in (*((8, 7, 6), (24, 11, 5), (8, 7, 7), (8, 8, 4), (4, 12, 5), (17, 13, 4)),)
        ),
    ],
)
def test_power(word, D, latency, tiles, delay, skewed):
    """A chain that ends modulo M, then one that is not left, then one product alone."""
    if tiles == 1:
        D -= 2 if D < 9 else 0
    generator = random.Random(100 * word + D)
    modulus = modulus_of(D, word, generator, delay)
    x, y = generator.randrange(modulus), generator.randrange(modulus)
    again = chained(Product(2, 2, 7, wait=None), Product(7, 7, 7), Product(7, ONE, 7))
    products = [*POWER, *again, Product(6, 6, 3, descale=True, wait=None), Product(3, 2, 5)]
    some = tiny_tiles(word, latency, D, tiles, skewed=skewed)
    watch = word < 17
    left = check(some, modulus, {2: x, 3: y}, products, inner=D, delay=delay, watch=watch)[6]
    R = pow(2, word * D, modulus)
    assert left % modulus == pow(x * y, 4, modulus) * y * pow(R, -9, modulus) % modulus
    assert left < 2 * modulus


@pytest.mark.matrix(quick=2)
@pytest.mark.covering(2)
@pytest.mark.parametrize(
    ("tiles", "delay"), [(1, 0), (2, 0), (2, 1), pytest.param(1, 1, marks=pytest.mark.matrix)]
)
@pytest.mark.parametrize(
    ("name", "D"),
    [
        *(("one17", 7), ("adk2x16", 7)),
        *(
            pytest.param(name, D, marks=pytest.mark.matrix)
            for name, D in (("bal50", 13), ("bal50", 22), ("kara95", 12))
        ),
    ],
)
def test_power_on_a_tile(name, D, tiles, delay):
    """One tile is skewed if it can be, as in the engine."""
    tile = TILES[name]
    skewed = tile.SKEWS and tiles == 1
    products = RingMultiplication(tile.WORD, tile.LATENCY, tiles).sum_products(D)
    generator = random.Random(D)
    modulus = modulus_of(D, tile.WORD, generator, delay)
    operands = {2: generator.randrange(modulus), 3: generator.randrange(modulus)}
    some = [tile(products, skewed=skewed, holds=tiles == 2) for _ in range(tiles)]
    check(some, modulus, operands, POWER, inner=D, delay=delay)


@pytest.mark.matrix(quick=1)
@pytest.mark.covering(2)
@each_with_a_shape("shape", ["ones", "lowest", "sparse"])
def test_extreme_operands(shape, tiles, delay, skewed):
    """0, 1 and 2cM - 1 times one another, each product from an idle multiplier."""
    word, D, latency = 17, RingMultiplication(17, 6, tiles).least + 1, 6
    bits = word * (D - 1 - delay) - 2
    modulus = {
        "ones": (1 << bits) - 1,
        "lowest": (1 << bits - 1) + 1,
        "sparse": (1 << bits) - (1 << bits // 2) - 1,
    }[shape]
    operands = {2: 0, 3: 1, 4: 2 * whole(modulus, word, delay) - 1}
    pairs = [(x, y) for x, y in pairs_of(operands, repeat=2) if x <= y]
    products = [Product(x, y, 5 + n, wait=None) for n, (x, y) in enumerate(pairs)]
    some = tiny_tiles(word, latency, D, tiles, skewed=skewed)
    options = {"inner": D, "delay": delay, "watch": True, "slots": 16}
    check(some, modulus, operands, products, **options)


@pytest.mark.matrix(quick=1)
@SHAPES
def test_largest_sums(tiles, delay, skewed):
    """Words of ones, and a modulus whose M' has them: sums near the ends of their ranges.

    With c = 2^(w(1+d)) - 1, M' can be any number that is 1 modulo c. X and Y are above 2cM, but
    small enough for the result. A bit less in any sum of `sum_bits`, and a result is wrong.
    """
    word, D = 9, 8
    top, c, R = (1 << word) - 1, (1 << word * (1 + delay)) - 1, 1 << word * D
    scaled = (1 << word * (D - 1 - delay) - 2) - 1
    scaled -= (scaled - 1) % c
    modulus, remainder = divmod((scaled << word * (1 + delay)) - 1, c)
    assert remainder == 0
    assert inverse(modulus, word * (1 + delay)) == c
    ones = top * 6 // 7 << word * (D - 1) | (R >> word) - 1
    half = word * D // 2
    high, low = ones >> half << half, (1 << half) - 1
    operands = {2: ones, 3: high, 4: low}
    products = [
        Product(x, y, 5 + n, wait=None) for n, (x, y) in enumerate(((2, 2), (3, 3), (3, 4)))
    ]
    some = tiny_tiles(word, 6, D, tiles, skewed=skewed)
    check(some, modulus, operands, products, inner=D, delay=delay, watch=True)


@pytest.mark.covering(2)
@SHAPES
@pytest.mark.parametrize(
    "latency", [4, 7, *(pytest.param(n, marks=pytest.mark.matrix) for n in (5, 6))]
)
@pytest.mark.parametrize("D", [2, 4, pytest.param(3, marks=pytest.mark.matrix)])
@pytest.mark.matrix
def test_few_words(D, latency, tiles, delay, skewed):
    """Operands of fewer words than a product can have are shifted, those of squares too."""
    D += delay
    generator = random.Random(D)
    modulus = modulus_of(D, 9, generator, delay)
    operands = {2: generator.randrange(modulus), 3: generator.randrange(modulus)}
    squares = chained(Product(2, 2, 7, wait=None), Product(7, 7, 7), Product(7, 3, 7, descale=True))
    products = [*POWER, *squares]
    check(
        tiny_tiles(9, latency, 7, tiles, skewed=skewed),
        modulus,
        operands,
        products,
        inner=D,
        delay=delay,
    )


@pytest.mark.covering(2)
@each_with_a_shape("rounds, word", [(4, 5), (5, 17), (9, 5)])
def test_rounds_and_words_that_differ(rounds, word, tiles, delay, skewed):
    """Y is shorter or longer than X and c * M, and another modulus may be longer still."""
    generator = random.Random(rounds + word)
    inner = 6
    modulus = modulus_of(inner, word, generator, delay)
    y = generator.getrandbits(word * (rounds - 1))
    operands = {2: generator.randrange(modulus), 3: y}
    products = chained(
        Product(2, 3, 4, rounds=rounds),
        Product(4, 3, 5, rounds=rounds),
        Product(5, ONE, 5, rounds=rounds, descale=True),
    )
    some = tiny_tiles(word, 5, 11, tiles, skewed=skewed)
    check(some, modulus, operands, products, inner=inner, delay=delay, longest=8)


@pytest.mark.covering(2)
@each_with_a_shape("wait", [1, 40, 80])
def test_product_that_is_asked_for_later(wait, tiles, delay, skewed):
    """It follows if it is asked for before step D ends, or begins with nothing under way."""
    generator = random.Random(wait)
    modulus = modulus_of(6, 8, generator, delay)
    operands = {2: generator.randrange(modulus), 3: generator.randrange(modulus)}
    products = [
        Product(2, 3, 4),
        Product(4, 3, 5, follows=True, wait=wait),
        Product(5, 5, 6, follows=True),
    ]
    some = tiny_tiles(8, 5, 7, tiles, skewed=skewed)
    check(some, modulus, operands, products, inner=6, delay=delay)


@pytest.mark.matrix(quick=2)
@ALL_SHAPES
@pytest.mark.parametrize("D", [6, pytest.param(9, marks=pytest.mark.matrix)])
def test_any_product_follows_any_other(D, tiles, delay, skewed):
    """Either factor, both or none is the result under way, and none is waited for."""
    D += delay
    generator = random.Random(D)
    word = 7
    modulus = modulus_of(D, word, generator, delay)
    operands = {place: generator.randrange(modulus) for place in (2, 3, 4)}
    of_factors = [(2, 3), (4, 2), (5, 3), (4, 5), (5, 5), (3, 3), (2, 5), (2, 2), (5, 4), (4, 3)]
    products = chained(*(Product(x, y, 5, wait=n) for n, (x, y) in enumerate(of_factors)))
    products += [Product(5, ONE, 6, follows=True), Product(2, ONE, 6, follows=True, descale=True)]
    some = tiny_tiles(word, 6, D, tiles, skewed=skewed)
    check(some, modulus, operands, products, inner=D, delay=delay, watch=True)


@pytest.mark.matrix(quick=1)
@SHAPES
def test_last_cycle_in_which_a_product_can_follow(tiles, delay, skewed):
    """One cycle later, it takes as long as one that does not follow."""
    multiplication, D = RingMultiplication(8, 5, tiles, delay, int(skewed)), 8
    generator = random.Random(1)
    modulus = modulus_of(D, 8, generator, delay)
    operands = {2: generator.randrange(modulus), 3: generator.randrange(modulus)}
    last = sum(multiplication.step(s, D) for s in range(D + 1)) - 1 - multiplication.ASKING
    waits = []
    for wait in (last, last + 1):
        products = [Product(2, 3, 4), Product(4, 3, 5, follows=True, wait=wait)]
        check(
            tiny_tiles(8, 5, D, tiles, skewed=skewed),
            modulus,
            operands,
            products,
            inner=D,
            delay=delay,
        )
        dones, _ = times(multiplication, products, D, None)
        waits.append(dones[2] - dones[1])
    assert waits[0] == multiplication.period(D) < waits[1]


@SHAPES
def test_even_inverse_is_a_fault(tiles, delay, skewed):
    some, products = tiny_tiles(8, 5, 7, tiles, skewed=skewed), [Product(2, 3, 4)]
    with pytest.raises(AssertionError, match="fault"):
        run(some, (1 << 20) + 2, {2: 1, 3: 1}, products, inner=5, delay=delay)


@pytest.mark.covering(3)
@pytest.mark.matrix
@SHAPES
@pytest.mark.parametrize("latency", [4, 5, 6, 7])
@pytest.mark.parametrize("D", range(5, 15))
def test_every_length_around_the_loop(D, latency, tiles, delay, skewed):
    """Where steps wait for the newest word, and where they do not."""
    if tiles == 2:
        D += 2 if delay else 9  # a step is half as long
    generator = random.Random(D)
    modulus = modulus_of(D, 9, generator, delay)
    operands = {2: generator.randrange(modulus), 3: generator.randrange(modulus)}
    check(
        tiny_tiles(9, latency, D, tiles, skewed=skewed),
        modulus,
        operands,
        POWER,
        inner=D,
        delay=delay,
    )


def test_words_of_a_result_that_come_before_the_last_step_ends():
    """As of long numbers with delayed q: the first column of the result ends with step D."""
    test_every_length_around_the_loop(12, 4, 2, 1, skewed=False)


@pytest.mark.parametrize(
    ("word", "modulus", "tiles", "delay"),
    [
        (2, 3, 1, 0),
        *(
            pytest.param(*case, marks=pytest.mark.matrix)
            for case in (
                *((2, 3, 1, 1), (2, 3, 2, 0), (2, 3, 2, 1)),
                *((3, 3, 1, 0), (3, 5, 1, 0), (3, 5, 2, 0)),
            )
        ),
    ],
)
@pytest.mark.matrix
def test_every_operand_of_tiny_words(word, modulus, tiles, delay):
    """Each x and y below 2cM, in words that are smaller than any tile's."""
    limit = 2 * whole(modulus, word, delay)
    count = next(n for n in range(2, 9) if 2 * limit < 1 << word * n)
    xs, ys = range(2, 7), range(7, 11)
    for high, low in pairs_of(range(0, limit, len(xs)), range(0, limit, len(ys))):
        operands = {place: min(high + n, limit - 1) for n, place in enumerate(xs)}
        operands |= {place: min(low + n, limit - 1) for n, place in enumerate(ys)}
        products = [Product(x, y, 11 + n, wait=None) for n, (x, y) in enumerate(pairs_of(xs, ys))]
        some = tiny_tiles(word, 4, 7, tiles)
        check(some, modulus, operands, products, inner=count, delay=delay, watch=True, slots=32)
