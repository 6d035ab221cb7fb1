import hashlib
import random

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from coprime.model.padding_formats import (
    CANDIDATES,
    DIGEST_INFO,
    PKCS1_BYTES,
    alternative_length,
    candidate_mask,
    rejection_message,
)
from coprime.rsa.padding import Pkcs1Signature

SEED = 3


def test_rejection_is_openssl_s():
    """Any string below the modulus is a ciphertext, of which hardly one has a right padding."""
    generator = random.Random(SEED)
    key = rsa.generate_private_key(65537, 1024)
    secret = hashlib.sha256(key.private_numbers().d.to_bytes(128)).digest()
    for _ in range(20):
        ciphertext = b"\0" + generator.randbytes(127)
        expected = key.decrypt(ciphertext, padding.PKCS1v15())
        assert rejection_message(secret, ciphertext) == expected


@pytest.mark.parametrize("size", [11, 12, 128, 256])
def test_the_alternative_length_is_the_last_candidate_that_fits(size):
    limit = size - PKCS1_BYTES
    none = b"\xff" * 2 * CANDIDATES
    assert alternative_length(none, size) == (limit if candidate_mask(limit + 1) == limit else 0)
    for first, last in ((0, limit), (limit, 0), (0, limit // 2)):
        found = first.to_bytes(2) + last.to_bytes(2) + (limit + 1).to_bytes(2)
        assert alternative_length(found, size) == last


def test_the_identifier_is_software_s():
    digest = hashlib.sha256(b"message").digest()
    assert Pkcs1Signature().encode(b"message", 1024).endswith(b"\0" + DIGEST_INFO + digest)
