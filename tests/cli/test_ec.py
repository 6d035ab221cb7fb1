"""`coprime ec`: what it writes, beside `cryptography` and OpenSSL."""

import hashlib
import sys
import tracemalloc
from types import SimpleNamespace

import pytest
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.asymmetric.x448 import X448PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from coprime.ec import ecdsa, keys
from coprime.ec.edwards import ED448, ED25519, EdwardsCurve
from coprime.ec.montgomery import X448, X25519, MontgomeryCurve
from coprime.ec.weierstrass import WeierstrassCurve, curve_named
from coprime.rsa.hashes import HASHES, digest
from tests.cli.command import run
from tests.ec.named_curves import marked
from tests.integers import IntegerCurves
from tests.openssl import openssl

CURVES = [curve for curve in keys.CURVES.values() if not isinstance(curve, EdwardsCurve)]
EDDSA = [ED25519, ED448]
SIGNING = [curve.name for curve in CURVES if isinstance(curve, WeierstrassCurve)]
QUICK = ["P-256", "P-521", "secp256k1", "brainpoolP256r1"]
"""Of these curves all is checked every time, of the others in the long sweep."""
VALID = (0, "", "the signature is valid\n")
INVALID = (1, "", "coprime: the signature is not valid\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def integers(on):
    on(IntegerCurves())


def point_of(public):
    if not isinstance(public, ec.EllipticCurvePublicKey):
        return public.public_bytes_raw()
    point = serialization.PublicFormat.UncompressedPoint
    return public.public_bytes(serialization.Encoding.X962, point)


def secret_of(own, other):
    if isinstance(own, ec.EllipticCurvePrivateKey):
        return own.exchange(ec.ECDH(), other.public_key())
    return own.exchange(other.public_key())


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize(
    ("curve", "der"),
    [
        # Of the other curves one encoding each.
        pytest.param(
            curve, der, marks=[pytest.mark.matrix] * (curve.name not in QUICK and k % 2 == der)
        )
        for k, curve in enumerate(CURVES)
        if isinstance(curve, MontgomeryCurve) or curve in keys._LIBRARY
        for der in (False, True)
    ],
    ids=lambda one: getattr(one, "name", None),
)
def test_secrets_agree_with_cryptography(capsys, folder, curve, der):
    name, form = curve.name.lower(), ["--der"] if der else []
    kind = "montgomery" if isinstance(curve, MontgomeryCurve) else "weierstrass"
    for key, device in (("a", []), ("b", ["--device", f"sim:compact,curves={kind}"])):
        words = ["--curve", name, "-o", key, "--public", f"{key}.pub", *form, *device]
        assert run(capsys, "ec", "keygen", *words) == (0, "", "")
    load = "der" if der else "pem"
    a, b = (
        getattr(serialization, f"load_{load}_private_key")((folder / key).read_bytes(), None)
        for key in "ab"
    )
    for key, private in (("a", a), ("b", b)):
        public = keys.load_public(folder / f"{key}.pub")
        assert public.point == point_of(private.public_key())
        assert (folder / key).stat().st_mode & 0o777 == 0o600
    for own, other in (("a", "b"), ("b", "a")):
        words = ["--key", own, "--peer", f"{other}.pub", "-o", f"secret_{own}"]
        assert run(capsys, "ec", "derive", *words) == (0, "", "")
        assert (folder / f"secret_{own}").read_bytes() == secret_of(a, b)
        assert (folder / f"secret_{own}").stat().st_mode & 0o777 == 0o600
    assert run(capsys, "ec", "public", "--key", "a", "-o", "again", *form) == (0, "", "")
    assert (folder / "again").read_bytes() == (folder / "a.pub").read_bytes()


@pytest.mark.usefixtures("integers")
def test_the_public_key_goes_to_standard_output(capsysbinary, folder):
    key = keys.CurvePrivateKey.generate(X25519)
    (folder / "a.pem").write_bytes(key.encode())
    status, out, err = run(capsysbinary, *"ec public --key a.pem".split())
    assert (status, err) == (0, b"")
    assert keys.parse_public(out) == key.software_public()


@pytest.mark.usefixtures("integers")
def test_encrypted_keys(capsys, folder):
    (folder / "phrase").write_text("hush\n")
    words = "ec keygen -o a.pem --public a.pub --passphrase-file phrase"
    assert run(capsys, *words.split())[0] == 0
    assert b"ENCRYPTED" in (folder / "a.pem").read_bytes()
    words = "ec public --key a.pem -o again --passphrase-file phrase"
    assert run(capsys, *words.split()) == (0, "", "")
    assert (folder / "again").read_bytes() == (folder / "a.pub").read_bytes()


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize(
    ("curve", "public"), [(X25519, X25519PublicKey), (X448, X448PublicKey)], ids=["X25519", "X448"]
)
def test_a_public_key_of_low_order(capsys, folder, curve, public):
    """Is refused, and no file is written."""
    (folder / "a.pem").write_bytes(keys.CurvePrivateKey.generate(curve).encode())
    (folder / "low.pub").write_bytes(keys.CurvePublicKey(curve, curve.encode_point(1)).encode())
    found = run(capsys, *"ec derive --key a.pem --peer low.pub -o secret".split())
    assert found == (
        2,
        "",
        "coprime: the public key is a point of low order: the shared secret would be 0\n",
    )
    assert not (folder / "secret").exists()


@pytest.mark.matrix
@pytest.mark.xdist_group("montgomery")
def test_on_a_simulated_device(capsys, folder):
    a, b = (keys.CurvePrivateKey.generate(X25519) for _ in range(2))
    (folder / "a.pem").write_bytes(a.encode())
    (folder / "b.pub").write_bytes(b.software_public().encode())
    status, out, _ = run(capsys, *"ec derive --key a.pem --peer b.pub -o secret".split())
    assert (status, out) == (0, "")
    theirs = serialization.load_pem_private_key(b.encode(), None)
    expected = theirs.exchange(X25519PublicKey.from_public_bytes(a.software_public().point))
    assert (folder / "secret").read_bytes() == expected


# --- Signatures ---------------------------------------------------------------------------------


@pytest.fixture
def signer(folder):
    """Writes a key of a curve and a message, and gives the library's key."""

    def made(name):
        key = keys.CurvePrivateKey.generate(keys.CURVES[name])
        (folder / "key").write_bytes(key.encode())
        (folder / "public").write_bytes(key.software_public().encode())
        (folder / "message").write_bytes(b"a message")
        try:
            return serialization.load_pem_private_key(key.encode(), None)
        except UnsupportedAlgorithm as error:
            pytest.skip(f"cryptography: {error}")

    return made


SIGN = ["ec", "sign", "--key", "key", "--in", "message", "-o", "signature"]
VERIFY = ["ec", "verify", "--key", "public", "--in", "message", "--signature", "signature"]


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize("name", marked(SIGNING, quick=QUICK))
@pytest.mark.parametrize("form", ["der", "raw"])
def test_signatures_agree_with_cryptography(capsys, folder, signer, name, form):
    theirs, size = signer(name), keys.CURVES[name].scalar_size
    assert run(capsys, *SIGN, "--format", form) == (0, "", "")
    made = (folder / "signature").read_bytes()
    if form == "raw":
        assert len(made) == 2 * size
        made = encode_dss_signature(int.from_bytes(made[:size]), int.from_bytes(made[size:]))
    theirs.public_key().verify(made, b"a message", ec.ECDSA(hashes.SHA256()))
    assert run(capsys, *VERIFY, "--format", form) == VALID
    other = "raw" if form == "der" else "der"
    size, written = 2 * size, len((folder / "signature").read_bytes())
    reason = "it is not in DER" if other == "der" else f"r and s of {name} have {size} bytes"
    status, _, err = run(capsys, *VERIFY, "--format", other)
    assert (status, err.removeprefix(f"{INVALID[2][:-1]}: ")[: len(reason)]) == (1, reason)
    assert other == "der" or err.endswith(f"not {written}\n")


@pytest.mark.usefixtures("integers")
def test_a_signature_that_tells_the_public_key(capsys, folder, signer):
    theirs = signer("secp256k1")
    assert run(capsys, *SIGN, "--format", "recoverable", "--low-s") == (0, "", "")
    made = (folder / "signature").read_bytes()
    assert len(made) == 65
    digest, curve = hashlib.sha256(b"a message").digest(), keys.CURVES["secp256k1"]
    signature, recovery = ecdsa.Signature.from_recoverable(curve, made)
    known = theirs.public_key().public_numbers()
    assert ecdsa.recovered(curve, digest, signature, recovery) == (known.x, known.y)
    assert run(capsys, *VERIFY, "--format", "recoverable") == VALID
    (folder / "signature").write_bytes(made[:-1] + bytes([made[-1] ^ 1]))
    assert run(capsys, *VERIFY, "--format", "recoverable") == INVALID


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize(
    "hash_name", marked(HASHES, quick=["sha1", "sha256", "sha512_256", "sha3_384"])
)
def test_every_hash_with_openssl(capsys, folder, signer, hash_name):
    """In both directions; a digest as it is has the same deterministic signature."""
    signer("P-384")
    known = hash_name.replace("_", "-")
    assert run(capsys, *SIGN, "--hash", known) == (0, "", "")
    ours = (folder / "signature").read_bytes()
    check = ["-verify", "public", "-signature", "signature", "message"]
    assert openssl("dgst", f"-{known}", *check, check=False)
    (folder / "signature").write_bytes(openssl("dgst", f"-{known}", "-sign", "key", "message"))
    assert run(capsys, *VERIFY, "--hash", hash_name) == VALID
    assert run(capsys, *VERIFY, "--hash", "sha1" if hash_name != "sha1" else "sha224") == INVALID
    (folder / "message").write_bytes(digest(hash_name, b"a message"))
    assert run(capsys, *VERIFY, "--hash", known, "--digest") == VALID
    assert run(capsys, *SIGN, "--hash", known, "--digest") == (0, "", "")
    assert (folder / "signature").read_bytes() == ours


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize("name", marked(SIGNING, quick=QUICK))
def test_signatures_agree_with_openssl(capsys, folder, signer, name):
    """In both directions."""
    signer(name)
    assert run(capsys, *SIGN)[0] == 0
    check = ["-verify", "public", "-signature", "signature", "message"]
    assert openssl("dgst", "-sha256", *check, check=False)
    (folder / "signature").write_bytes(openssl("dgst", "-sha256", "-sign", "key", "message"))
    assert run(capsys, *VERIFY) == VALID


@pytest.mark.usefixtures("integers")
def test_deterministic_and_random_nonces(capsys, folder, signer):
    theirs, found = signer("P-256"), []
    for options in ([], ["--nonce", "deterministic"], *[["--nonce", "random"]] * 2):
        assert run(capsys, *SIGN, *options)[0] == 0
        found.append((folder / "signature").read_bytes())
        theirs.public_key().verify(found[-1], b"a message", ec.ECDSA(hashes.SHA256()))
    assert found[0] == found[1]
    assert len(set(found)) == 3


@pytest.mark.usefixtures("integers")
def test_low_s(capsys, folder, signer):
    """A signature with the greater s is refused only where that is asked for."""
    signer("secp256k1")
    curve = curve_named("secp256k1")
    assert run(capsys, *SIGN, "--low-s")[0] == 0
    low = ecdsa.Signature.from_der((folder / "signature").read_bytes())
    assert 2 * low.s < curve.n
    assert run(capsys, *VERIFY, "--low-s") == VALID
    (folder / "signature").write_bytes(ecdsa.Signature(low.r, curve.n - low.s).der())
    assert run(capsys, *VERIFY) == VALID
    assert run(capsys, *VERIFY, "--low-s") == INVALID


@pytest.mark.usefixtures("integers")
def test_wrong_signatures(capsys, folder, signer):
    theirs = signer("P-256")
    (folder / "signature").write_bytes(theirs.sign(b"another", ec.ECDSA(hashes.SHA256())))
    assert run(capsys, *VERIFY) == INVALID
    (folder / "signature").write_bytes(b"no signature")
    assert run(capsys, *VERIFY) == (1, "", f"{INVALID[2][:-1]}: it is not in DER\n")


@pytest.mark.usefixtures("integers")
def test_a_signature_goes_to_standard_output(capsysbinary, signer):
    theirs = signer("P-256")
    status, out, err = run(capsysbinary, "ec", "sign", "--key", "key", "--in", "message")
    assert (status, err) == (0, b"")
    theirs.public_key().verify(out, b"a message", ec.ECDSA(hashes.SHA256()))
    with pytest.raises(InvalidSignature):
        theirs.public_key().verify(out, b"another", ec.ECDSA(hashes.SHA256()))


# --- EdDSA --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize("curve", EDDSA, ids=lambda curve: curve.name)
def test_eddsa_agrees_with_cryptography(capsys, folder, curve):
    words = ["--curve", curve.name.lower(), "-o", "key", "--public", "public"]
    device = ["--device", "sim:compact,curves=edwards"]
    assert run(capsys, "ec", "keygen", *words, *device) == (0, "", "")
    theirs = serialization.load_pem_private_key((folder / "key").read_bytes(), None)
    public = keys.load_public(folder / "public")
    assert public.point == theirs.public_key().public_bytes_raw()
    assert run(capsys, *"ec public --key key -o again".split()) == (0, "", "")
    assert (folder / "again").read_bytes() == (folder / "public").read_bytes()
    (folder / "message").write_bytes(b"a message")
    assert run(capsys, *SIGN) == (0, "", "")
    assert (folder / "signature").read_bytes() == theirs.sign(b"a message")
    assert run(capsys, *VERIFY) == VALID
    (folder / "signature").write_bytes(theirs.sign(b"another"))
    assert run(capsys, *VERIFY) == INVALID
    (folder / "signature").write_bytes(theirs.sign(b"another")[:-1])
    status, _, err = run(capsys, *VERIFY, "--device", "uio:none")
    size = 2 * public.curve.size
    reason = f"it has {size - 1} bytes, and one of {public.curve.name} has {size}"
    assert (status, err) == (1, f"{INVALID[2][:-1]}: {reason}\n")


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize("curve", EDDSA, ids=lambda curve: curve.name)
def test_eddsa_agrees_with_openssl(capsys, folder, signer, curve):
    """In both directions."""
    signer(curve.name)
    assert run(capsys, *SIGN) == (0, "", "")
    check = "pkeyutl -verify -pubin -inkey public -rawin -in message -sigfile signature".split()
    assert b"Success" in openssl(*check)
    sign = "pkeyutl -sign -inkey key -rawin -in message".split()
    assert openssl(*sign) == (folder / "signature").read_bytes()


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize(
    "curve", [ED25519, pytest.param(ED448, marks=pytest.mark.matrix)], ids=lambda curve: curve.name
)
def test_variants_of_eddsa(capsys, folder, signer, curve):
    """A signature is valid for what it was made for, and for nothing else."""
    signer(curve.name)
    variants = [[], ["--prehash"], ["--context", "ab"], ["--prehash", "--context", "ab"]]
    for made in variants:
        assert run(capsys, *SIGN, *made)[0] == 0
        for checked in variants:
            assert run(capsys, *VERIFY, *checked) == (VALID if made == checked else INVALID)


@pytest.mark.matrix(quick=1)
@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("P-256", []),
        ("Ed25519", ["--prehash"]),
        pytest.param("Ed448", ["--prehash"], marks=pytest.mark.matrix),
    ],
)
def test_long_messages_are_read_in_pieces(capsys, folder, signer, name, options):
    signer(name)
    with (folder / "message").open("wb") as file:
        file.truncate(32 << 20)
    for words, expected in ((SIGN, (0, "", "")), (VERIFY, VALID)):
        tracemalloc.start()
        try:
            assert run(capsys, *words, *options) == expected
            assert tracemalloc.get_traced_memory()[1] < 8 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.usefixtures("integers")
