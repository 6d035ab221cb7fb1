import random

import pytest

from coprime.ec.edwards import ED448, ED25519
from coprime.ec.weierstrass import CURVES
from coprime.model.roots import square_root


@pytest.mark.parametrize("p", [3, 5, 7, 17, 29, 97, 193, 257])
def test_every_number(p):
    squares = {x * x % p for x in range(p)}
    for one in range(p):
        root = square_root(one, p)
        assert (root is not None) is (one in squares)
        assert root is None or root * root % p == one


@pytest.mark.parametrize("curve", [*CURVES, ED25519, ED448], ids=lambda one: one.name)
def test_the_fields_of_curves(curve):
    for seed in range(8):
        x = random.Random(seed).randrange(curve.p)
        assert square_root(x * x % curve.p, curve.p) in (x, curve.p - x)
