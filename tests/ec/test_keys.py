"""Key files of elliptic curves."""

from pathlib import Path

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from coprime.ec import keys
from coprime.ec.edwards import ED448, ED25519
from coprime.ec.montgomery import X448, X25519
from coprime.ec.weierstrass import curve_named
from coprime.rsa.keys import KeyFileError, PassphraseMissingError
from tests.certificates import certificate
from tests.openssl import openssl

OPENSSH = Path(cryptography_vectors.__file__).parent / "asymmetric" / "OpenSSH"
P_256 = curve_named("P-256")
NAMED = {curve.name: library for curve, library in keys._LIBRARY.items()}


@pytest.mark.matrix(quick=6)
@pytest.mark.parametrize("curve", keys.CURVES.values(), ids=lambda curve: curve.name)
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
    with pytest.raises(ValueError, match=r"of P-256 has (32|65) bytes"):
        kind(P_256, bytes(31))


def test_numbers_that_are_no_keys():
    for scalar in (0, P_256.n):
        with pytest.raises(ValueError, match="a scalar of P-256 is from 1 to the order of its po"):
            keys.CurvePrivateKey(P_256, P_256.encode_scalar(scalar))
    x, y = P_256.base
    with pytest.raises(ValueError, match="the point is not on P-256"):
        keys.CurvePublicKey(P_256, P_256.encode_point((x, y ^ 1)))


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER])
@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_keys_of_cryptography(name, encoding, form):
    """SEC 1, too, of the same number; and public keys with a compressed point."""
    theirs = ec.generate_private_key(NAMED[name])
    own = keys.parse_private(theirs.private_bytes(encoding, form, NoEncryption()))
    assert own.curve.name == name
    assert int.from_bytes(own.scalar) == theirs.private_numbers().private_value
    public = theirs.public_key()
    info = public.public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)
    assert keys.parse_public(info) == own.software_public()
    assert own.software_public().encode(encoding) == info
    plain = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    assert own.software_public().point == plain


@pytest.mark.parametrize("name", ["prime256v1", "secp521r1", "brainpoolP384r1"])
def test_keys_of_openssl(name):
    """With the parameters before the key, encrypted, and a public key with a compressed point."""
    pem = openssl("ecparam", "-name", name, "-genkey")
    assert b"EC PARAMETERS" in pem
    own = keys.parse_private(pem)
    encrypted = openssl("ec", "-aes128", "-passout", "pass:hush", data=pem)
    assert keys.parse_private(encrypted, "hush") == own
    compressed = openssl("ec", "-pubout", "-conv_form", "compressed", data=pem)
    assert keys.parse_public(compressed) == own.software_public()


def test_keys_of_openssh():
    own = keys.load_private(OPENSSH / "ecdsa-nopsw.key", "not needed")
    assert own.curve is curve_named("P-256")
    assert keys.load_public(OPENSSH / "ecdsa-nopsw.key.pub") == own.software_public()
    theirs = ec.generate_private_key(ec.SECP521R1())
    own = keys.parse_private(
        theirs.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    )
    line = theirs.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    assert keys.parse_public(line) == own.software_public()
    with pytest.raises(PassphraseMissingError):
        keys.load_private(OPENSSH / "ecdsa-psw.key")
    own = keys.load_private(OPENSSH / "ed25519-nopsw.key")
    assert own.curve is ED25519
    assert keys.load_public(OPENSSH / "ed25519-nopsw.key.pub") == own.software_public()
    for name in ("dsa-nopsw.key", "rsa-nopsw.key"):
        with pytest.raises(KeyFileError, match="a private key that is not of X25519"):
            keys.load_private(OPENSSH / name)


@pytest.mark.parametrize("curve", [P_256, ED25519])
def test_the_key_of_a_certificate(curve):
    key = keys.CurvePrivateKey.generate(curve)
    theirs = load_pem_private_key(key.encode(), None)
    for encoding in (Encoding.PEM, Encoding.DER):
        data = certificate(theirs).public_bytes(encoding)
        assert keys.parse_public(data) == key.software_public()
        with pytest.raises(KeyFileError, match="only a public key, and a private key is needed"):
            keys.parse_private(data)


