"""The constants that the C driver has the engine compute, against Python's pow."""

import ctypes
import random
from math import gcd
from types import SimpleNamespace

import pytest

from coprime.engine.contract import Command, Error, Operand
from coprime.rsa import keys
from tests.device.test_accelerator import CLASSES
from tests.drivers.bindings import (
    Driver,
    Memory,
    Modulus,
    PrivateKey,
    PublicKey,
    modulus,
    opened,
    private_key,
    words,
)
from tests.drivers.harness import DRIVER, HARNESS, Harness, can_compile, compile_c, simulation_of

MEMORY, KEY, SIZE = 258, 259, 260
# Digit width, headroom, radix.
ENGINES = [
    *((17, 2, 17), (32, 1, 1), (32, 0, 0), (16, 18, 16), (128, 130, 128), (1, 0, 1)),
    *((64, 2, 64), (240, 255, 240), (33, 31, 1)),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constants")
    return ctypes.CDLL(str(compile_c(folder, "coprime.so", "-shared", "-fPIC", "-O1", DRIVER)))


@pytest.mark.parametrize(
    ("name", "structure"),
    [
        ("coprime", Driver),
        ("coprime_modulus", Modulus),
        ("coprime_public_key", PublicKey),
        ("coprime_private_key", PrivateKey),
        ("coprime_memory", Memory),
    ],
)
def test_structures_are_those_of_c(tmp_path, name, structure):
    """A driver that writes beyond a structure would change this process's memory."""
    last, _ = structure._fields_[-1]
    sizes = {
        f"sizeof(struct {name})": ctypes.sizeof(structure),
        f"offsetof(struct {name}, {last})": getattr(structure, last).offset,
    }
    checks = [f'_Static_assert({one} == {size}, "{one}");' for one, size in sizes.items()]
    source = tmp_path / "sizes.c"
    source.write_text("\n".join(["#include <stddef.h>", '#include "coprime.h"', *checks, ""]))
    compile_c(tmp_path, "sizes.o", "-c", source)


def driver_of(library, engine, *, least=1, **settings):
    width, headroom, radix = engine
    sizes = {"greatest": 8192, "greatest_prime": 4096, "least": least, **settings}
    _, driver = opened(library, width=width, headroom=headroom, radix=radix, **sizes)
    return driver


def number(array, bits):
    """The number in words, or None."""
    return sum(array[i] << 32 * i for i in range((bits + 31) // 32)) if array else None


def constants_of(own):
    """A modulus's: its inverse and its power."""
    return number(own.inverse, 256), number(own.power, own.bits)


def modulus_constants(library, driver, own, missing=0):
    """The error, or the constants."""
    count = (own.bits + 31) // 32 - missing
    memory = Memory((ctypes.c_uint32 * max(count, 1))(), count)
    error = library.coprime_modulus_constants(*map(ctypes.byref, (driver, own, memory)))
    assert error or memory.count == 0
    return error or constants_of(own)


def private_constants(library, driver, key, missing=0):
    """The error, or the constants, of which the engine need not have the last one."""
    own = key if isinstance(key, ctypes.Structure) else private_key(key)
    n_bits, longer = own.public_key.modulus.bits, max(own.p.bits, own.q.bits)
    count = 3 * ((n_bits + 31) // 32) + 2 * ((longer + 31) // 32) - missing
    area = (ctypes.c_uint32 * count)(*([0xA5A5A5A5] * count))
    memory = Memory(area, count)
    error = library.coprime_private_constants(*map(ctypes.byref, (driver, own, memory)))
    if error:
        assert memory.count == count
        assert missing or set(area) <= {0, 0xA5A5A5A5}
        return error
    moduli = (own.public_key.modulus, own.p, own.q)
    crt = (number(own.crt_p, n_bits), number(own.crt_q, n_bits))
    return *(value for one in moduli for value in constants_of(one)), *crt


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
    )


def key_of(p, q):
    """The numbers of a key whose primes need not be prime: the constants ask for less."""
    qinv = pow(q, -1, p) if gcd(p, q) == 1 and p > 1 else 1
    return SimpleNamespace(n=p * q, p=p, q=q, d=1, dp=0, dq=0, qinv=qinv)


@pytest.mark.parametrize("engine", ENGINES)
def test_constants_of_a_modulus(library, engine):
    generator = random.Random(1)
    moduli = [1, 2, 3, 4, 5, 0xFFFF_FFFF, 1 << 32, 1 << 31, (1 << 32) + 1, (1 << 255) - 19]
    moduli += [(1 << bits) - 1 for bits in (31, 33, 63, 64, 65, 521)]
    moduli += [generator.getrandbits(bits) | 1 << bits - 1 for bits in range(250, 263)]
    moduli.append(generator.getrandbits(2048) | 1 << 2047 | 1)
    for least in (1, 40):
        driver = driver_of(library, engine, least=least)
        for m in moduli:
            twos = 2 * exponent(engine, max(least, m.bit_length()))
            expected = expected_modulus(engine, m, twos)
            if m % 2 == 0 and engine[2]:
                expected = Error.MODULUS_EVEN
            assert modulus_constants(library, driver, modulus(m)) == expected, (m, least)


@pytest.mark.parametrize("engine", ENGINES)
def test_constants_of_a_key(library, engine):
    generator = random.Random(2)
    for p_bits, q_bits in ((16, 16), (32, 32), (64, 33), (33, 64), (20, 200), (170, 161)):
        p, q = (generator.getrandbits(bits) | 1 << bits - 1 | 1 for bits in (p_bits, q_bits))
        while gcd(p, q) > 1:
            p = generator.getrandbits(p_bits) | 1 << p_bits - 1 | 1
        for least in (1, 50):
            driver = driver_of(library, engine, least=least)
            for equal in (0, 1):
                driver.equal_primes = equal
                expected = expected_private(engine, key_of(p, q), least, equal)
                assert private_constants(library, driver, key_of(p, q)) == expected, (p, q, least)


def test_a_factor_that_the_engine_does_not_use(library):
    driver = driver_of(library, (17, 2, 17), held=frozenset(CLASSES) - {Operand.CRT_Q})
    key = keys.generate(256, seed=1)
    expected = expected_private((17, 2, 17), key)
    assert private_constants(library, driver, key) == (*expected[:-1], None)


def test_every_small_key(library):
    engine = (17, 2, 17)
    driver = driver_of(library, engine)
    for p in range(3, 33, 2):
        for q in range(3, 33, 2):
            answer = private_constants(library, driver, key_of(p, q))
            if gcd(p, q) > 1:
                assert answer == KEY
            else:
                assert answer == expected_private(engine, key_of(p, q)), (p, q)


def test_every_wrong_inverse(library):
    driver = driver_of(library, (17, 2, 17))
    for p, q in ((13, 31), (31, 13), (15, 29)):
        key = key_of(p, q)
        right = key.qinv
        for key.qinv in range(1 << p.bit_length()):
            answer = private_constants(library, driver, key)
            assert (answer == KEY) == (key.qinv != right), (p, q, key.qinv)


@pytest.mark.parametrize("bits", [1024, 2048, 2051])
def test_constants_of_real_keys(library, bits):
    key = keys.generate(bits, seed=bits)
    driver = driver_of(library, (17, 2, 17))
    assert private_constants(library, driver, key) == expected_private((17, 2, 17), key)


def test_without_the_remainder_theorem_a_key_is_its_modulus(library):
    engine = (32, 1, 1)
    driver = driver_of(library, engine, commands=(Command.MODMUL, Command.MODEXP))
    key = keys.generate(128, seed=1)
    own = private_key(key)
    own.p = own.q = modulus(0)
    expected = expected_modulus(engine, key.n, 2 * exponent(engine, 128))
    assert private_constants(library, driver, own)[:2] == expected


def test_nothing_stays_in_the_engine(library):
    device, driver = opened(library, width=17, headroom=2)
    key = keys.generate(256, seed=1)
    assert private_constants(library, driver, key) == expected_private((17, 2, 17), key)
    assert not device.operands
    assert not device.result


def test_what_is_refused(library):
    driver = driver_of(library, (17, 2, 17), greatest=200, greatest_prime=100)

    def refused(m, bits=None, missing=0):
        own = modulus(m)
        own.bits = m.bit_length() if bits is None else bits
        return modulus_constants(library, driver, own, missing)

    assert refused(5, 4) == Error.MODULUS_SHORT
    assert refused(5, 2) == Error.KEY_EXCESS
    assert refused(1 << 200) == Error.LENGTH_OVER
    assert refused((1 << 200) - 1, missing=1) == MEMORY
    assert refused(0) == Error.MODULUS_ZERO
    assert modulus_constants(library, driver, type(modulus(1))(3)) == Error.OPERAND_MISSING

    def private(p, q, n=None, **numbers):
        key = key_of(p, q)
        key.n = key.n if n is None else n
        own = private_key(key)
        for name, value in numbers.items():
            setattr(own, name, value)
        return private_constants(library, driver, own)

    p, q = (1 << 89) - 1, (1 << 61) - 1
    assert len(private(p, q)) == 8
    assert private_constants(library, driver, private_key(key_of(p, q)), 1) == MEMORY
    assert private(p, q, qinv=None) == Error.OPERAND_MISSING
    assert private(p, q, qinv=words(1, p.bit_length())) == KEY
    assert private(p, q, qinv=words(0, p.bit_length())) == KEY
    assert private(p, q, qinv=words((1 << 96) - 1, 96)) == KEY
    assert private(p, p) == KEY
    assert private(p, q, p * q + 2) == KEY
    assert private(p, q, p * q + (1 << 32)) == KEY
    assert private(p, q, p * q | 1 << 190) == KEY
    assert private(p, q, 3) == KEY
    assert private(p, 1) == KEY
    assert private(p, 0, 3) == Error.MODULUS_ZERO
    assert private(p - 1, q) == private(q, p - 1) == Error.MODULUS_EVEN
    assert private((1 << 107) - 1, q) == Error.LENGTH_OVER
    assert private(3, 5, 1 << 200) == Error.LENGTH_OVER


def test_a_command_that_never_ends(library):
    device, driver = opened(library)
    device.hang = True
    assert modulus_constants(library, driver, modulus((1 << 89) - 1)) == 257
    assert private_constants(library, driver, keys.generate(256, seed=1)) == Error.BUSY


def test_octet_strings(tmp_path):
    harness = Harness(compile_c(tmp_path, "harness", HARNESS, DRIVER))
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
    harness.close()


@pytest.mark.matrix
@pytest.mark.parametrize(
    "optimization", ["-O2", *(pytest.param(f"-O{k}", marks=pytest.mark.matrix) for k in "013s")]
)
@pytest.mark.xdist_group("compact")
def test_every_key_takes_the_same_path(tmp_path, optimization):
    """Keys of the same lengths run through the same blocks in the same order."""
    flags = (optimization, "-no-pie", "-DTRACE", "-DSIMULATION")
    tracing = "-fsanitize-coverage=trace-pc"
    if not can_compile(tmp_path, tracing, "-c", *flags):
        pytest.skip("the C compiler has no -fsanitize-coverage=trace-pc")
    driver = tmp_path / "coprime.o"
    compile_c(tmp_path, driver.name, *flags, tracing, "-c", DRIVER)
    simulation = simulation_of("compact", max_bits=257)
    harness = Harness(compile_c(tmp_path, "harness", *flags, HARNESS, driver, simulation))
    assert harness("open")[0] == 0
    assert harness("limit", 100_000_000) == (0,)

    def path(key):
        harness.set_private(key, 65537)
        code, blocks, digest, *_ = harness("private_constants", 0)
        assert code == 0
        assert blocks > 1_000
        return blocks, digest

    paths = {path(keys.generate(256, seed=seed)) for seed in range(6)}
    # Primes with long runs of ones and of zeros, too.
    paths.add(path(key_of((1 << 128) - 159, (1 << 128) - 173)))
    paths.add(path(key_of(0xD << 124 | 1, (1 << 128) - 159)))
    assert len(paths) == 1
    assert path(keys.generate(256, seed=1, p_bits=129)) not in paths  # the measure sees lengths
    harness.close()
