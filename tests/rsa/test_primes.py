"""Primality: Wycheproof's tests, numbers that pass weaker tests, and the table of rounds."""

import json
import math
from pathlib import Path

import pytest

from coprime.rsa.primes import (
    SIEVED,
    RandomSourceError,
    draw_until,
    is_prime,
    miller_rabin_rounds,
)

ROUNDS = 40

# From version 0.7.0 of the crate `wycheproof` (Apache-2.0): src/data/primality_test.json.
WYCHEPROOF = json.loads((Path(__file__).parent / "vectors/wycheproof_primality.json").read_text())
TESTS = [
    (int.from_bytes(bytes.fromhex(test["value"]), signed=True), test["result"], test["flags"])
    for group in WYCHEPROOF["testGroups"]
    for test in group["tests"]
]

_FACTOR = int(
    "29674495668685510550154174642905332730771991799853043350995075531276838753171770199594238596"
    "428121188033664754218345562493168782883"
)
ARNAULT = _FACTOR * (313 * (_FACTOR - 1) + 1) * (353 * (_FACTOR - 1) + 1)
"""Arnault's composite number of 397 digits (1995): every prime below 307 is a base it passes."""


def passes(number, base):
    """Whether an odd number is a strong probable prime to a base."""
    odd = number - 1
    while odd % 2 == 0:
        odd //= 2
    powers = [pow(base, odd, number)]
    while odd < number >> 1:
        odd *= 2
        powers.append(powers[-1] ** 2 % number)
    return powers[0] == 1 or number - 1 in powers


@pytest.mark.parametrize(
    ("number", "bases"),
    [  # OEIS A014233: the smallest composite number that passes with the first k primes
        (2047, 1),
        (1373653, 2),
        (25326001, 3),
        (3215031751, 4),
        (2152302898747, 5),
        (3474749660383, 6),
        (341550071728321, 8),
        (3825123056546413051, 11),
        (318665857834031151167461, 12),
        (3317044064679887385961981, 13),
        (ARNAULT, 62),
    ],
    ids=lambda value: str(value)[:9],
)
def test_strong_pseudoprimes(number, bases):
    primes = [n for n in range(2, 300) if all(n % k for k in range(2, n))][:bases]
    assert len(primes) == bases
    assert all(passes(number, base) for base in primes)
    assert not is_prime(number, ROUNDS)
    if number > 1 << 64:  # trial division finds no factor: Miller and Rabin's test with base 2 errs
        assert is_prime(number, 1, bits_of=lambda _: 2)


def test_carmichael_numbers():
    """Products (6k + 1)(12k + 1)(18k + 1) of primes, which pass Fermat's test with every base."""
    found = 0
    for k in range(1 << 64, (1 << 64) + 20000):
        factors = 6 * k + 1, 12 * k + 1, 18 * k + 1
        if all(is_prime(factor, 1) for factor in factors):
            number = math.prod(factors)
            assert pow(2, number - 1, number) == pow(3, number - 1, number) == 1
            assert not is_prime(number, ROUNDS)
            found += 1
    assert found


def test_primes_of_the_test_are_the_primes():
    sieve = {n for n in range(2, 6000) if all(n % k for k in range(2, math.isqrt(n) + 1))}
    assert {n for n in range(-10, 6000) if is_prime(n, ROUNDS)} == sieve
    assert is_prime((1 << 521) - 1, ROUNDS)
    assert not is_prime(((1 << 89) - 1) * ((1 << 107) - 1), ROUNDS)


def test_an_exponentiation_a_round_and_squarings_where_twos_are():
    calls = []

    def power(x, e, m):
        assert 1 < x < m - 1
        calls.append(e)
        return pow(x, e, m)

    assert is_prime((1 << 521) - 1, 5, power)
    assert calls == [(1 << 520) - 1] * 5
    proth = 3 << 189 | 1  # 3 * 2^189 + 1 is prime
    assert is_prime(proth, 5, power)
    assert calls[5:] == [3] * 5
    assert is_prime(2063, 1, pow)
    assert not is_prime(3 * ((1 << 521) - 1), 5, power)
    assert len(calls) == 10  # trial division was enough


def test_rounds_are_those_of_table_b1():
    """FIPS 186-5, Table B.1, for p and q and for their auxiliary primes; 186-4, Table C.2."""
    for security, bits, rounds in (
        *((100, 1024, 4), (112, 1024, 5), (100, 1536, 3), (128, 1536, 4)),
        *((100, 2048, 2), (144, 2048, 4), (100, 140, 32), (112, 140, 38)),
        *((100, 170, 27), (128, 170, 41), (100, 200, 22), (144, 200, 44), (100, 512, 7)),
    ):
        assert miller_rabin_rounds(bits, security) == rounds


def test_what_trial_division_leaves():
    odd = range(1_000_001, 1_100_001, 2)
    primes = [n for n in range(3, 2048, 2) if all(n % k for k in range(3, n, 2))]
    left = sum(all(number % prime for prime in primes) for number in odd)
    assert left / len(odd) == pytest.approx(SIEVED, rel=0.1)


def test_a_source_that_never_fits():
    assert draw_until(lambda drawn: drawn > 3, iter((1, 2, 3, 4, 5)).__next__) == 4
    with pytest.raises(RandomSourceError, match="does not return random numbers"):
        draw_until(lambda drawn: drawn > 3, lambda: 3)
    with pytest.raises(RandomSourceError, match="does not return random numbers"):
        is_prime((1 << 521) - 1, 1, bits_of=lambda bits: 0)