def test_a_key_at_standard_input(capsys, folder, signer, monkeypatch):
    signer("Ed25519")
    for words, name, expected in ((SIGN, "key", (0, "", "")), (VERIFY, "public", VALID)):
        with (folder / name).open("rb") as file:
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))
            given = list(words)
            given[given.index("--key") + 1] = "-"
            assert run(capsys, *given) == expected


@pytest.mark.matrix
@pytest.mark.parametrize("device", [[], ["--device", "sim:cluster,engine=compact,curves=edwards"]])
@pytest.mark.parametrize("curve", EDDSA, ids=lambda curve: curve.name)
def test_eddsa_on_simulated_devices(capsys, folder, signer, curve, device):
    theirs = signer(curve.name)
    assert run(capsys, *SIGN, *device)[:2] == (0, "")
    assert (folder / "signature").read_bytes() == theirs.sign(b"a message")
    assert run(capsys, *VERIFY, *device) == VALID
    (folder / "message").write_bytes(b"another")
    assert run(capsys, *VERIFY, *device) == INVALID


@pytest.mark.matrix
@pytest.mark.parametrize(
    "device", [[], ["--device", "sim:cluster,engine=compact,curves=weierstrass"]]
)
def test_signatures_on_simulated_devices(capsys, folder, signer, device):
    """On the default one, and on a cluster; a wrong signature is no failure of its core."""
    theirs = signer("P-256")
    assert run(capsys, *SIGN, *device)[:2] == (0, "")
    made = (folder / "signature").read_bytes()
    theirs.public_key().verify(made, b"a message", ec.ECDSA(hashes.SHA256()))
    assert run(capsys, *VERIFY, *device) == VALID
    (folder / "message").write_bytes(b"another")
    assert run(capsys, *VERIFY, *device) == INVALID
    words = ["ec", "derive", "--key", "key", "--peer", "public", "-o", "secret"]
    assert run(capsys, *words, *device)[:2] == (0, "")
    assert (folder / "secret").read_bytes() == theirs.exchange(ec.ECDH(), theirs.public_key())
