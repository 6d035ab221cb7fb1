"""Keys whose primes an accelerator tests: what FIPS 186-5, A.1.3 asks, and what a fault does."""

import itertools
import math
import random
import statistics
from functools import partial

import pytest
from cryptography.hazmat.primitives import serialization

from coprime.device.base import DeviceError
from coprime.rsa.generation import Generation
from coprime.rsa.keys import parse_private, private_pem
from coprime.rsa.primes import RandomSourceError
from tests.benches import open_bench
from tests.integers import IntegerAccelerator, IntegerResult
from tests.openssl import openssl

Small = partial(Generation, min_bits=256)
"""Of keys that nobody should use."""


def seeded(seed):
    """A random source for tests."""
    return random.Random(seed).getrandbits


def check(key, bits, e=65537):
    """What the standard asks of a key, but for what RsaPrivateKey has checked."""
    half = bits // 2
    assert (key.bits, key.e) == (bits, e)
    for prime in (key.p, key.q):
        assert prime.bit_length() == half
        assert prime**2 >= 1 << (bits - 1)  # sqrt(2) 2^(half - 1)
        assert prime % 4 == 3
    assert key.p - key.q > 1 << max(0, half - 100)
    assert key.d == pow(e, -1, math.lcm(key.p - 1, key.q - 1)) > 1 << half
    assert parse_private(private_pem(key)) == key  # tests the primes, too
    theirs = serialization.load_pem_private_key(private_pem(key), None)  # the library checks it
    assert theirs.private_numbers().p == key.p


@pytest.mark.parametrize(
    ("bits", "e"), [(1024, 65537), (1026, (1 << 255) + 95), (1536, 65539), (2048, 65537)]
)
def test_keys_are_what_the_standard_asks(bits, e, tmp_path):
    key = Generation(IntegerAccelerator(), bits, e).key()
    check(key, bits, e)
    (tmp_path / "key.pem").write_bytes(private_pem(key))
    for command in ("rsa", "pkey"):
        done = openssl(command, "-check", "-noout", "-in", tmp_path / "key.pem")
        assert done in (b"RSA key ok\n", b"Key is valid\n")


@pytest.mark.parametrize(
    ("family", "again"),
    [
        ("compact", False),
        *(
            pytest.param(name, True, marks=pytest.mark.matrix)
            for name in ("compact", "ring", "fdfm", "karatsuba")
        ),
    ],
)
def test_on_a_simulated_accelerator(family, again):
    """Each command is checked against its prediction; and the same bits give the same key again."""
    bench = open_bench(family, max_bits=128)
    with bench.device:
        one, other = (Small(bench.accelerator, 256, bits_of=seeded(seed)) for seed in (3, 3))
        cycles = one.measure()
        key = one.key()
        check(key, 256)
        if bench.design.capabilities.constant_time:
            assert one.cycles == one.exponentiations * cycles
        if again:
            other.measure()
            assert other.key() == key
            assert other.exponentiations == one.exponentiations


def test_the_same_source_makes_the_same_key():
    keys = [Small(IntegerAccelerator(), 512, bits_of=seeded(seed)).key() for seed in (1, 1, 2)]
    assert keys[0] == keys[1]
    assert not {keys[0].p, keys[0].q} & {keys[2].p, keys[2].q}
    one, other = (Small(IntegerAccelerator(), 512).key() for _ in range(2))
    assert len({one.p, one.q, other.p, other.q}) == 4


@pytest.mark.matrix
def test_distribution():
    """Primes fill their range evenly, both residues modulo 8 occur, and the count is expected."""
    generations = [Small(IntegerAccelerator(), 256, bits_of=seeded(seed)) for seed in range(300)]
    keys = [generation.key() for generation in generations]
    primes = [prime for key in keys for prime in (key.p, key.q)]
    assert len(set(primes)) == 600
    least = math.isqrt(1 << 255)
    places = [(prime - least) / ((1 << 128) - least) for prime in primes]
    assert statistics.mean(places) == pytest.approx(0.5, abs=0.05)
    assert min(places) < 0.02
    assert max(places) > 0.98
    assert sum(prime % 8 == 3 for prime in primes) == pytest.approx(300, abs=60)
    assert sum(prime >> 60 & 1 for prime in primes) == pytest.approx(300, abs=60)
    tested = statistics.mean(generation.exponentiations for generation in generations)
    assert tested == pytest.approx(generations[0].expected - 1, rel=0.1)  # without `measure`


@pytest.mark.parametrize(("bits", "expected"), [(1024, 69), (2048, 113), (3072, 163), (4096, 216)])
def test_expected_exponentiations(bits, expected):
    assert round(Generation(IntegerAccelerator(), bits).expected) == expected


