"""Each RSA mechanism, with `cryptography` on the other side; the engine uses the private key."""

import os

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

from coprime.token.module import TokenError
from tests.token import cryptoki

pytestmark = pytest.mark.xdist_group("token")

# Of each hash: CKM_*, CKM_*_RSA_PKCS, CKM_*_RSA_PKCS_PSS, CKG_MGF1_*.
HASHES = {
    hashes.SHA1: (0x220, 0x06, 0x0E, 1),
    hashes.SHA224: (0x255, 0x46, 0x47, 5),
    hashes.SHA256: (0x250, 0x40, 0x43, 2),
    hashes.SHA384: (0x260, 0x41, 0x44, 3),
    hashes.SHA512: (0x270, 0x42, 0x45, 4),
    hashes.SHA3_224: (0x2B5, 0x66, 0x67, 6),
    hashes.SHA3_256: (0x2B0, 0x60, 0x63, 7),
    hashes.SHA3_384: (0x2C0, 0x61, 0x64, 8),
    hashes.SHA3_512: (0x2D0, 0x62, 0x65, 9),
}
DATA = b"some data"


@pytest.fixture(scope="module")
def key():
    """A key of `cryptography`; SHA-512 with PSS needs 1,042 bits."""
    return rsa.generate_private_key(65537, 1088)


@pytest.fixture(scope="module")
def pair(session, key):
    """The same key in the token: its public and its private half."""
    return session.import_pair(key)


def mask(algorithm):
    return padding.MGF1(algorithm())


@pytest.mark.parametrize("algorithm", HASHES)
def test_signatures_with_pkcs1(session, key, pair, algorithm):
    mechanism = HASHES[algorithm][1]
    signature = session.sign(pair[1], mechanism, DATA)
    assert signature == key.sign(DATA, padding.PKCS1v15(), algorithm())
    check_verification(session, pair[0], mechanism, signature)


@pytest.mark.matrix(quick=3)
@pytest.mark.parametrize("algorithm", HASHES)
def test_signatures_with_pss(session, key, pair, algorithm):
    digest, _, mechanism, generator = HASHES[algorithm]
    for salt in (0, algorithm.digest_size):
        parameter = cryptoki.pss(digest, generator, salt)
        scheme = padding.PSS(mask(algorithm), salt)
        signature = session.sign(pair[1], mechanism, DATA, parameter)
        key.public_key().verify(signature, DATA, scheme, algorithm())
        theirs = key.sign(DATA, scheme, algorithm())
        check_verification(session, pair[0], mechanism, theirs, parameter)


def check_verification(session, public, mechanism, signature, parameter=b""):
    """The token takes this signature, and none of another text, or with another bit."""
    session.verify(public, mechanism, DATA, signature, parameter)
    wrong = signature[:-1] + bytes([signature[-1] ^ 1])
    for data, given in ((DATA + b".", signature), (DATA, wrong)):
        with pytest.raises(TokenError) as error:
            session.verify(public, mechanism, data, given, parameter)
        assert error.value.code == cryptoki.SIGNATURE_INVALID


def test_signatures_of_a_digest(session, key, pair):
    """CKM_RSA_PKCS takes a DigestInfo, CKM_RSA_PKCS_PSS a digest."""
    hasher = hashes.Hash(hashes.SHA256())
    hasher.update(DATA)
    digest = hasher.finalize()
    info = bytes.fromhex("3031300d060960864801650304020105000420") + digest
    signature = session.sign(pair[1], cryptoki.RSA_PKCS, info)
    assert signature == key.sign(DATA, padding.PKCS1v15(), hashes.SHA256())
    parameter = cryptoki.pss(0x250, 2, 32)
    signature = session.sign(pair[1], cryptoki.RSA_PKCS_PSS, digest, parameter)
    scheme = padding.PSS(mask(hashes.SHA256), 32)
    key.public_key().verify(signature, digest, scheme, Prehashed(hashes.SHA256()))
    with pytest.raises(InvalidSignature):
        key.public_key().verify(signature, bytes(32), scheme, Prehashed(hashes.SHA256()))


