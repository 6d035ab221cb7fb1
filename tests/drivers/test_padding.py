"""The C driver on accelerators with padding in hardware, against `cryptography`."""

import hashlib

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding as reference

from coprime.engine.contract import Error
from coprime.model.padding_formats import rejection_message
from coprime.padding.scheme import Padding, Scheme
from coprime.rsa import keys
from tests.device.test_padding import BITS, DIGEST, KEY, SHA256, SIZE, THEIRS, oaep, pss
from tests.drivers.harness import octets
from tests.drivers.test_driver import load_private, start

pytestmark = [pytest.mark.xdist_group("drivers, padding"), pytest.mark.matrix]

SIZE_ERROR = 260
SECRET = hashlib.sha256(KEY.d.to_bytes(SIZE)).digest()
UNTOUCHED = (0, int.from_bytes(b"\x5a" * SIZE))


@pytest.fixture(scope="module")
def padded(tmp_path_factory):
    """That of tests/device/test_padding.py, so that it is built once."""
    folder = tmp_path_factory.mktemp("padded")
    harness = start(folder, "fdfm", {"max_bits": BITS}, tuple(Padding))
    assert harness("open")[0] == 0
    load_private(harness, KEY, KEY.e)
    yield harness
    harness.close()


def go(harness, private, scheme, data, **settings):
    """The error's code, or the bytes."""
    strings = (settings.get(name) for name in ("salt", "secret", "label", "digest"))
    code, size, number = harness(
        *("padded", int(private), int(scheme), int(settings.get("hash", 0))),
        *(int(settings.get("digest_info", 1)), settings.get("salt_length", 32)),
        *("-" if one is None else "x" + one.hex() for one in (*strings, data)),
    )
    if code:
        assert (size, number) == UNTOUCHED
        return code
    return number.to_bytes(size)


def test_encryption(padded):
    for message in (b"", b"m", b"\0" * (SIZE - 11)):
        ciphertext = go(padded, 0, Scheme.PKCS1, message)
        assert THEIRS.decrypt(ciphertext, reference.PKCS1v15()) == message
    label = hashlib.sha256(b"label").digest()
    for message in (b"", bytes(range(SIZE - 66))):
        assert THEIRS.decrypt(go(padded, 0, Scheme.OAEP, message), oaep()) == message
        ciphertext = go(padded, 0, Scheme.OAEP, message, label=label)
        assert THEIRS.decrypt(ciphertext, oaep(b"label")) == message


def test_decryption(padded):
    public = THEIRS.public_key()
    ciphertext = public.encrypt(b"abcde", reference.PKCS1v15())
    assert go(padded, 1, Scheme.PKCS1, ciphertext, secret=SECRET) == b"abcde"
    wrong = (3).to_bytes(SIZE)
    assert go(padded, 1, Scheme.PKCS1, wrong, secret=SECRET) == rejection_message(SECRET, wrong)
    label = hashlib.sha256(b"label").digest()
    ciphertext = public.encrypt(b"m", oaep(b"label"))
    assert go(padded, 1, Scheme.OAEP, ciphertext, label=label) == b"m"
    assert go(padded, 1, Scheme.OAEP, ciphertext) == Error.PADDING


@pytest.mark.matrix
def test_signatures(padded):
    public = THEIRS.public_key()
    signature = go(padded, 1, Scheme.PSS, b"message", hash=1)
    public.verify(signature, b"message", pss(), SHA256)
    signature = go(padded, 1, Scheme.PSS, DIGEST, salt=b"salt", salt_length=4)
    public.verify(signature, b"message", pss(4), SHA256)
    assert go(padded, 1, Scheme.PSS, DIGEST, salt=b"salt", salt_length=4) == signature
    signature = go(padded, 1, Scheme.PKCS1_SIGNATURE, DIGEST)
    public.verify(signature, b"message", reference.PKCS1v15(), SHA256)
    signature = go(padded, 1, Scheme.PKCS1_SIGNATURE, DIGEST, digest_info=0)
    with pytest.raises(InvalidSignature):
        public.verify(signature, b"message", reference.PKCS1v15(), SHA256)


def test_verification(padded):
    for scheme, theirs in (
        (Scheme.PSS, pss()),
        (Scheme.PKCS1_SIGNATURE, reference.PKCS1v15()),
    ):
        signature = THEIRS.sign(b"message", theirs, SHA256)
        assert go(padded, 0, scheme, signature, digest=DIGEST) == b""
        assert go(padded, 0, scheme, signature, digest=bytes(32)) == Error.PADDING
        other = (int.from_bytes(signature) ^ 1).to_bytes(SIZE)
        assert go(padded, 0, scheme, other, digest=DIGEST) == Error.PADDING
        assert go(padded, 0, scheme, signature[1:], digest=DIGEST) == SIZE_ERROR
        assert go(padded, 0, scheme, b"\0" + signature, digest=DIGEST) == SIZE_ERROR
        over = KEY.n.to_bytes(SIZE)
        assert go(padded, 0, scheme, over, digest=DIGEST) == Error.OPERAND_RANGE


def test_what_is_wrong_is_told(padded):
    longest = b"m" * (SIZE - 11)
    assert go(padded, 0, Scheme.PKCS1, longest + b"m") == Error.INPUT_CLIPPED
    assert go(padded, 0, Scheme.PKCS1, bytes(SIZE + 1)) == Error.INPUT_CLIPPED
    assert go(padded, 1, Scheme.PKCS1, bytes(SIZE)) == Error.OPERAND_MISSING  # no secret
    assert go(padded, 1, Scheme.OAEP, bytes(SIZE - 1)) == SIZE_ERROR
    assert go(padded, 0, Scheme.PSS, bytes(SIZE)) == Error.OPERAND_MISSING  # no digest
    assert go(padded, 1, Scheme.PSS, DIGEST, salt_length=33) == SIZE_ERROR
    for scheme in (Scheme.PSS, Scheme.PKCS1_SIGNATURE):
        assert go(padded, 1, scheme, DIGEST[1:]) == SIZE_ERROR
    for scheme in (Scheme.NONE, 5):
        assert go(padded, 0, scheme, b"m") == Error.UNSUPPORTED
    # The operations without padding work beside them.
    assert padded("public", octets(5))[:2] == (0, pow(5, KEY.e, KEY.n))


def test_without_padding_in_hardware_nothing_is_written(tmp_path):
    harness = start(tmp_path, "fdfm", {})
    harness("open")
    load_private(harness, keys.generate(128, seed=1), 65537)
    code, *_ = harness("padded", 0, 1, 0, 0, 0, *("-",) * 4, "x6d")
    assert code == Error.UNSUPPORTED
    harness.close()
