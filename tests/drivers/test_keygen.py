"""The C driver's generation of keys: its parts, on a model of the registers, and simulated."""

import ctypes
import itertools
import math
import random

import pytest
from cryptography.hazmat.primitives import serialization

from coprime.engine.contract import Command
from coprime.rsa.keys import RsaPrivateKey, private_pem
from coprime.rsa.primes import is_prime, miller_rabin_rounds
from tests.drivers.bindings import Memory, PrivateKey, opened, words
from tests.drivers.harness import (
    DRIVER,
    DRIVERS,
    HARNESS,
    KEYGEN,
    SANITIZERS,
    Harness,
    can_compile,
    compile_c,
    octets,
    simulation_of,
)
from tests.rsa.test_generation import primes_for
from tests.rsa.test_primes import TESTS

pytestmark = [pytest.mark.xdist_group("drivers, key generation"), pytest.mark.matrix]

UNSUPPORTED, LENGTH_OVER = 1, 3
MEMORY, KEY, FAULT, SIZE, RANDOM, PRIME, STOPPED = 258, 259, 19, 260, 261, 262, 264
LEAST = 192
"""Bits of the shortest key here; 1024 without the macro that says so."""
DRAW = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint8), ctypes.c_size_t
)
YIELD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))


class Generation(ctypes.Structure):
    """`struct coprime_generation`."""

    _fields_ = [
        *(("bits", ctypes.c_uint32), ("exponent", ctypes.c_uint32)),
        *(("context", ctypes.c_void_p), ("random", DRAW), ("give_way", YIELD)),
    ]


def build(folder, *flags):
    source = HARNESS.with_name("keygen_parts.c")
    macro = f"-DCOPRIME_KEYGEN_MIN_BITS={LEAST}u"
    flags = ("-shared", "-fPIC", f"-I{DRIVERS / 'src'}", macro, *flags)
    return ctypes.CDLL(str(compile_c(folder, "keygen.so", *flags, DRIVER, source)))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = build(tmp_path_factory.mktemp("keygen"), "-O1")
    for name in ("remainder", "invert_word", "rounds"):
        getattr(made, f"part_{name}").restype = ctypes.c_uint32
    for name in ("far", "sieve"):
        getattr(made, f"part_{name}").restype = ctypes.c_bool
    return made


def value(array):
    return sum(word << 32 * place for place, word in enumerate(array))


