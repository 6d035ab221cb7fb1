"""The masked private operation in integers, against Python's powers."""

import math
import random
from types import SimpleNamespace

import pytest

from coprime.model.masked_private import MaskedPrivate
from coprime.rsa.keys import generate

BITS = 17


def drawn(generator, key, x):
    return MaskedPrivate(
        key,
        x,
        t=generator.randrange(1 << BITS) + (1 << BITS - 1),
        bits=BITS,
        r=generator.randrange(1, key.n),
        k_p=generator.getrandbits(68),
        k_q=generator.getrandbits(68),
    )


@pytest.mark.parametrize("seed", range(3))
def test_results(seed):
    key, generator = generate(128, seed=seed), random.Random(seed)
    for x in (0, 1, key.n - 1, key.p, key.q, *(generator.randrange(key.n) for _ in range(10))):
        own = drawn(generator, key, x)
        assert own.result == pow(x, key.d, key.n)
        assert own.is_right
        assert max(own.masked, own.claimed, own.masked_result) < key.n << BITS + 1


def test_residues():
    """Modulo 2^bits - 1 software finds X in the sum of what the check has used."""
    key, generator = generate(128, seed=1), random.Random(1)
    for x in (0, 1, key.n - 1):
        own = drawn(generator, key, x)
        assert (own.claimed + own.mask - x) % ((1 << BITS) - 1) == 0


def test_the_extreme_masks():
    key = generate(128, seed=2)
    for t in (1 << BITS - 1, 3 * (1 << BITS - 1) - 1):
        own = MaskedPrivate(key, 5, t=t, bits=BITS, r=7)
        assert own.result == pow(5, key.d, key.n) and own.is_right


def test_an_r_that_cannot_be_taken_back():
    """Then the result, 0 modulo a prime, would give this away, and the check sees it."""
    key = generate(128, seed=3)
    for r in (key.p, 3 * key.q, 0):
        own = MaskedPrivate(key, 5, t=1, bits=BITS, r=r)
        assert math.gcd(own.result, key.n) > 1
        assert not own.is_right


def test_a_wrong_exponent_is_seen():
    key = generate(128, seed=4)
    names = ("n", "e", "p", "q", "dp", "dq")
    wrong = SimpleNamespace(**{name: getattr(key, name) for name in names} | {"dp": key.dp ^ 2})
    own = MaskedPrivate(wrong, 5, t=3, bits=BITS, r=11)
    assert own.result != pow(5, key.d, key.n) and not own.is_right
