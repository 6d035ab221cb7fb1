"""Every exponentiator on every family of lanes, through the registers. All against `pow`.

The bench compares each command's result, cycles and products with the prediction, too.
"""

import functools
import itertools
import random

import pytest

from coprime.catalog import FAMILIES
from coprime.device.accelerator import EngineError
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.exponentiators.exponentiation import WINDOWS, Exponentiation
from coprime.exponentiators.names import EXPONENTIATORS
from coprime.operations.encodings.radix import Radix
from coprime.program.builder import Builder
from coprime.program.operands import Context, Core, Entry
from coprime.program.steps import COUNTER_BITS, StepKind
from coprime.rsa.keys import generate
from tests.benches import open_bench

# By default few, since each engine takes seconds to build; together they have what is new of lists
# with bits and windows, on digits that no window divides.
FAST = [
    ("fdfm", "m-ary", {"max_bits": 96, "window": 4}),
    ("fdfm", "right-to-left", {"max_bits": 96}),
]
DESIGNS = [
    ("fdfm", {"max_bits": 96, "window": 4}),
    ("fdfm", {"max_bits": 300, "window": 2, "multipliers": 2}),
    ("montgomery-r2", {"max_bits": 96, "word": 11, "multipliers": 1, "window": 2}),
    ("montgomery-2csa", {"max_bits": 96, "word": 13, "multipliers": 1, "window": 4}),
    ("montgomery-1csa", {"max_bits": 130, "word": 24, "window": 4}),
    ("interleaved-csa", {"max_bits": 96, "word": 9, "multipliers": 1, "window": 4}),
    ("karatsuba", {"max_bits": 96, "word": 16, "latency": 2, "window": 4}),
    ("karatsuba", {"max_bits": 160, "word": 32, "multipliers": 1, "scaled": 1, "window": 4}),
    ("karatsuba", {"max_bits": 300, "word": 64, "multipliers": 1, "window": 1}),
]


def parameter(number, family, exponentiator, settings, *marks):
    """Of the fixture: one worker builds an engine, and does all of its tests."""
    name = f"{family}-{exponentiator}-{number}"
    return pytest.param(
        (family, settings | {"exponentiator": exponentiator}),
        id=name,
        marks=[pytest.mark.xdist_group(name), *marks],
    )


def with_each(*exponentiators):
    """Every design with each of them."""
    return [
        parameter(number, family, exponentiator, settings, pytest.mark.matrix)
        for number, (family, settings) in enumerate(DESIGNS)
        for exponentiator in exponentiators
    ]


@pytest.fixture(
    scope="module",
    params=[*(parameter("fast", *design) for design in FAST), *with_each(*EXPONENTIATORS)],
)
def bench(request):
    family, settings = request.param
    bench = open_bench(family, **settings)
    yield bench
    bench.device.close()


COUNTED = pytest.mark.parametrize("bench", with_each("repeated"), indirect=True)


def counts(bench):
    """Whether the exponent is counted down, so that a long one is refused."""
    return bench.design.exponentiation.name == "repeated"