@pytest.mark.parametrize(
    ("bits", "e", "error", "text"),
    [
        (1022, 65537, ValueError, "keys of 1024 to 4096 bits, an even number, not 1022"),
        (1025, 65537, ValueError, "keys of 1024 to 4096 bits, an even number, not 1025"),
        (4098, 65537, ValueError, "keys of 1024 to 4096 bits, an even number, not 4098"),
        (1024.0, 65537, TypeError, "bits must be an int, not float"),
        (1024, True, TypeError, "e must be an int, not bool"),
        (1024, 3, ValueError, "odd, over 65536 and below 2.256, not 3"),
        (1024, 65538, ValueError, "odd, over 65536 and below 2.256, not 65538"),
        (1024, (1 << 256) + 1, ValueError, "odd, over 65536 and below 2.256"),
    ],
)
def test_refused_parameters(bits, e, error, text):
    with pytest.raises(error, match=text):
        Generation(IntegerAccelerator(), bits, e)


# --- Random sources -------------------------------------------------------------------------------


def primes_for(count, bits, seed):
    """Different primes that a generation accepts."""
    found = []
    while len(found) < count:
        key = Small(IntegerAccelerator(), bits, bits_of=seeded(seed)).key()
        found, seed = [*found, key.p, key.q], seed + 1
    return found


class Counting(IntegerAccelerator):
    """Remembers what it was asked about."""

    def __init__(self):
        self.moduli = []

    def modexp(self, x, e, m, *, exponent_length=None):
        self.moduli.append(m)
        return super().modexp(x, e, m, exponent_length=exponent_length)


def scripted(monkeypatch, candidates, bits, e=65537):
    """A generation that draws these candidates, and bases of its own."""
    accelerator = Counting()
    script = iter(candidates)
    generation = Small(accelerator, bits, e, bits_of=seeded(1))
    monkeypatch.setattr(
        "coprime.rsa.generation.draw_until",
        lambda fits, draw: next(one for one in script if fits(one)),
    )
    return generation, accelerator


def test_a_prime_too_near_is_drawn_again(monkeypatch):
    p, far = primes_for(2, 512, 1)
    edge = p - (1 << 156)  # 2^(half - 100)
    generation, accelerator = scripted(monkeypatch, [p, p, p - 4, edge, far], 512)
    key = generation.key()
    assert {key.p, key.q} == {p, far}
    assert set(accelerator.moduli) == {p, far}  # the others are not even tested


def test_a_prime_too_small_is_drawn_again(monkeypatch):
    p, q = primes_for(2, 512, 2)
    least = math.isqrt(1 << 511) + 1
    generation, accelerator = scripted(monkeypatch, [least - 1, p, least - 4, q], 512)
    assert generation.key().n == p * q
    assert set(accelerator.moduli) == {p, q}


def test_a_prime_whose_order_shares_a_factor_with_e_is_not_taken(monkeypatch):
    """A common factor of 3 is enough."""
    e = 65539 * 3
    p, q, *others = primes_for(10, 512, 3)
    sharing = [prime for prime in (p, q, *others) if prime % 3 == 1]
    fine = [prime for prime in (p, q, *others) if prime % 3 == 2]
    assert sharing
    generation, accelerator = scripted(
        monkeypatch, [sharing[0], fine[0], sharing[0], fine[1]], 512, e
    )
    key = generation.key()
    assert {key.p, key.q} == set(fine[:2])
    assert sharing[0] not in accelerator.moduli


@pytest.mark.parametrize("value", [0, 1, (1 << 256) - 1, 1 << 255 | 12345])
def test_a_stuck_source(value):
    generation = Small(IntegerAccelerator(), 512, bits_of=lambda _: value)
    with pytest.raises(RandomSourceError, match="returned the same number twice"):
        generation.key()


@pytest.mark.parametrize("values", [(0, 1), ((1 << 256) - 1, (1 << 256) - 2), (1, 1 << 255)])
def test_a_source_that_repeats_itself(values):
    source = itertools.cycle(values)
    with pytest.raises(RandomSourceError, match="the random source"):
        Small(IntegerAccelerator(), 512, bits_of=lambda _: next(source)).key()


def test_a_source_without_primes():
    """The standard's limit: 5 nlen candidates for p."""
    composite = ((3 << 254) + 3 * (4 * k + 1) for k in itertools.count())
    with pytest.raises(RandomSourceError, match="none of 2560 random numbers is prime"):
        Small(IntegerAccelerator(), 512, bits_of=lambda _: next(composite)).key()


def test_an_error_of_the_source_is_passed_on():
    def fails(_):
        raise OSError("no entropy")

    with pytest.raises(OSError, match="no entropy"):
        Small(IntegerAccelerator(), 512, bits_of=fails).key()


# --- Accelerators ---------------------------------------------------------------------------------


class Constant(IntegerAccelerator):
    """A broken accelerator, which answers 1: each number would be prime."""

    def modexp(self, x, e, m, *, exponent_length=None):
        return IntegerResult(1)


def test_a_broken_accelerator_makes_no_key():
    # Of a modulus that is prime every other power is 1, which would be right.
    with pytest.raises(DeviceError, match="computed a wrong result"):
        Small(Constant(), 512, bits_of=seeded(1)).measure()
    for seed in range(10):
        with pytest.raises((DeviceError, ValueError)):
            Small(Constant(), 512, bits_of=seeded(seed)).key()
