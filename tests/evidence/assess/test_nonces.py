import random

import pytest
from coprime_evidence.assess.nonces import key_follows

from coprime.ec.samples import SHORT_WEIERSTRASS
from coprime.model.curve_points import signature

N = SHORT_WEIERSTRASS.n
Z, D = 0x1357_9BDF_0246_8ACE, 0x7A3B_91C5_D2E4_F608


def signed(nonces):
    curve = SHORT_WEIERSTRASS
    return [signature(Z, D, k, *curve.base, **curve.numbers) for k in nonces]


def nonces(weakness, generator, count=8):
    """48 of 64 bits are random."""
    high, low = generator.getrandbits(15) << 48, generator.getrandbits(16)
    for _ in range(count):
        own = generator.randrange(1, N)
        short = own % (1 << 48)
        yield {
            "none": own,
            "short": short,
            "high": high | short,
            "low": own >> 17 << 16 | low,
        }[weakness]


@pytest.mark.parametrize("weakness", ["short", "high", "low"])
def test_nonces_with_equal_bits_give_the_key_away(weakness):
    for seed in range(5):
        found = signed(nonces(weakness, random.Random(seed)))
        assert key_follows(found, Z, D, N)


def test_a_nonce_that_comes_twice():
    k, other = 0x1234_5678_9ABC_DEF1, 0x2345_6789_ABCD_EF12
    for again in (k, N - k):
        assert key_follows(signed([k, other, again]), Z, D, N)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8])
def test_sound_nonces(count):
    for seed in range(5):
        found = signed(nonces("none", random.Random(seed), count=count))
        assert not key_follows(found, Z, D, N)
