import random

import pytest
from coprime_evidence.assess.another_key import difference_of_keys

from coprime.ec.samples import SHORT_WEIERSTRASS
from coprime.model.curve_points import signature

Z, D, K = 0x1357_9BDF_0246_8ACE, 0x7A3B_91C5_D2E4_F608, 0x1234_5678_9ABC_DEF1


def difference_found(d, k=K, z=Z):
    curve = SHORT_WEIERSTRASS
    signed = signature(z, d % curve.n, k, *curve.base, **curve.numbers)
    gx, gy = curve.base
    return difference_of_keys(signed, z=z, d=D, gx=gx, gy=gy, **curve.numbers)


@pytest.mark.parametrize("difference", [0, 1, 2, -2, 4, 3 << 17, -(5 << 34), 1023 << 40, -1 << 63])
def test_a_key_that_differs_in_few_bits(difference):
    assert difference_found(D + difference) in (difference, difference % SHORT_WEIERSTRASS.n)


def test_a_hash_of_0():
    assert difference_found(D + 8, z=0) == 8


def test_other_signatures():
    generator = random.Random(1)
    for _ in range(3):
        assert difference_found(generator.randrange(1, SHORT_WEIERSTRASS.n)) is None
    curve = SHORT_WEIERSTRASS
    gx, gy = curve.base
    for wrong in ((0, 1), (1, 0), (curve.n, 1), (1, curve.n)):
        assert difference_of_keys(wrong, z=Z, d=D, gx=gx, gy=gy, **curve.numbers) is None
