"""A key's constants that the module computes, against Python's pow."""

import ctypes
import random
from math import gcd

import pytest

from coprime.engine.contract import Command
from coprime.rsa import keys
from coprime.token import build
from tests.drivers.bindings import Memory, private_key
from tests.drivers.harness import DRIVER, compile_c
from tests.drivers.test_constants import (
    ENGINES,
    constants_of,
    driver_of,
    expected_private,
    key_of,
    number,
)

pytestmark = pytest.mark.xdist_group("token")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constants")
    sources = [build._SOURCES / f"{name}.c" for name in ("constants", "secret", "debug")]
    flags = ("-shared", "-fPIC", "-O1", f"-I{build._SOURCES}", *sources, DRIVER, "-lcrypto")
    made = ctypes.CDLL(str(compile_c(folder, "constants.so", *flags)))
    made.constants_compute.restype = ctypes.c_bool
    return made


def compute(library, driver, own, missing=0):
    """The constants, or None."""
    n_bits, longer = own.public_key.modulus.bits, max(own.p.bits, own.q.bits)
    count = 3 * ((n_bits + 31) // 32) + 2 * ((longer + 31) // 32) - missing
    memory = Memory((ctypes.c_uint32 * count)(), count)
    if not library.constants_compute(*map(ctypes.byref, (driver, own, memory))):
        return None
    moduli = (own.public_key.modulus, own.p, own.q)
    crt = (number(own.crt_p, n_bits), number(own.crt_q, n_bits))
    return *(value for one in moduli for value in constants_of(one)), *crt


@pytest.mark.parametrize("engine", ENGINES)
def test_constants_of_a_key(library, engine):
    generator = random.Random(3)
    for p_bits, q_bits in ((16, 16), (32, 32), (64, 33), (33, 64), (20, 200), (512, 512)):
        p, q = (generator.getrandbits(bits) | 1 << bits - 1 | 1 for bits in (p_bits, q_bits))
        while gcd(p, q) > 1:
            p = generator.getrandbits(p_bits) | 1 << p_bits - 1 | 1
        for least in (1, 50):
            driver = driver_of(library, engine, least=least)
            for equal in (0, 1):
                driver.equal_primes = equal
                expected = expected_private(engine, key_of(p, q), least, equal)
                found = compute(library, driver, private_key(key_of(p, q)))
                assert found == expected, (p, q, least)


def test_what_is_left_to_the_engine(library):
    """A key is unchanged that cannot be helped, and so is one for an engine without CRT."""
    key = keys.generate(256, seed=1)
    driver = driver_of(library, ENGINES[0])
    assert compute(library, driver, private_key(key), missing=1) is None
    assert compute(library, driver, private_key(key_of(key.p - 1, key.q))) is None  # even
    plain = driver_of(
        library, ENGINES[0], greatest_prime=0, commands=(Command.MODMUL, Command.MODEXP)
    )
    own = private_key(key)
    assert compute(library, plain, own) is None
    assert not own.public_key.modulus.power
