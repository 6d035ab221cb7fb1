"""What only the karatsuba engine has to show; see test_families.py for what every engine has."""

import itertools
import random

import pytest
from amaranth.hdl import Fragment, MemoryInstance, ResetInserter, Signal
from amaranth.sim import Simulator
from cryptography.hazmat.primitives.asymmetric import rsa

from coprime.cells.facts import WIDTHS
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.karatsuba import karatsuba
from coprime.exponentiators.exponentiation import WINDOWS
from coprime.operations.encodings.radix import Radix
from coprime.operations.encodings.rsa_key import private_operands
from tests.benches import open_bench
from tests.engine.ports import EnginePorts


@pytest.fixture(scope="module")
def small():
    """The words of 16 bits."""
    bench = open_bench("karatsuba", max_bits=64, word=16, latency=2)
    yield bench
    bench.device.close()


# --- Results ------------------------------------------------------------------------------------


@pytest.mark.matrix(quick=3)
@pytest.mark.xdist_group("karatsuba, 16-bit words")
@pytest.mark.parametrize(
    "m",
    [
        *range(1, 16, 2),
        *(31, 33),
        *(
            pytest.param(m, marks=pytest.mark.matrix)
            for m in (*range(17, 31, 2), *range(35, 64, 2))
        ),
    ],
)
def test_exhaustive_small_moduli(small, m):
    """Every X and Y below some odd M of up to 6 bits; in the long sweep below all."""
    run = small.accelerator.modmul
    for x in range(m):
        for y in range(m):
            assert run(x, y, m).value == x * y % m


@pytest.mark.xdist_group("karatsuba, 16-bit words")
@pytest.mark.parametrize("m", [1, 3, 5, 21, pytest.param(63, marks=pytest.mark.matrix)])
def test_exhaustive_small_exponents(small, m):
    """Every X below M, to every power of up to 5 bits."""
    for x in range(m):
        for e in range(32):
            assert small.accelerator.modexp(x, e, m).value == pow(x, e, m)


def real_key(bits):
    """A key that the `cryptography` package made."""
    return rsa.generate_private_key(public_exponent=65537, key_size=bits).private_numbers()


class Numbers:
    """Of a key of that package, as the driver wants them."""

    def __init__(self, key):
        self.n, self.d = key.public_numbers.n, key.d
        self.p, self.q, self.dp, self.dq = key.p, key.q, key.dmp1, key.dmq1


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("bits", "settings"),
    [
        pytest.param(1024, {}, marks=pytest.mark.xdist_group("karatsuba")),  # built there, too
        *(
            pytest.param(bits, {"max_bits": 2048, **settings}, marks=pytest.mark.matrix)
            for bits in (1024, 2048)
            for settings in (
                {"word": 64},
                {"word": 64, "multipliers": 1},
                {"word": 16, "latency": 3},
                {"word": 32, "exponentiator": "left-to-right"},
                {"word": 64, "scaled": 1},
                {"word": 64, "multipliers": 1, "interleaved": 1},
                {"word": 128, "multipliers": 1, "interleaved": 1, "scaled": 1},
            )
        ),
    ],
)
def test_private_operations_of_real_keys(bits, settings):
    key = real_key(bits)
    own = Numbers(key)
    bench = open_bench("karatsuba", **settings)
    with bench.device:
        bench.accelerator.load_private(own)
        for x in (0, 1, own.n - 1, own.p, own.n - own.q, random.Random(bits).randrange(own.n)):
            assert bench.accelerator.private(x).value == pow(x, own.d, own.n)
        message = random.Random(1).randrange(own.n)
        bench.accelerator.load_public(own.n, 65537)
        secret = bench.accelerator.public(message).value
        assert secret == pow(message, 65537, own.n)
        assert bench.accelerator.private(secret).value == message


# --- Secrets ------------------------------------------------------------------------------------


def parts(fragment):
    """A fragment and everything below it."""
    yield fragment
    for sub, *_ in fragment.subfragments:
        yield from parts(sub)


def multipliers_of(fragment):
    """The fragments of the engine's multipliers."""
    for part in parts(fragment):
        for sub, name, *_ in part.subfragments:
            if name == "multiplier":
                yield sub


def left_over(context, fragments):
    """Every word in the multipliers' memories and every register of a word that is not zero."""
    found = {}
    for part in itertools.chain.from_iterable(map(parts, fragments)):
        if isinstance(part, MemoryInstance):
            words = [part._data[address] for address in range(part._data.depth)]
            found |= {f"{k}": word for k, word in enumerate(map(context.get, words)) if word}
        for domain, statements in part.statements.items():
            for signal in statements._lhs_signals() if domain != "comb" else ():
                if len(signal) >= 16 and (value := context.get(signal.as_unsigned())):
                    found[signal.name] = value
    return found