def test_curves_that_are_not_there():
    theirs = ec.generate_private_key(ec.SECP192R1())
    with pytest.raises(KeyFileError, match="a private key that is not of X25519"):
        keys.parse_private(theirs.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    info = PublicFormat.SubjectPublicKeyInfo
    with pytest.raises(KeyFileError, match="a public key that is not of X25519"):
        keys.parse_public(theirs.public_key().public_bytes(Encoding.PEM, info))


def test_points_off_the_curve():
    """And the point at infinity: the library has no such keys."""
    public = keys.CurvePrivateKey.generate(P_256).software_public()
    der = public.encode(Encoding.DER)
    x, y = P_256.decode_point(public.point)
    for point in (P_256.encode_point((x, y ^ 1)), bytes(65), b"\4" + bytes(64)):
        with pytest.raises(KeyFileError, match=r"(corrupt or |the file )holds no public key"):
            keys.parse_public(der[:-65] + point)
    infinity = bytes.fromhex("3019301306072a8648ce3d020106082a8648ce3d030107") + b"\3\2\0\0"
    with pytest.raises(KeyFileError, match=r"(corrupt or |the file )holds no public key"):
        keys.parse_public(infinity)
    with pytest.raises(KeyFileError, match="cut off: 64 bytes are missing"):
        keys.parse_public(der[:-65] + b"\0")


def test_points_off_an_edwards_curve():
    """The library reads them; y = 2 is of no point, and p + 1 is not below p."""
    for curve, y in ((ED25519, 2), (ED25519, ED25519.p + 1), (ED448, 2), (ED448, ED448.p + 1)):
        public = keys.CurvePrivateKey.generate(curve).software_public()
        der = public.encode(Encoding.DER)
        with pytest.raises(
            KeyFileError, match=f"no public key: the bytes are no point of {curve.name}"
        ):
            keys.parse_public(der[: -curve.size] + y.to_bytes(curve.size, "little"))


@pytest.mark.parametrize("name", ["Ed25519", "Ed448"])
def test_eddsa_keys_of_openssl(name):
    pem = openssl("genpkey", "-algorithm", name)
    own = keys.parse_private(pem)
    assert own.curve.name == name
    assert keys.parse_public(openssl("pkey", "-pubout", data=pem)) == own.software_public()
    assert openssl("pkey", data=own.encode()) == pem


def test_files_that_hold_no_such_key(tmp_path):
    other = dsa.generate_private_key(1024)
    private = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    key = keys.CurvePrivateKey.generate(X25519)
    for parse, data, sentence in (
        (
            keys.parse_private,
            private,
            "a private key that is not of X25519, X448, Ed25519, Ed448, P-224, ",
        ),
        (keys.parse_public, public, "a public key that is not of .* or brainpoolP512r1"),
        (keys.parse_private, key.software_public().encode(), "holds only a public key"),
        (keys.parse_public, key.encode(), "a private key, and a public key is needed"),
        (keys.parse_private, b"", "the file is empty"),
        (keys.parse_public, b"", "the file is empty"),
        (keys.parse_private, key.encode(b"hush"), "there is no passphrase"),
    ):
        with pytest.raises(KeyFileError, match=sentence):
            parse(data)
    with pytest.raises(PassphraseMissingError):
        keys.parse_private(key.encode(b"hush"))
    with pytest.raises(KeyFileError, match="the passphrase is wrong"):
        keys.parse_private(key.encode(b"hush"), b"loud")
    with pytest.raises(KeyFileError, match="cannot be read"):
        keys.load_public(tmp_path / "none")
    with pytest.raises(ValueError, match="empty"):
        key.encode(b"")


def test_keys_of_two_curves():
    key = keys.CurvePrivateKey.generate(X25519)
    other = keys.CurvePrivateKey.generate(X448).software_public()
    with pytest.raises(ValueError, match="key is of X25519, and the public key of X448"):
        keys.check_agreement(key, other)
