"""The constants that the C driver computes, against Python's pow; and the time that it takes."""

import random
from math import gcd
from types import SimpleNamespace

import pytest

from coprime.engine.contract import Command, Error
from coprime.rsa import keys
from tests.drivers.harness import DRIVER, HARNESS, SANITIZERS, Harness, can_compile, compile_c

MEMORY, KEY, SIZE = 258, 259, 260
ALL = sum(1 << command for command in Command)
# Digit width, headroom, radix.
ENGINES = [
    *((17, 2, 17), (32, 1, 1), (32, 0, 0), (16, 18, 16), (128, 130, 128), (1, 0, 1)),
    *((64, 2, 64), (255, 255, 255), (33, 31, 1)),
]


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constants")
    flags = SANITIZERS if can_compile(folder, *SANITIZERS) else ()
    running = Harness(compile_c(folder, "harness", *flags, HARNESS, DRIVER))
    yield running
    running.close()


def set_engine(harness, engine, *, least=1, greatest=8192, prime=4096, equal=0, commands=ALL):
    harness("engine", *engine, least, greatest, prime, equal, commands)


def exponent(engine, length):
    _, headroom, radix = engine
    return radix * -(-(length + headroom) // radix) if radix else 0


def expected_modulus(engine, m, twos):
    inverse = -pow(m, -1, 1 << engine[0]) % (1 << engine[0]) if m % 2 else 0
    return inverse, pow(2, twos, m)


def expected_private(engine, key, least=1, equal=0):
    lengths = [max(least, number.bit_length()) for number in (key.n, key.p, key.q)]
    if equal:
        lengths[1:] = [max(lengths[1:])] * 2
    own, own_p, own_q = (exponent(engine, length) for length in lengths)
    return (
        *expected_modulus(engine, key.n, 2 * own),
        *expected_modulus(engine, key.p, own + own_p),
        *expected_modulus(engine, key.q, own + own_q),
        pow(key.q, -1, key.p) * key.q * 2**own_p % key.n,
        pow(key.p, -1, key.q) * key.p * 2**own_q % key.n,
        0,  # what is left in the scratch memory
    )


def key_of(p, q):
    """The numbers of a key whose primes need not be prime: the constants ask for less."""
    return SimpleNamespace(n=p * q, p=p, q=q, d=1, dp=0, dq=0)


@pytest.mark.parametrize("engine", ENGINES)
def test_constants_of_a_modulus(harness, engine):
    generator = random.Random(1)
    moduli = [1, 2, 3, 4, 5, 0xFFFF_FFFF, 1 << 32, 1 << 31, (1 << 32) + 1, (1 << 255) - 19]
    moduli += [(1 << bits) - 1 for bits in (31, 33, 63, 64, 65, 521)]
    moduli += [generator.getrandbits(bits) | 1 << bits - 1 for bits in range(250, 263)]
    moduli.append(generator.getrandbits(8192) | 1 << 8191 | 1)
    for least in (1, 40):
        set_engine(harness, engine, least=least)
        for m in moduli:
            assert harness.set_modulus(m) == (0,)
            twos = 2 * exponent(engine, max(least, m.bit_length()))
            expected = expected_modulus(engine, m, twos)
            assert harness("modulus_constants", 0) == (0, *expected), (m, least)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("equal", [0, 1])
def test_constants_of_a_key(harness, engine, equal):
    generator = random.Random(2)
    for p_bits, q_bits in ((16, 16), (32, 32), (64, 33), (33, 64), (20, 200), (170, 161)):
        p, q = (generator.getrandbits(bits) | 1 << bits - 1 | 1 for bits in (p_bits, q_bits))
        while gcd(p, q) > 1:
            p = generator.getrandbits(p_bits) | 1 << p_bits - 1 | 1
        for least in (1, 50):
            set_engine(harness, engine, least=least, equal=equal)
            harness.set_private(key_of(p, q))
            expected = expected_private(engine, key_of(p, q), least, equal)
            assert harness("private_constants", 0) == (0, *expected), (p, q, least)


def test_every_small_key(harness):
    set_engine(harness, (17, 2, 17))
    for p in range(3, 33, 2):
        for q in range(3, 33, 2):
            harness.set_private(key_of(p, q))
            answer = harness("private_constants", 0)
            if gcd(p, q) > 1:
                assert answer == (KEY,)
            else:
                assert answer == (0, *expected_private((17, 2, 17), key_of(p, q))), (p, q)


@pytest.mark.parametrize("bits", [1024, 2048, 2051])
def test_constants_of_real_keys(harness, bits):
    key = keys.generate(bits, seed=bits)
    set_engine(harness, (17, 2, 17))
    harness.set_private(key)
    assert harness("private_constants", 0) == (0, *expected_private((17, 2, 17), key))


def test_without_the_remainder_theorem_a_key_is_its_modulus(harness):
    engine = (32, 1, 1)
    set_engine(harness, engine, prime=0, commands=1 << Command.MODEXP)
    key = keys.generate(128, seed=1)
    numbers = SimpleNamespace(n=key.n, d=key.d, p=0, q=0, dp=None, dq=None)
    harness.set_private(numbers)
    expected = expected_modulus(engine, key.n, 2 * exponent(engine, 128))
    assert harness("private_constants", 0) == (0, *expected)


def test_what_is_refused(harness):
    set_engine(harness, (17, 2, 17), greatest=200, prime=100)
    harness.set_modulus(5, 4)
    assert harness("modulus_constants", 0) == (Error.MODULUS_SHORT,)
    harness.set_modulus(5, 2)
    assert harness("modulus_constants", 0) == (Error.KEY_EXCESS,)
    harness.set_modulus(1 << 200)
    assert harness("modulus_constants", 0) == (Error.LENGTH_OVER,)
    harness.set_modulus((1 << 200) - 1)
    assert harness("modulus_constants", 1) == (MEMORY,)
    harness("set_public", 3, "-", 0, "-")
    assert harness("modulus_constants", 0) == (Error.OPERAND_MISSING,)

    def private(p, q, n=None):
        key = key_of(p, q)
        key.n = key.n if n is None else n
        harness.set_private(key)
        return harness("private_constants", 0)

    p, q = (1 << 89) - 1, (1 << 61) - 1
    assert len(private(p, q)) == 10
    assert harness("private_constants", 1) == (MEMORY,)
    assert private(p, p) == (KEY,)
    assert private(p, q, p * q + 2) == (KEY,)
    assert private(p, q, p * q | 1 << 190) == (KEY,)
    assert private(p, q, 3) == (KEY,)
    assert private(p, 1) == (KEY,)
    assert private(p, 0, 3) == (KEY,)
    assert private(p - 1, q) == private(q, p - 1) == (Error.MODULUS_EVEN,)
    assert private((1 << 107) - 1, q) == (Error.LENGTH_OVER,)
    assert private(3, 5, 1 << 200) == (Error.LENGTH_OVER,)


def test_octet_strings(harness):
    generator = random.Random(3)
    for count in range(4):
        for size in range(15):
            text = generator.randbytes(size)
            value = int.from_bytes(text, "big")
            low = value % (1 << 32 * count)
            code = SIZE if value >> 32 * count else 0
            answer = harness("from_bytes", count, f"={text.hex()}")
            assert answer == (code, low, low.bit_length())
            padded = text.hex().zfill(2 * size) if size else "00"
            words = (8 * size + 31) // 32
            for length in range(16):
                code = SIZE if value >> 8 * length else 0
                answer = harness("to_bytes", length, 32 * words, padded)
                assert answer == (code, value % (1 << 8 * length))
    for bits in range(1, 70):
        answer = harness("from_bytes", 3, f"={(1 << bits - 1).to_bytes(12, 'big').hex()}")
        assert answer == (0, 1 << bits - 1, bits)


@pytest.mark.parametrize(
    "optimization", ["-O2", *(pytest.param(f"-O{k}", marks=pytest.mark.slow) for k in "013s")]
)
def test_every_key_takes_the_same_path(tmp_path, optimization):
    """The constants of keys of the same lengths run through the same blocks in the same order."""
    flags = (optimization, "-no-pie", "-DTRACE")
    tracing = "-fsanitize-coverage=trace-pc"
    if not can_compile(tmp_path, tracing, "-c", *flags):
        pytest.skip("the C compiler has no -fsanitize-coverage=trace-pc")
    driver = tmp_path / "coprime.o"
    compile_c(tmp_path, driver.name, *flags, tracing, "-c", DRIVER)
    harness = Harness(compile_c(tmp_path, "harness", *flags, HARNESS, driver))
    set_engine(harness, (17, 2, 17))

    def path(key):
        harness.set_private(key)
        code, blocks, digest, *_ = harness("private_constants", 0)
        assert code == 0
        assert blocks > 10_000
        return blocks, digest

    paths = {path(keys.generate(256, seed=seed)) for seed in range(8)}
    # Primes with long runs of ones and of zeros, too.
    paths.add(path(key_of((1 << 128) - 159, (1 << 128) - 173)))
    paths.add(path(key_of(0xD << 124 | 1, (1 << 128) - 159)))
    assert len(paths) == 1
    assert path(keys.generate(256, seed=1, p_bits=129)) not in paths  # the measure sees lengths
    harness.close()
