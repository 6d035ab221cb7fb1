"""Wycheproof on the padding alone: the exponentiation is Python's, and the engine copies."""

import hashlib

import pytest

from coprime.engine.contract import Error
from coprime.model.padding_formats import rejection_message
from coprime.padding.instructions import PaddingSlot
from coprime.padding.scheme import Padding, Scheme
from tests.bus.test_padding_control import Copying
from tests.wycheproof import FILES, LONGER, vectors


@pytest.fixture(scope="module")
def copying():
    own = Copying(tuple(Padding), 4096)
    yield own
    own.device.close()


def power(vector):
    """The vector's data to the power of its key's exponent."""
    data, key = int.from_bytes(vector.data), vector.key
    if key is None:
        return pow(data, vector.e, vector.n)
    q = pow(data, key.dq, key.q)
    return q + key.q * ((pow(data, key.dp, key.p) - q) * pow(key.q, -1, key.p) % key.p)


@pytest.mark.vectors
@pytest.mark.parametrize(
    ("scheme", "file"),
    [*FILES, *(pytest.param(*one, marks=pytest.mark.vectors) for one in LONGER)],
    ids=lambda one: str(one)[-30:],
)
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.vectors)])
def test_wycheproof(copying, scheme, file, step):
    """Every third test of a file, or every one."""
    secret = bytes(range(32))
    copying.put_slot(PaddingSlot.SECRET, secret)
    loaded, counts = None, {True: 0, False: 0}
    for vector in list(vectors(file))[::step]:
        if not vector.fits:
            assert not vector.valid
            continue
        bits = vector.n.bit_length()
        if bits != loaded:
            copying.load(bits)
            loaded = bits
        encoded = power(vector).to_bytes(vector.size)
        copying.put_slot(PaddingSlot.LABEL, hashlib.sha256(vector.label).digest())
        copying.put_slot(PaddingSlot.MESSAGE, vector.digest)
        copying.set(SCHEME=scheme, LABEL=1, SALT_LENGTH=vector.salt_length)
        copying.put(encoded)
        code = copying.go(private=int(not scheme.signs))[1][0]
        if scheme is Scheme.PKCS1:
            # The ciphertext is the encoded message here.
            expected = vector.message if vector.valid else rejection_message(secret, encoded)
            assert (code, copying.result()) == (Error.NONE, expected), vector.name
        else:
            assert code == (Error.NONE if vector.valid else Error.PADDING), vector.name
            expected = vector.message if vector.valid and scheme is Scheme.OAEP else b""
            assert copying.result() == expected, vector.name
        counts[vector.valid] += 1
    assert counts[True] >= 7 // step
    assert counts[False] >= 12 // step
