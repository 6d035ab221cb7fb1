"""What signatures tell of their masks."""

from functools import cache

import pytest

from coprime.model.lattice import arithmetic, ml_dsa
from coprime.model.lattice import ml_dsa_masks as masks
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

P = ML_DSA_SETS[0]
PK, SK = ml_dsa.key_pair(P, bytes(32))
MU, RND = bytes(64), bytes(range(32))


@cache
def signed():
    return ml_dsa.sign(P, SK, MU, RND)


def drawn(number):
    """The mask of an iteration, as the standard draws it."""
    seed = ml_dsa.hashed(SK[32:64] + RND + MU, 64)
    first = number * P.columns
    return [ml_dsa.mask(P, seed, first + column) for column in range(P.columns)]


def signature_with(y, challenge):
    """c~ and z of a mask, with no hints: as a faulty engine may give it."""
    c = arithmetic.transform(ml_dsa.challenge(P, challenge))
    packed = b""
    for mask, s in zip(y, ml_dsa.unpack_private(P, SK).s1, strict=True):
        product = ml_dsa.small_product(P, c, arithmetic.transform(s))
        z = [x + y for x, y in zip(mask, product, strict=True)]
        packed += ml_dsa.pack_below(P.gamma1, z, P.z_bits)
    return challenge + packed + bytes(P.omega + P.k)


def test_masks_are_those_that_were_drawn():
    done = signed()
    assert masks.mask_of(P, SK, done.signature) == drawn(done.iterations - 1)
    # One of a wrong signature is found, too.
    y = [[x // 2 for x in one] for one in drawn(0)]  # so that z is in range
    assert masks.mask_of(P, SK, signature_with(y, bytes(32))) == y


def changed(place, change):
    y = [list(one) for one in drawn(7)]
    y[place] = change(y)
    return y


@pytest.mark.parametrize(
    "y",
    [
        changed(2, lambda y: [0] * 256),
        changed(0, lambda y: [x % (P.gamma1 // 2) for x in y[0]]),
        changed(3, lambda y: [x & ~16 for x in y[3]]),
        changed(1, lambda y: y[2]),
        changed(1, lambda y: y[1][:100] + y[1][:3] + y[1][103:]),
        changed(1, lambda y: y[3][50:70] + y[1][20:]),
    ],
    ids=["zero", "short", "bit", "twice", "window", "part"],
)
def test_weak_masks(y):
    assert masks.is_weak(P, y)
    assert not masks.is_weak(P, drawn(7))


def test_masks_with_a_part_in_common():
    y, other = drawn(3), drawn(4)
    assert not masks.have_in_common(y, other)
    assert masks.have_in_common(y, y)
    other[2][200:203] = y[0][10:13]
    assert masks.have_in_common(y, other)
    other[2][201] += 1
    assert not masks.have_in_common(y, other)