class Bench(EnginePorts):
    """An engine whose multipliers are seen from inside, with a reset."""

    def __init__(self, **settings):
        super().__init__(karatsuba(**settings))
        self.reset = Signal()
        self.fragment = Fragment.get(ResetInserter(self.reset)(self.engine), None)
        self.multipliers = list(multipliers_of(self.fragment))
        assert len(self.multipliers) == self.design.capabilities.multipliers

    def run(self, process):
        simulator = Simulator(self.fragment)
        simulator.add_clock(1e-8)
        simulator.add_testbench(process)
        simulator.run()


def modexp_operands(bench, bits, e_bits):
    """Operands of a MODEXP; and its lengths."""
    generator = random.Random(bits)
    m = generator.getrandbits(bits) | 1 << (bits - 1) | 1
    x, e = generator.randrange(m), generator.getrandbits(e_bits) | 1 << (e_bits - 1)
    operands = Radix.of(bench.design.capabilities).modulus_operands(m, bits)
    operands |= {Operand.E: e, Operand.X: x}
    return (x, e, m), operands, {Length.MODULUS: bits, Length.EXPONENT: e_bits}


TWO = {"max_bits": 64, "word": 16, "latency": 3, "multipliers": 2}
ONE = {"max_bits": 64, "word": 32, "latency": 6, "multipliers": 1}
SCALED = {**ONE, "scaled": 1}
INTERLEAVED = {**SCALED, "interleaved": 1}
LANES = pytest.mark.parametrize(
    "settings",
    [INTERLEAVED, *(pytest.param(each, marks=pytest.mark.matrix) for each in (ONE, TWO))],
)
SOME_LANES = pytest.mark.parametrize(
    "settings",
    [ONE, *(pytest.param(each, marks=pytest.mark.matrix) for each in (TWO, SCALED, INTERLEAVED))],
)


@LANES
def test_wipe_forgets_what_the_multipliers_hold(settings):
    """Their memories, and every register, through to the last of the pipelines."""
    bench = Bench(**settings)
    _, operands, lengths = modexp_operands(bench, 64, 9)

    async def process(context):
        await bench.load(context, operands, lengths)
        await bench.start(context, Command.MODEXP)
        assert (await bench.finish(context))[1] is Error.NONE
        assert len(left_over(context, bench.multipliers)) > 10
        await bench.start(context, Command.WIPE)
        assert await bench.finish(context) == (1 + bench.design.layout.depth, Error.NONE)
        await context.tick().repeat(20)
        assert left_over(context, bench.multipliers) == {}

    bench.run(process)


@SOME_LANES
@pytest.mark.parametrize("step", [20, pytest.param(5, marks=pytest.mark.matrix)])
def test_wipe_after_a_reset_at_any_moment_of_a_multiplication(settings, step):
    bench = Bench(**settings)
    _, operands, lengths = modexp_operands(bench, 64, 9)
    digits = bench.design.capabilities.digits(64)
    cycles = bench.design.multiplication.cycles(digits, digits)

    async def process(context):
        await bench.load(context, operands, lengths)
        for pause in range(250, 250 + cycles, step):
            await bench.load(context, operands, lengths)
            await bench.start(context, Command.MODEXP)
            await context.tick().repeat(pause)
            context.set(bench.reset, 1)
            await context.tick()
            context.set(bench.reset, 0)
            await bench.start(context, Command.WIPE)
            await bench.finish(context)
            await context.tick().repeat(20)
            assert left_over(context, bench.multipliers) == {}, pause

    bench.run(process)


@pytest.mark.matrix
@pytest.mark.parametrize("settings", [ONE, TWO, SCALED, INTERLEAVED])
def test_another_command_after_a_reset_at_any_moment(settings):
    """The operands are in memory still: no word of them is written by what was under way."""
    bench = Bench(**settings)
    (x, e, m), operands, lengths = modexp_operands(bench, 64, 5)
    capabilities = bench.design.capabilities
    cycles = bench.design.multiplication.cycles(capabilities.digits(64), capabilities.digits(64))

    async def process(context):
        await bench.load(context, operands, lengths)
        for pause in range(250, 250 + cycles, 5):
            await bench.start(context, Command.MODEXP)
            await context.tick().repeat(pause)
            context.set(bench.reset, 1)
            await context.tick()
            context.set(bench.reset, 0)
            await bench.start(context, Command.MODEXP)
            assert (await bench.finish(context))[1] is Error.NONE
            assert await bench.result(context, capabilities.digits(64)) == pow(x, e, m), pause

    bench.run(process)


