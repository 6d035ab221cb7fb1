"""Exponents for the thesis's moduli, whose factors are known."""

import math

import pytest

from coprime.model.moduli import MODULI, PUBLISHED_PAIRS, vassoler_pair
from coprime.rsa import keys
from coprime.rsa.fixed_keys import FixedKey, key_of, prime_factors
from coprime.rsa.primes import is_prime


def test_factors_of_the_thesis_s_moduli():
    for n in PUBLISHED_PAIRS:
        modulus = vassoler_pair(n)[0]
        primes = list(prime_factors(modulus))
        assert math.prod(primes) == modulus
        assert all(is_prime(one, 20) for one in primes)


def test_factors():
    assert sorted(prime_factors(2**4 * 3**2 * 5)) == [2, 2, 2, 2, 3, 3, 5]
    assert list(prime_factors(2**127 - 1)) == [2**127 - 1]
    assert sorted(prime_factors((2**31 - 1) * (2**32 - 5))) == [2**31 - 1, 2**32 - 5]
    with pytest.raises(ValueError, match="2 or more"):
        list(prime_factors(1))
    with pytest.raises(ValueError, match="not found: name a private key with --key, or --bits"):
        list(prime_factors(keys.generate(128, seed=3).n))


def test_every_message_comes_back():
    for n in PUBLISHED_PAIRS:
        modulus = vassoler_pair(n)[0]
        if n in (16, 18):  # 3^2 and 5^2 divide them
            with pytest.raises(ValueError, match=r"[35]\^2 divides the modulus"):
                key_of(modulus)
            continue
        key = key_of(modulus)
        assert isinstance(key, FixedKey)
        assert key.n == modulus
        assert "d=" not in repr(key)
        some = range(modulus) if modulus < 1000 else (0, 1, 2, 3, modulus // 5, modulus - 1)
        encrypted = [pow(x, key.e, modulus) for x in some]
        assert [pow(x, key.d, modulus) for x in encrypted] == list(some)
        assert encrypted != list(some)


def test_the_thesis_s_example():
    """Section 2.1, equations 3 and 4; its d is modulo (p - 1)(q - 1)."""
    key = key_of(3381691693, 5)
    assert pow(17111998, key.e, key.n) == 407188056
    p, q = prime_factors(key.n)
    assert (2028945041 - key.d) % math.lcm(p - 1, q - 1) == 0
    assert pow(407188056, key.d, key.n) == 17111998


def test_the_thesis_s_exponent():
    """65537 is 1 modulo 65536: modulo (2^32 - 1)/3 its power of every number is the number."""
    modulus = MODULI["vassoler-30"].value
    assert all(pow(x, 65537, modulus) == x for x in range(0, modulus, 1234567))
    assert key_of(modulus).e == 3
    assert key_of(MODULI["vassoler-62"].value).e == 65537
    assert key_of(MODULI["goldilocks"].value).d.bit_length() <= 64


@pytest.mark.parametrize(
    ("modulus", "e", "text"),
    [
        (MODULI["vassoler-30"].value, 65537, "is of no use for this modulus: x.e is x for every x"),
        (
            MODULI["vassoler-62"].value,
            5,
            "is of no use for this modulus: no private exponent undoes",
        ),
        (MODULI["vassoler-30"].value, 4, "no private exponent undoes it"),
        (MODULI["vassoler-16"].value, None, "3.2 divides the modulus"),
        (3, None, "must be odd and 5 or more, not 3"),
        (4096, None, "must be odd and 5 or more, not 4096"),
        (2**31 - 1, 2**32 + 1, "greater than the public exponent"),
    ],
)
def test_no_use(modulus, e, text):
    with pytest.raises(ValueError, match=text):
        key_of(modulus, e)