@pytest.mark.matrix
def test_the_bare_operation(session, key, pair):
    numbers = key.private_numbers()
    n, size = numbers.public_numbers.n, 1088 // 8
    for value in (0, 1, 2, n - 1, n - 2, int.from_bytes(os.urandom(size)) % n):
        text = value.to_bytes(size)
        expected = pow(value, numbers.d, n).to_bytes(size)
        assert session.sign(pair[1], cryptoki.RSA_X_509, text) == expected
        assert session.decrypt(pair[1], cryptoki.RSA_X_509, text) == expected
        assert session.encrypt(pair[0], cryptoki.RSA_X_509, expected) == text
    with pytest.raises(TokenError):
        session.sign(pair[1], cryptoki.RSA_X_509, n.to_bytes(size))


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    ("algorithm", "label"),
    [
        pytest.param(one, label, marks=[pytest.mark.clients] * ((k + bool(label)) % 2))
        for k, one in enumerate([*HASHES][:4])
        for label in (b"", b"a label")
    ],
)
def test_oaep(session, key, pair, algorithm, label):
    digest, _, _, generator = HASHES[algorithm]
    parameter = cryptoki.Oaep(digest, generator, label)
    scheme = padding.OAEP(mask(algorithm), algorithm(), label or None)
    for message in (b"", b"\0", DATA):
        theirs = key.public_key().encrypt(message, scheme)
        assert session.decrypt(pair[1], cryptoki.RSA_PKCS_OAEP, theirs, parameter) == message
        ours = session.encrypt(pair[0], cryptoki.RSA_PKCS_OAEP, message, parameter)
        assert key.decrypt(ours, scheme) == message
    other = cryptoki.Oaep(digest, generator, b"another")
    with pytest.raises(TokenError) as error:
        session.decrypt(pair[1], cryptoki.RSA_PKCS_OAEP, theirs, other)
    assert error.value.code == cryptoki.ENCRYPTED_DATA_INVALID


@pytest.mark.parametrize(
    ("given", "used"),
    [(None, hashes.SHA1), (hashes.SHA1, hashes.SHA1), (hashes.SHA256, hashes.SHA256)],
)
def test_oaep_of_a_caller_that_leaves_numbers_0(session, key, pair, given, used):
    """As OpenSSL's pkcs11-provider does: SHA-1 by default, and MGF1 with the same digest."""
    parameter = cryptoki.Oaep(HASHES[given][0] if given else 0, 0)
    theirs = key.public_key().encrypt(DATA, padding.OAEP(mask(used), used(), None))
    assert session.decrypt(pair[1], cryptoki.RSA_PKCS_OAEP, theirs, parameter) == DATA


def test_encryption_with_pkcs1(session, key, pair):
    for message in (b"", b"\0", DATA, bytes(1088 // 8 - 11)):
        theirs = key.public_key().encrypt(message, padding.PKCS1v15())
        assert session.decrypt(pair[1], cryptoki.RSA_PKCS, theirs) == message
        ours = session.encrypt(pair[0], cryptoki.RSA_PKCS, message)
        assert key.decrypt(ours, padding.PKCS1v15()) == message


def test_implicit_rejection(session, key, pair):
    """A wrong padding gives the message that OpenSSL gives: nobody without the key foresees it."""
    numbers = key.public_key().public_numbers()
    size = 1088 // 8
    wrong = (
        bytes(size),
        b"\0\1" + bytes([255] * (size - 2)),
        b"\0\2" + bytes([255] * (size - 2)),  # no zero
        b"\0\2" + bytes([255] * 7) + b"\0" + bytes(size - 10),  # too little padding
        b"\1\2" + bytes([255] * 20) + b"\0" + bytes(size - 23),
    )
    for padded in wrong:
        value = pow(int.from_bytes(padded) % numbers.n, 65537, numbers.n)
        ciphertext = value.to_bytes(size)
        message = session.decrypt(pair[1], cryptoki.RSA_PKCS, ciphertext)
        assert message == key.decrypt(ciphertext, padding.PKCS1v15())
        assert message == session.decrypt(pair[1], cryptoki.RSA_PKCS, ciphertext)


@pytest.mark.parametrize("algorithm", HASHES)
def test_digests(session, algorithm):
    hasher = hashes.Hash(algorithm())
    hasher.update(DATA)
    assert session.digest(HASHES[algorithm][0], DATA) == hasher.finalize()