def test_unequal_lengths_of_interleaved_primes():
    """Their halves would not keep step; and equal ones go on, whatever the primes' own lengths."""
    bench = Bench(**INTERLEAVED)
    capabilities = bench.design.capabilities
    n, (p, q), d, x = 61 * 4051, (4051, 61), 17, 12345

    async def process(context):
        for lengths, expected in (((12, 6), Error.LENGTH_ZERO), ((12, 12), Error.NONE)):
            operands = private_operands(
                Radix.of(capabilities), n, (p, q), (d % (p - 1), d % (q - 1)), 18, lengths
            )
            operands[Operand.X] = x
            in_bits = {Length.MODULUS: 18, Length.P: lengths[0], Length.Q: lengths[1]}
            await bench.load(context, operands, in_bits)
            await bench.start(context, Command.RSA_PRIVATE)
            cycles, error = await bench.finish(context)
            prediction = bench.design.predict(Command.RSA_PRIVATE, operands, in_bits)
            assert (cycles, error) == (prediction.cycles, prediction.error)
            assert error is expected
        assert (
            await bench.result(context, capabilities.digits(18))
            == pow(x, d, n)
            == prediction.result
        )

    bench.run(process)


# --- Design -------------------------------------------------------------------------------------

EXPONENTIATIONS = (
    {"exponentiator": "left-to-right"},
    *({"exponentiator": "fixed-window", "window": window} for window in WINDOWS),
)
DESIGNS = [
    {
        "max_bits": bits,
        "word": word,
        "multipliers": multipliers,
        **exponentiation,
        "scaled": scaled,
    }
    for bits in (64, 65, 122, 123, 126, 127, 128, 254, 255, 512, 1024, 2048, 4096, 8192)
    for word in WIDTHS
    for exponentiation in EXPONENTIATIONS
    for multipliers in (1, 2)
    for scaled in (0, 1)
    if scaled or bits >= word - 1
]


def test_a_key_of_the_longest_modulus_fits():
    """Primes of half of the bits, and never of fewer words than the multiplier works on."""
    for settings in DESIGNS:
        capabilities = karatsuba(**settings).capabilities
        shortest = capabilities.digits(capabilities.min_length)
        assert shortest == 2
        assert capabilities.max_length == settings["max_bits"]
        assert capabilities.max_prime_length >= -(-settings["max_bits"] // 2)
        assert capabilities.max_prime_digits >= shortest, settings


def test_sums_fit_the_words():
    """S is below X + M, and X below 2M: 3M has as many words as M has with its headroom."""
    for settings in DESIGNS:
        capabilities = karatsuba(**settings).capabilities
        largest = (1 << settings["max_bits"]) - 1
        if settings["scaled"]:
            largest *= (1 << settings["word"]) - 1
        assert 3 * largest < 1 << (settings["word"] * capabilities.max_digits)


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"max_bits": 63}, ValueError, r"max_bits must be in 64\.\.8192, not 63"),
        ({"max_bits": 8193}, ValueError, r"max_bits must be in 64\.\.8192, not 8193"),
        ({"max_bits": "64"}, TypeError, "max_bits must be an int, not '64'"),
        ({"word": 17}, ValueError, "word must be 16, 32, 64 or 128, not 17"),
        ({"latency": 0}, ValueError, r"latency must be in 1\.\.13, not 0"),
        ({"latency": 14}, ValueError, r"latency must be in 1\.\.13, not 14"),
        (
            {"max_bits": 64, "word": 128},
            ValueError,
            "max_bits must be 127 or more for words of 128",
        ),
        ({"scaled": 2}, ValueError, r"scaled must be in 0\.\.1, not 2"),
        ({"interleaved": 1}, ValueError, "interleaved needs multipliers=1 and exponentiator=fixed"),
        (
            {"interleaved": 1, "multipliers": 1, "exponentiator": "m-ary"},
            ValueError,
            "interleaved needs multipliers=1 and exponentiator=fixed-window",
        ),
        ({"multipliers": 3}, ValueError, r"multipliers must be in 1\.\.2, not 3"),
        ({"window": 3}, ValueError, "window must be 1, 2 or 4, not 3"),
    ],
)
def test_refused_parameters(settings, error, text):
    with pytest.raises(error, match=text):
        karatsuba(**settings)