def number(pointer, bits):
    return sum(pointer[place] << 32 * place for place in range((bits + 31) // 32))


def source_of(numbers):
    """A random source that writes these numbers; it fails when there are no more."""
    numbers = iter(numbers)

    def draw(_, pointer, size):
        try:
            drawn = next(numbers)
        except StopIteration:
            return 1
        ctypes.memmove(pointer, drawn.to_bytes(size, "little"), size)
        return 0

    return DRAW(draw)


def seeded(seed, bits):
    source = random.Random(seed)
    return source_of(source.getrandbits(bits // 2) for _ in itertools.count())


def words_needed(bits):
    return 25 * (bits // 32) // 2 + 2


def generate(library, driver, bits, source, *, e=65537, missing=0, give_way=None):
    """The error, and the key with the words that it left."""
    count = words_needed(bits) - missing
    array = (ctypes.c_uint32 * max(count, 1))(*[0xA5A5A5A5] * count)
    memory, key = Memory(array, count), PrivateKey()
    wanted = Generation(bits, e, None, source, give_way or YIELD())
    error = library.coprime_generate_key(*map(ctypes.byref, (driver, wanted, key, memory)))
    if error:
        assert memory.count == count
        assert ctypes.addressof(memory.words.contents) == ctypes.addressof(array)
        assert error in (SIZE, UNSUPPORTED, LENGTH_OVER, MEMORY) or not any(array)
    key.array = array  # which lives as long as the key
    return error, key, array


def numbers_of(key, bits, e=65537):
    """The key's numbers, which RsaPrivateKey checks, and which belong to primes."""
    half = bits // 2
    public = key.public_key
    assert (public.modulus.bits, key.p.bits, key.q.bits) == (bits, half, half)
    assert public.exponent_bits == e.bit_length()
    own = RsaPrivateKey(
        number(public.modulus.value, bits),
        number(public.exponent, e.bit_length()),
        number(key.d, bits),
        *(number(prime.value, half) for prime in (key.p, key.q)),
        *(number(part, half) for part in (key.dp, key.dq, key.qinv)),
    )
    assert own.e == e
    assert own == RsaPrivateKey.from_primes(own.p, own.q, e)  # d is the least one
    for prime in (own.p, own.q):
        assert is_prime(prime, 40)
        assert prime % 4 == 3
        assert prime**2 >= 1 << (bits - 1)
    assert own.p > own.q
    return own


# --- Parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 5])
def test_arithmetic(library, count):
    source, bits = random.Random(count), 32 * count
    special = [0, 1, 2, (1 << bits) - 1, 1 << (bits - 1), (1 << bits) - 2]
    for x in [*special, *(source.getrandbits(bits) for _ in range(30))]:
        divisors = [1, 3, 65537, (1 << 31) - 1, source.getrandbits(30) | 1]
        for divisor in [*divisors, 1 << 31]:
            assert library.part_remainder(words(x, bits), count, divisor) == x % divisor
        for divisor in [*divisors, source.getrandbits(bits - 1) | 1]:
            own = (divisor.bit_length() + 32) // 32
            quotient, rest = words(x, bits), words(0, 32 * own)
            library.part_divide(quotient, count, words(divisor, 32 * own), rest, own)
            assert (value(quotient), value(rest)) == divmod(x, divisor)
        for y, plus in ((source.getrandbits(64), 0), ((1 << 64) - 1, 1)):
            product = words(0, bits + 64)
            library.part_multiply(product, words(x, bits), count, words(y, 64), 2, plus)
            assert value(product) == (x * y + plus) % (1 << (bits + 64))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_inverses(library, count):
    source, bits = random.Random(count), 32 * count
    moduli = [(1 << bits) - 1, 3, 5, 3**20, *(source.getrandbits(bits) | 1 for _ in range(30))]
    for m in (m for m in moduli if m < 1 << bits):
        for x in {0, 1, 2, m - 1, m - 2, source.randrange(m), source.randrange(m), m // 3}:
            inverse, gcd, scratch = (words(0, bits * size) for size in (1, 1, 3))
            library.part_invert(inverse, gcd, words(x, bits), words(m, bits), count, scratch)
            assert value(gcd) == math.gcd(x, m)
            if value(gcd) == 1:
                assert value(inverse) == pow(x, -1, m)


def test_inverses_of_a_word(library):
    for e in (65537, 65539, 3 * 65539, (1 << 31) - 1):
        for x in (1, 2, 3, 65539, e - 1, e // 2, 12345):
            if x < e:
                expected = pow(x, -1, e) if math.gcd(x, e) == 1 else 0
                assert library.part_invert_word(x, e) == expected
        assert library.part_invert_word(0, e) == 0


def test_far_is_farther_than_the_standard_asks(library):
    a, bits = 1 << 159 | 12345, 160
    for distance in (0, 2, 1 << 60, 1 << 61, (1 << 64) - 1, 1 << 64, (1 << 64) + 1, 1 << 100):
        for b in (a + distance, a - distance):
            found = library.part_far(words(a, bits), words(b, bits), words(0, bits), 5)
            assert not found or abs(a - b) > 1 << (bits - 100)
            assert found == (distance > 1 << 64) or distance == 1 << 64


def test_the_sieve(library):
    primes = [n for n in range(3, 256, 2) if all(n % k for k in range(3, n, 2))]
    large, e = (1 << 89) - 1, 65539
    for prime in primes:
        assert not library.part_sieve(words(prime * large, 128), 4, e)
    assert library.part_sieve(words(257 * large, 128), 4, e)
    source = random.Random(1)
    for _ in range(300):
        x = source.getrandbits(128) | 1
        fine = all(x % prime for prime in primes) and math.gcd(x - 1, e) == 1
        assert library.part_sieve(words(x, 128), 4, e) == fine
    sharing = next(
        x
        for x in (2 * e * k + 1 for k in range(1 << 90, (1 << 90) + 1000))
        if all(x % prime for prime in primes)
    )
    assert not library.part_sieve(words(sharing, 128), 4, e)
    assert library.part_sieve(words(sharing, 128), 4, 65537)


def test_rounds_are_no_fewer_than_the_tables(library):
    for bits in range(512, 2049, 32):
        security = 112 if bits <= 1024 else 128 if bits <= 1536 else 144
        assert library.part_rounds(bits) >= miller_rabin_rounds(bits, security + 2)


@pytest.mark.vectors
def test_wycheproofs_numbers(library):
    """Those that are 3 modulo 4 and fill their words, as candidates do."""
    _, driver = opened(library, greatest=2176)
    tested = 0
    for w, result, _ in TESTS:
        bits = w.bit_length()
        if w > 0 and w % 4 == 3 and bits % 32 == 0 and bits > 32:
            wanted = Generation(2 * bits, 65537, None, seeded(w, 2 * bits))
            memory, prime = words(0, 8 * bits), ctypes.c_bool()
            error = library.part_test_prime(
                *(ctypes.byref(driver), ctypes.byref(wanted), words(w, bits), bits // 32),
                *(memory, ctypes.byref(prime)),
            )
            assert (error, prime.value) == (0, result == "valid")
            tested += 1
    assert tested == 26


# --- Keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "e"), [(192, 65537), (256, 65539), (256, (1 << 31) - 1), (512, 3 * 65539)]
)
def test_keys_on_a_model(library, bits, e):
    _, driver = opened(library)
    made = set()
    for seed in range(4):
        error, key, array = generate(library, driver, bits, seeded(seed, bits), e=e)
        assert error == 0
        own = numbers_of(key, bits, e)
        made.add(own.n)
        scratch = 8 * (bits // 64)
        assert not any(list(array)[-scratch - 1 : -1])  # cleared
        for x in (0, 1, own.n - 1, 12345):  # the key is loaded
            result = words(0, bits)
            assert library.coprime_private(ctypes.byref(driver), words(x, bits), result) == 0
            assert value(result) == pow(x, own.d, own.n)
    assert len(made) == 4


@pytest.mark.parametrize("bits", [1024, pytest.param(2048, marks=pytest.mark.matrix)])
def test_long_keys_on_a_model(library, bits):
    _, driver = opened(library, greatest=2176)
    error, key, _ = generate(library, driver, bits, seeded(bits, bits))
    assert error == 0
    pem = private_pem(numbers_of(key, bits))
    assert serialization.load_pem_private_key(pem, None).key_size == bits


def test_an_engine_without_the_chinese_remainder_theorem(library):
    commands = (Command.MODMUL, Command.MODEXP)
    _, driver = opened(library, greatest_prime=0, commands=commands)
    error, key, _ = generate(library, driver, 256, seeded(1, 256))
    assert error == 0
    numbers_of(key, 256)


def test_the_same_source_makes_the_same_key(library):
    _, driver = opened(library)
    keys = [numbers_of(generate(library, driver, 256, seeded(s, 256))[1], 256) for s in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]


def bases(seed, bits):
    source = random.Random(seed)
    return [source.getrandbits(bits // 2 - 1) for _ in range(9)]


def test_candidates_too_near_too_small_and_with_a_factor_of_e(library):
    """The source's numbers are candidates and bases; others than the good ones cost no base."""
    bits, e = 256, 65537
    p, q = primes_for(2, bits, 1)
    small = math.isqrt(1 << (bits - 1)) - 4
    sharing = next(
        x
        for x in (2 * e * k + 1 for k in range(6 << 108, (6 << 108) + 10**6))
        if x % 4 == 3 and x >> 127 and is_prime(x, 5)
    )
    script = [small, sharing, p, *bases(1, bits), p, p - 4, p - (1 << 28), sharing, q]
    script += [*bases(2, bits), 99]
    _, driver = opened(library)
    error, key, _ = generate(library, driver, bits, source_of(script))
    assert error == 0
    own = numbers_of(key, bits)
    assert {own.p, own.q} == {p, q}


@pytest.mark.parametrize("drawn", [0, 1, (1 << 128) - 1, 1 << 127 | 12345])
def test_a_stuck_source(library, drawn):
    _, driver = opened(library)
    assert generate(library, driver, 256, source_of(itertools.repeat(drawn)))[0] == RANDOM


def test_a_source_that_fails_or_has_no_prime(library):
    _, driver = opened(library)
    assert generate(library, driver, 256, source_of([]))[0] == RANDOM
    assert generate(library, driver, 256, source_of(primes_for(1, 256, 1)))[0] == RANDOM
    assert generate(library, driver, 256, source_of(itertools.cycle([0, 1])))[0] == RANDOM
    thirds = (3 * ((5 << 124) + 4 * k + 1) for k in itertools.count())
    assert generate(library, driver, 256, source_of(thirds))[0] == PRIME


def test_refusals(library):
    _, driver = opened(library, greatest=300, greatest_prime=150)
    for bits, e, error in (
        *((LEAST - 64, 65537, SIZE), (200, 65537, SIZE), (4160, 65537, SIZE), (0, 65537, SIZE)),
        *((256, 65536, SIZE), (256, 65535, SIZE), (256, 3, SIZE), (256, (1 << 31) + 1, SIZE)),
        *((256, 65538, SIZE), (320, 65537, LENGTH_OVER), (2048, 65537, LENGTH_OVER)),
    ):
        assert generate(library, driver, bits, seeded(1, bits or 2), e=e)[0] == error
    assert generate(library, driver, 256, seeded(1, 256), missing=1)[0] == MEMORY
    _, short = opened(library, greatest=300, greatest_prime=100)
    assert generate(library, short, 256, seeded(1, 256))[0] == LENGTH_OVER
    for command in (Command.MODMUL, Command.MODEXP):
        _, lacking = opened(library, commands={*Command} - {command, Command.WIPE})
        assert generate(library, lacking, 256, seeded(1, 256))[0] == UNSUPPORTED


def test_the_public_limit_is_1024_bits(tmp_path):
    flags = ("-shared", "-fPIC", "-O1", DRIVER, KEYGEN)
    plain = ctypes.CDLL(str(compile_c(tmp_path, "plain.so", *flags)))
    _, driver = opened(plain)
    assert generate(plain, driver, 960, seeded(1, 960))[0] == SIZE


def yields_of(call):
    """A function that yields by calling `call` with its number, for the error and a new driver."""
    numbers = itertools.count()

    def give_way(_, driver):
        error, other = call(next(numbers))
        if other is not None:
            driver[0] = ctypes.addressof(other)
        return error

    return YIELD(give_way)


def test_others_use_the_accelerator_between_exponentiations(library):
    """It is wiped each time, and another one takes its place: the key is the same."""
    alone = numbers_of(generate(library, opened(library)[1], 256, seeded(1, 256))[1], 256)
    pairs = [opened(library) for _ in range(2)]
    drivers = [driver for _, driver in pairs]
    calls, powers = [], []
    for device, _ in pairs:

        def counted(command, x, compute=device.compute):
            powers.append(command)
            return compute(command, x)

        device.compute = counted

    def give_way(number):
        calls.append(sum(command not in (Command.MODMUL, Command.WIPE) for command in powers))
        assert library.coprime_wipe(ctypes.byref(drivers[number % 2])) == 0
        return 0, drivers[(number + 1) % 2]

    way = yields_of(give_way)
    error, key, _ = generate(library, drivers[0], 256, seeded(1, 256), give_way=way)
    assert error == 0
    assert numbers_of(key, 256) == alone
    assert calls == list(range(len(calls)))  # one power between two calls
    result, last = words(0, 256), drivers[len(calls) % 2]
    assert library.coprime_private(ctypes.byref(last), words(12345, 256), result) == 0
    assert value(result) == pow(12345, alone.d, alone.n)


@pytest.mark.parametrize("place", [0, 1, 7, -2, -1])
def test_the_caller_stops_the_generation(library, place):
    """The accelerator is not touched any more, and the memory is cleared."""
    calls = []
    way = yields_of(lambda number: (calls.append(number) or 0, None))
    assert generate(library, opened(library)[1], 256, seeded(1, 256), give_way=way)[0] == 0
    stop = calls[place]
    device, driver = opened(library)
    accesses = []

    def give_way(number):
        if number < stop:
            return 0, None
        device.read32 = device.write32 = lambda *access: accesses.append(access) or 0
        return STOPPED, None

    error, _, _ = generate(library, driver, 256, seeded(1, 256), give_way=yields_of(give_way))
    assert error == STOPPED
    assert accesses == []


def test_an_accelerator_that_calls_everything_prime(library):
    """The key does not work, and is not handed out."""
    for seed in range(3):
        device, driver = opened(library)
        compute = device.compute

        def wrong(command, x, compute=compute):
            return 1 if command is Command.MODEXP else compute(command, x)

        device.compute = wrong
        error, _, _ = generate(library, driver, 256, seeded(seed, 256))
        assert error in (FAULT, KEY)


@pytest.mark.parametrize("family", ["compact", pytest.param("ring", marks=pytest.mark.matrix)])
def test_keys_on_a_simulated_accelerator(tmp_path, family):
    """With sanitizers, and memory that has exactly the size that the header asks for."""
    flags = SANITIZERS if can_compile(tmp_path, *SANITIZERS) else ()
    simulation = simulation_of(family, max_bits=192)
    sources = (HARNESS, DRIVER, KEYGEN, simulation)
    defined = ("-DSIMULATION", "-DKEYGEN", f"-DCOPRIME_KEYGEN_MIN_BITS={LEAST}u")
    harness = Harness(compile_c(tmp_path, "harness", *defined, *flags, *sources))
    harness("limit", 100_000_000)
    harness("reset")
    assert harness("open")[0] == 0
    code, n, e, d, p, q, dp, dq, qinv = harness("generate", LEAST, 65537, 5)
    assert code == 0
    own = RsaPrivateKey(n, e, d, p, q, dp, dq, qinv)
    assert is_prime(p, 40)
    assert is_prime(q, 40)
    code, result, *_ = harness("private", octets(12345))  # harness.c takes any loaded key
    assert (code, result) == (0, pow(12345, own.d, own.n))
    harness.close()


@pytest.mark.parametrize(
    "optimization",
    ["-O2", *(pytest.param(one, marks=pytest.mark.matrix) for one in ("-O1", "-Os"))],
)
def test_the_path_is_the_same_for_all_primes(tmp_path, optimization):
    """From the test of small factors to the last number: each basic block, in its order."""
    tracing = "-fsanitize-coverage=trace-pc"
    if not can_compile(tmp_path, tracing, "-c"):
        pytest.skip("the C compiler has no -fsanitize-coverage=trace-pc")
    traced = build(tmp_path, optimization, tracing, "-DTRACE")
    traced.part_path.restype = ctypes.c_uint64
    paths = set()
    primes = primes_for(8, 256, 5)
    for p, q in itertools.permutations(primes, 2):
        if p > q:
            array, blocks = words(p | q << 128, 128 * 17), ctypes.c_uint64()
            path = traced.part_path(array, 4, 65537, ctypes.byref(blocks))
            assert blocks.value > 10_000
            assert value(array[20:28]) == p * q
            paths.add((path, blocks.value))
    assert len(paths) == 1
