"""Keccak in two shares is Keccak, and the shares of chi's result are uniform."""

import hashlib
import random

import pytest

from coprime.model import keccak
from coprime.model.masked import keccak as masked_keccak

SEED = 41
WIDTHS = (4, 8, 16, 32)


def shared(generator, state):
    masks = [generator.getrandbits(64) for _ in state]
    return [masks, [lane ^ mask for lane, mask in zip(state, masks, strict=True)]]


def masked_digest(generator, function, message, length, width):
    """As `keccak.digest`, with every block in fresh shares."""
    rate = function.rate_bytes
    data = keccak.padded(function, message)
    shares = [[0] * 25, [0] * 25]
    for place in range(0, len(data), rate):
        lanes = keccak.add_block([0] * 25, data[place : place + rate])
        block = shared(generator, lanes)
        shares = [masked_keccak.combine(pair) for pair in zip(shares, block, strict=True)]
        shares = masked_keccak.permute(shares, width, lambda: generator.getrandbits(5))
    output = b""
    while len(output) < length:
        if output:
            shares = masked_keccak.permute(shares, width, lambda: generator.getrandbits(5))
        state = masked_keccak.combine(shares)[: function.rate_lanes]
        output += b"".join(lane.to_bytes(8, "little") for lane in state)
    return output[:length]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("number", "name"),
    [(1, "sha3_256"), (3, "sha3_512"), (4, "shake_128"), (5, "shake_256")],
    ids=["SHA3-256", "SHA3-512", "SHAKE128", "SHAKE256"],
)
def test_digests_are_those_of_hashlib(number, name, width):
    generator = random.Random(SEED)
    function = keccak.FUNCTIONS[number]
    for size in (0, function.rate_bytes - 1, function.rate_bytes, 300):
        message = generator.randbytes(size)
        made = hashlib.new(name, message)
        length = function.digest_bytes or 200
        wanted = made.digest() if function.digest_bytes else made.digest(length)
        assert masked_digest(generator, function, message, length, width) == wanted


def test_terms_add_up_to_chi_whatever_the_masks_are():
    generator = random.Random(SEED)
    state = [generator.getrandbits(64) for _ in range(25)]
    for _ in range(4):
        masks = [generator.getrandbits(64) for _ in range(25)]
        inner, cross = masked_keccak.chi_terms(shared(generator, state), masks)
        total = [masked_keccak.combine(terms) for terms in zip(inner, cross, strict=True)]
        assert masked_keccak.combine(total) == keccak.chi(state)


def rank(vectors):
    """Of vectors over GF(2), as integers."""
    pivots = {}
    for vector in vectors:
        while vector and vector.bit_length() in pivots:
            vector ^= pivots[vector.bit_length()]
        if vector:
            pivots[vector.bit_length()] = vector
    return len(pivots)


def share_map(state, width, *, cyclic=False):
    """Share 0 of chi's result in the first `width` slices: for a state it is affine in share 0 of
    the state and the fresh bits. For each bit of the result those that it depends on."""
    rows = [(y, z) for z in range(width) for y in range(5)]
    place = {(x, *row): 5 * n + x for n, row in enumerate(rows) for x in range(5)}
    found = []
    for n, (y, z) in enumerate(rows):
        for x in range(5):
            third = state[5 * y + (x + 2) % 5] >> z & 1
            vector = 1 << place[x, y, z]
            # not b_0 c_0 + not b_0 c_1 = not b_0 c: a product with the state itself
            vector ^= third << place[(x + 1) % 5, y, z]
            if cyclic:
                vector ^= 1 << place[x, (y + 1) % 5, z]
            elif n + 1 < len(rows):
                vector ^= 1 << place[(x, *rows[n + 1])]
            else:
                vector ^= 1 << 25 * width + x
            found.append(vector)
    return found


@pytest.mark.parametrize("width", [4, 8])
def test_shares_of_the_result_are_uniform(width):
    """For any state: zeros, ones, and random ones."""
    generator = random.Random(SEED)
    states = [[0] * 25, [(1 << 64) - 1] * 25]
    states += [[generator.getrandbits(64) for _ in range(25)] for _ in range(20)]
    for state in states:
        assert rank(share_map(state, width)) == 25 * width


def test_guards_in_a_circle_are_not_uniform():
    """What happens without the fresh bits: the sum of a column's shares can be known."""
    assert rank(share_map([0] * 25, 4, cyclic=True)) < 25 * 4
