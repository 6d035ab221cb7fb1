"""Key files of X25519 and X448."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from coprime.ec import keys
from coprime.ec.montgomery import CURVES, X448, X25519
from coprime.rsa.keys import KeyFileError, PassphraseMissingError


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER])
def test_round_trips(curve, encoding):
    key = keys.CurvePrivateKey.generate(curve)
    for phrase in (None, b"hush"):
        assert keys.parse_private(key.encode(phrase, encoding), phrase) == key
    public = key.software_public()
    assert keys.parse_public(public.encode(encoding)) == public


def test_reprs_show_no_secret():
    key = keys.CurvePrivateKey(X25519, b"\xa5" * 32)
    assert "a5" not in repr(key)
    assert "scalar" not in repr(key)


@pytest.mark.parametrize("kind", [keys.CurvePrivateKey, keys.CurvePublicKey])
def test_lengths(kind):
    with pytest.raises(ValueError, match="of X448 has 56 bytes, not 32"):
        kind(X448, bytes(32))


def test_files_that_hold_no_such_key(tmp_path):
    other = ed25519.Ed25519PrivateKey.generate()
    private = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    own = keys.CurvePrivateKey.generate(X25519)
    for parse, data, sentence in (
        (keys.parse_private, private, "a private key that is not of X25519 or X448"),
        (keys.parse_public, public, "a public key that is not of X25519 or X448"),
        (keys.parse_private, own.software_public().encode(), "holds only a public key"),
        (keys.parse_public, own.encode(), "a private key, and a public key is needed"),
        (keys.parse_private, b"", "holds no private key"),
        (keys.parse_public, b"", "holds no public key"),
        (keys.parse_private, own.encode(b"hush"), "there is no passphrase"),
    ):
        with pytest.raises(KeyFileError, match=sentence):
            parse(data)
    with pytest.raises(PassphraseMissingError):
        keys.parse_private(own.encode(b"hush"))
    with pytest.raises(KeyFileError, match="the passphrase is wrong"):
        keys.parse_private(own.encode(b"hush"), b"loud")
    with pytest.raises(KeyFileError, match="cannot be read"):
        keys.load_public(tmp_path / "none")
    with pytest.raises(ValueError, match="empty"):
        own.encode(b"")


def test_keys_of_two_curves():
    own = keys.CurvePrivateKey.generate(X25519)
    other = keys.CurvePrivateKey.generate(X448).software_public()
    with pytest.raises(ValueError, match="key is of X25519, and the public key of X448"):
        keys.check_same_curve(own, other)