def exponents(longest):
    """0, 1, all ones, single bits, windows of zeros, lengths that no window divides; random."""
    generator = random.Random(longest)
    yield from (0, 1, 2, 3)
    for bits in sorted({5, 7, 15, 16, 17, 18, 31, 33, longest - 1, longest}):
        if bits > longest:
            continue
        top = 1 << (bits - 1)
        zeros = sum(1 << k for k in range(bits) if k // 4 % 2)
        yield from (top, 2 * top - 1, top | 1, zeros | top, zeros >> 3 | top)
        yield generator.getrandbits(bits) | top


@pytest.mark.matrix(quick=1)
def test_modexp(bench):
    capabilities, generator = bench.design.capabilities, random.Random(1)
    for length in (capabilities.max_length, 50, 33):
        m = generator.getrandbits(length) | 1 << (length - 1) | 1
        short = counts(bench) and capabilities.multipliers == 1
        for e in exponents(10 if short else min(capabilities.max_length, 70)):
            x = generator.randrange(m)
            assert bench.accelerator.modexp(x, e, m).value == pow(x, e, m), (x, e, m)
        assert bench.accelerator.modexp(0, 0, m).value == 1
        assert bench.accelerator.modexp(m - 1, 5, m).value == m - 1


@pytest.mark.matrix(quick=1)
def test_leading_zeros_of_the_exponent(bench):
    longest, m, x = bench.design.capabilities.max_length, (1 << 60) - 93, 3
    for e in (0, 1, 257):
        for length in (9, 16, 17, 18, 19, 31, 32, 33, 34, 35, 51, 52, 64, longest):
            run = bench.accelerator.modexp(x, e, m, exponent_length=length)
            assert run.value == pow(x, e, m), (e, length)


def test_rsa_public(bench):
    key = generate(bench.design.capabilities.max_length, 17, seed=2)
    bench.accelerator.load_public(key.n, key.e)
    for x in (0, 1, key.n - 1, random.Random(2).randrange(key.n)):
        assert bench.accelerator.public(x).value == pow(x, key.e, key.n)


class Short:
    """A key whose private exponent is short enough to be counted down."""

    def __init__(self, key, d=257):
        self.n, self.p, self.q, self.d = key.n, key.p, key.q, d
        self.dp, self.dq = d % (key.p - 1), d % (key.q - 1)


def test_rsa_private(bench):
    capabilities = bench.design.capabilities
    keys = [
        generate(length, seed=length)
        for length in {64, min(69, capabilities.max_length), capabilities.max_length}
    ]
    keys = [*map(Short, keys), *([] if counts(bench) else keys)]
    for key in keys:
        generator = random.Random(key.n)
        bench.accelerator.load_private(key)
        for x in (0, 1, key.n - 1, key.p, key.n - key.q, generator.randrange(key.n)):
            assert bench.accelerator.private(x).value == pow(x, key.d, key.n)


@COUNTED
def test_exponents_that_are_too_long_to_count_down(bench):
    capabilities, m = bench.design.capabilities, (1 << 60) - 93
    assert counts(bench)
    longest = 1 << COUNTER_BITS
    if capabilities.multipliers == 1:
        assert bench.accelerator.modexp(3, 1000, m, exponent_length=70).value == pow(3, 1000, m)
        for e in (longest, longest + 1, 1 << 60):
            with pytest.raises(EngineError, match="too long to be counted down") as caught:
                bench.accelerator.modexp(3, e, m)
            assert caught.value.code is Error.EXPONENT_LENGTH
    key = generate(64, seed=5)
    for prime in ("dp", "dq", ""):
        numbers = Short(key)
        if prime:
            setattr(numbers, prime, longest)
            bench.accelerator.load_private(numbers)
            with pytest.raises(EngineError) as caught:
                bench.accelerator.private(2)
            assert caught.value.code is Error.EXPONENT_LENGTH
        else:
            bench.accelerator.load_private(numbers)
            assert bench.accelerator.private(2).value == pow(2, numbers.d, key.n)


@pytest.mark.matrix
@pytest.mark.parametrize("exponentiator", ["m-ary", "sliding-window"])
def test_exhaustive_small_exponents(exponentiator):
    """Every power of up to 5 bits, on digits of 5 bits, windows of 4."""
    bench = open_bench("montgomery-2csa", max_bits=5, multipliers=1, exponentiator=exponentiator)
    with bench.device:
        for x, e in itertools.product((0, 2, 20), range(32)):
            for length in {max(1, e.bit_length()), 5}:
                run = bench.accelerator.modexp(x, e, 21, exponent_length=length)
                assert run.value == pow(x, e, 21), (x, e, length)


@COUNTED
def test_the_longest_exponent_that_is_counted_down(bench):
    """On two multipliers it is not counted down."""
    m, e = (1 << 50) - 27, (1 << COUNTER_BITS) - 1
    assert counts(bench)
    if bench.design.capabilities.multipliers == 1:
        assert bench.accelerator.modexp(3, e, m).value == pow(3, e, m)


def test_cycles(bench):
    """In constant time the cycles tell the exponent's length alone; else they tell its bits."""
    capabilities, m = bench.design.capabilities, (1 << 60) - 93
    length = 10
    few, many = (
        {bench.accelerator.modexp(x, e, m, exponent_length=length).cycles for x in (0, 1, m - 1)}
        for e in (1 << (length - 1), (1 << length) - 1)
    )
    assert len(few) == len(many) == 1
    assert capabilities.constant_time == (bench.design.exponentiation.name == "fixed-window")
    if capabilities.constant_time or capabilities.multipliers == 2:
        assert few == many
    else:
        assert min(many) > max(few)


# --- Without hardware ---------------------------------------------------------------------------

LANES = [  # the families of lanes that have a choice
    name
    for name, family in FAMILIES.items()
    if {"max_bits", "exponentiator"} <= family.choose({}).values.keys()
]
SETTINGS = [
    (family, exponentiator, window, multipliers)
    for family in LANES
    for exponentiator in EXPONENTIATORS
    for window in WINDOWS
    for multipliers in (1, 2)
]


@functools.cache
def design_of(family, exponentiator, window, multipliers):
    settings = {"exponentiator": exponentiator, "window": window, "multipliers": multipliers}
    return FAMILIES[family].design(max_bits=96, **settings)


@pytest.mark.matrix(quick=72)
@pytest.mark.parametrize(("family", "exponentiator", "window", "multipliers"), SETTINGS)
def test_predicted_powers(family, exponentiator, window, multipliers):
    """The lists are right on integers, and do as many multiplications as their page tells."""
    design = design_of(family, exponentiator, window, multipliers)
    capabilities = design.capabilities
    assert capabilities.constant_time == (exponentiator == "fixed-window")
    m, x = (1 << 67) - 19, 0x123456789ABCDEF
    one = design.multiplication.products(capabilities.digits(67), capabilities.rounds(67))
    for e, length in ((0, 1), (1, 1), (0b1011_0000_1101_1, 13), (0b1110_1111, 20), (257, 9)):
        operands = Radix.of(capabilities).modulus_operands(m, 67) | {Operand.X: x, Operand.E: e}
        lengths = {Length.MODULUS: 67, Length.EXPONENT: length}
        run = design.predict(Command.MODEXP, operands, lengths)
        assert (run.error, run.result) == (Error.NONE, pow(x, e, m))
        if multipliers == 1:
            least = multiplications(exponentiator, window, e, length)
            even = family != "fdfm"  # its windows divide the digits, or do not
            rounded = -(-length // window) * window if even else length
            if exponentiator in ("fixed-window", "m-ary"):
                least += rounded - length
            assert run.products == least * one


def multiplications(exponentiator, window, e, length):
    """How many, with three for going in and out: X, 1 and the result."""
    n, ones = e.bit_length(), e.bit_count()
    windows = [e >> k & (1 << window) - 1 for k in range(0, length, window)]
    last = {
        "left-to-right": n + ones,
        "right-to-left": length + ones,
        "repeated": e,
        "fixed-window": 1 + (1 << window) - 2 + length + len(windows),
        "m-ary": (1 << window) - 2 + length + sum(map(bool, windows)),
        "sliding-window": sliding(window, e),
    }
    return 3 + last[exponentiator]


def sliding(window, e):
    """By its rule: a window begins with a 1; where fewer bits are left, each 1 is one."""
    count, bits = 0, f"{e:b}" if e else ""
    rest = bits
    while "1" in rest:
        rest = rest[rest.index("1") :]
        rest = rest[window if len(rest) >= window else 1 :]
        count += 1
    return (1 << window >> 1) + window - 2 + len(bits) + count


def test_tables():
    """Every entry that a list reads is made; and every one that is made has its place."""
    table = {Entry.at(entry) for entry in range(16)}
    for name in EXPONENTIATORS:
        for window in WINDOWS:
            own = Exponentiation(name, window)
            code = Builder(Context.P)
            own.power(code)
            made = {step.destination for step in code.steps} & table
            assert made == set(own.table)
            read = {factor for step in code.steps for factor in (step.x, step.y)}
            assert read & table <= made


@pytest.mark.parametrize("exponentiator", EXPONENTIATORS)
@pytest.mark.parametrize("family", LANES)
def test_no_factor_is_overwritten_while_it_is_read(family, exponentiator):
    """The multiplicand may stream while the result is written."""
    for window, multipliers in itertools.product(WINDOWS, (1, 2)):
        for program in design_of(family, exponentiator, window, multipliers).programs:
            for step in program.steps:
                if step.kind is StepKind.MULTIPLY:
                    assert step.destination not in (step.x, step.y, Core.ACCUMULATOR), step


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"exponentiator": "binary"}, "exponentiator must be one of left-to-right, .*'binary'"),
        ({"window": 3}, "window must be 1, 2 or 4, not 3"),
    ],
)
def test_refused(settings, text):
    with pytest.raises(ValueError, match=text):
        FAMILIES["fdfm"].design(**settings)


