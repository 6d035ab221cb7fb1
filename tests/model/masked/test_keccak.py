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


def masks_of_the_first_round():
    """Share 0 of each bit of the first round's state after pi, as a sum of the masks of a block's
    21 lanes; the other lanes have none."""
    lanes = [[1 << 64 * k + z if k < 21 else 0 for z in range(64)] for k in range(25)]
    parity = [[sum_of(lanes[x + 5 * y][z] for y in range(5)) for z in range(64)] for x in range(5)]
    found = {}
    for k, lane in enumerate(lanes):
        x, turn = k % 5, keccak.ROTATIONS[k]
        for z, mask in enumerate(lane):
            added = parity[(x + 4) % 5][z] ^ parity[(x + 1) % 5][z - 1]
            found[keccak.moved(k), (z + turn) % 64] = mask ^ added
    return found


def sum_of(vectors):
    total = 0
    for vector in vectors:
        total ^= vector
    return total


def guard_of(x, y, z, width):
    """The bit of the state, or none where it is a fresh one."""
    if y < 4:
        return x + 5 * y + 5, z
    return None if z % width == width - 1 else (x, z + 1)


@pytest.mark.parametrize("width", [4, 8])
def test_wires_of_the_first_round_see_independent_masks(width):
    """Four lanes begin without a mask. Theta gives them some, and those of all bits that a product,
    or a bit after theta, depends on are independent, as if the state was uniform."""
    masks = masks_of_the_first_round()

    def added(x, y, z):
        """The bits whose share 0 a bit of the result has, whatever the state is."""
        return {(x + 5 * y, z), ((x + 1) % 5 + 5 * y, z), guard_of(x, y, z, width)} - {None}

    for x in range(5):
        for y in range(5):
            for z in range(64):
                product = added(x, y, z) | {((x + 2) % 5 + 5 * y, z)}
                columns = [((x + 4) % 5, row, z) for row in range(5)]
                columns += [((x + 1) % 5, row, (z - 1) % 64) for row in range(5)]
                wire = set().union(*(added(*bit) for bit in [(x, y, z), *columns]))
                for bits in (product, wire):
                    assert rank([masks[bit] for bit in bits]) == len(bits)
