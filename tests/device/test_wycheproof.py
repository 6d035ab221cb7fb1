"""Wycheproof through the whole accelerator, exponentiation and padding."""

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import padding as reference

from coprime.catalog import family_named
from coprime.device.padding import PaddedAccelerator
from coprime.device.simulated import open_simulation
from coprime.engine.contract import Error
from coprime.padding.scheme import Padding, Scheme
from coprime.rsa import keys
from tests.wycheproof import FILES, vectors

pytestmark = pytest.mark.vectors


FAMILIES = {"karatsuba": {"word": "64"}, "compact": {}, "ring": {}}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in FAMILIES],
)
def padded(request):
    settings = {"max_bits": "2048", **FAMILIES[request.param]}
    choice = family_named(request.param).choose(settings)
    with open_simulation(choice, paddings=tuple(Padding)) as device:
        yield PaddedAccelerator(device)


BAD = object()
"""The answer to a wrong padding."""


def attempt(action):
    """What the hardware answers."""
    try:
        return action()
    except Exception as error:
        assert error.code in (Error.PADDING, Error.OPERAND_RANGE)
        return BAD


@pytest.mark.parametrize(("scheme", "file"), FILES, ids=lambda one: str(one)[-30:])
def test_wycheproof(padded, scheme, file):
    count = 0
    for vector in vectors(file):
        if scheme.signs:
            padded.load_public(vector.n, vector.e)
            found = attempt(
                lambda v=vector: padded.verify(v.digest, v.data, scheme, salt_length=v.salt_length)
            )
            assert (found is not BAD) == vector.valid, vector.name
        else:
            padded.load_private(vector.key)
            found = attempt(lambda v=vector: padded.decrypt(v.data, scheme, label=v.label))
            if scheme is Scheme.PKCS1 and not vector.valid and vector.fits:
                theirs = serialization.load_pem_private_key(keys.private_pem(vector.key), None)
                expected = theirs.decrypt(vector.data, reference.PKCS1v15())
                assert found == expected, vector.name
            else:
                assert found == (vector.message if vector.valid else BAD), vector.name
        count += 1
    assert count >= 30