def test_a_window_is_no_longer_than_a_digit():
    settings = {"max_bits": 3, "exponentiator": "sliding-window"}
    with pytest.raises(ValueError, match="window must be at most 3, a digit's bits, not 4"):
        FAMILIES["montgomery-2csa"].design(**settings)
    assert FAMILIES["montgomery-2csa"].design(**settings, window=2)


@pytest.mark.parametrize("exponentiator", EXPONENTIATORS)
def test_the_memory_holds_the_table(exponentiator):
    """Beside operands and primes of at least half the modulus's length, and nothing overlaps."""
    for window, multipliers in itertools.product(WINDOWS, (1, 2)):
        for bits in (1024, 2048, 2176, 4096, 8192):
            design = FAMILIES["fdfm"].design(bits, multipliers, exponentiator, window)
            layout, capabilities = design.layout, design.capabilities
            assert capabilities.max_prime_length >= bits / 2
            entry = capabilities.max_digits if multipliers == 1 else capabilities.max_prime_digits
            used = sorted(base for location, base in layout.bases.items())
            assert len(set(used)) == len(used)
            assert used[-1] + (entry if design.exponentiation.table else 1) <= layout.depth


@pytest.mark.parametrize(
    ("exponentiator", "window", "one", "two"),
    [
        ("left-to-right", 4, 2308, 2308),
        ("m-ary", 2, 1919, 2089),
        ("fixed-window", 4, 1103, 1492),
        ("sliding-window", 4, 1443, 1766),
    ],
)
def test_one_block_ram_holds_what_the_page_says(exponentiator, window, one, two):
    for multipliers, longest in ((1, one), (2, two)):
        depths = [
            FAMILIES["fdfm"].design(bits, multipliers, exponentiator, window).layout.depth
            for bits in (longest, longest + 1)
        ]
        assert depths == [2048, 4096]
