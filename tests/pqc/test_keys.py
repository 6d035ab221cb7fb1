"""Key files of ML-KEM beside the RFCs' examples and the library's files."""

from pathlib import Path

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import mlkem
from cryptography.hazmat.primitives.serialization import Encoding

from coprime.encodings import der
from coprime.encodings.errors import KeyFileError, PassphraseMissingError
from coprime.encodings.key_info import PrivateKeyInfo, PublicKeyInfo
from coprime.encodings.seeded_keys import SeededKey
from coprime.pqc import keys
from coprime.pqc.key_sets import ML_KEM
from coprime.pqc.keys import KeyForm, LatticePrivateKey, LatticePublicKey
from tests.encodings import by_hand

VECTORS = Path(__file__).parent / "vectors"
IDENTIFIERS = {
    f"ML-KEM-{n}": f"2.16.840.1.101.3.4.4.{k}" for n, k in ((512, 1), (768, 2), (1024, 3))
}
ML_DSA_44 = "2.16.840.1.101.3.4.3.17"
LIBRARY = {
    "ML-KEM-768": mlkem.MLKEM768PrivateKey,
    "ML-KEM-1024": mlkem.MLKEM1024PrivateKey,
}
"""Classes of the library, which has no ML-KEM-512."""


def key_of(name, form=KeyForm.SEED):
    one = ML_KEM[name]
    return LatticePrivateKey(one, bytes(range(one.seed_bytes))).in_form(form)


def private_file(name, contents, public=None):
    """PKCS #8 in DER around these contents."""
    info = PrivateKeyInfo(IDENTIFIERS[name], None, contents)
    if public is None:
        return info.encoded
    version, *rest = der.read(info.encoded).parts()
    assert version.number() == 0
    parts = [der.integer(1), *(one.encoded for one in rest)]
    return der.sequence(*parts, der.implicit(1, b"\0" + public))


@pytest.mark.parametrize("name", ML_KEM)
def test_examples_of_the_rfcs(name):
    one, sets = ML_KEM[name], ML_KEM
    assert one.identifier == IDENTIFIERS[name]
    seed = (VECTORS / f"{name}-seed.priv").read_bytes()
    public = (VECTORS / f"{name}.pub").read_bytes()
    key = keys.parse_private(seed, sets)
    assert (key.set, key.seed, key.expanded) == (one, bytes(range(one.seed_bytes)), None)
    assert key.encode().split() == seed.split()
    assert keys.parse_public(public, sets) == key.software_public()
    assert key.software_public().encode().split() == public.split()


@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER], ids=["PEM", "DER"])
@pytest.mark.parametrize("form", KeyForm)
@pytest.mark.parametrize("name", ML_KEM)
def test_files_are_read_as_they_were_written(name, form, encoding):
    key, sets = key_of(name, form), ML_KEM
    assert (key.seed is None, key.expanded is None) == (
        form is KeyForm.EXPANDED,
        form is KeyForm.SEED,
    )
    data = key.encode(None, encoding)
    assert data.startswith(b"-----BEGIN PRIVATE KEY") == (encoding is Encoding.PEM)
    assert keys.parse_private(data, sets) == key
    public = key.software_public()
    assert keys.parse_public(public.encode(encoding), sets) == public


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("form", KeyForm)
def test_encrypted_files(form, tmp_path):
    key = key_of("ML-KEM-512", form)
    path = tmp_path / "key.pem"
    path.write_bytes(key.encode("hush"))
    assert b"ENCRYPTED" in path.read_bytes()
    assert keys.load_private(path, ML_KEM, "hush") == key
    with pytest.raises(KeyFileError, match="the passphrase is wrong"):
        keys.load_private(path, ML_KEM, "hsuh")
    with pytest.raises(PassphraseMissingError):
        keys.load_private(path, ML_KEM)


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_reads_our_files(name):
    """It reads seeds, not expanded keys."""
    key = key_of(name)
    loaded = serialization.load_der_private_key(key.encode(None, Encoding.DER), None)
    assert loaded.private_bytes_raw() == key.seed
    assert loaded.public_key().public_bytes_raw() == key.software_public().key
    encrypted = serialization.load_pem_private_key(key.encode("hush"), b"hush")
    assert encrypted.private_bytes_raw() == key.seed
    public = serialization.load_pem_public_key(key.software_public().encode())
    assert public.public_bytes_raw() == key.software_public().key


@pytest.mark.parametrize("name", LIBRARY)
def test_we_read_the_librarys_files(name):
    made = LIBRARY[name].generate()
    forms = (serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"hush"))
    key = keys.parse_private(made.private_bytes(Encoding.PEM, *forms), ML_KEM, "hush")
    assert key.seed == made.private_bytes_raw()
    spki = serialization.PublicFormat.SubjectPublicKeyInfo
    public = made.public_key().public_bytes(Encoding.DER, spki)
    assert keys.parse_public(public, ML_KEM) == key.software_public()


def test_files_of_openssl():
    """From the library's vectors."""

    def read(name):
        return (Path(cryptography_vectors.__file__).parent / "asymmetric" / name).read_bytes()

    pem = keys.parse_private(read("MLKEM/mlkem768.pem"), ML_KEM)
    assert pem == keys.parse_private(read("MLKEM/mlkem768.der"), ML_KEM)
    with pytest.raises(KeyFileError, match="not of ML-KEM-512, ML-KEM-768 or ML-KEM-1024"):
        keys.parse_public(read("MLDSA/mldsa44_pub.der"), ML_KEM)


def test_a_seed_cannot_be_computed():
    expanded = key_of("ML-KEM-512", KeyForm.EXPANDED)
    for form in (KeyForm.SEED, KeyForm.BOTH):
        with pytest.raises(ValueError, match="the seed of the private key is not known"):
            expanded.in_form(form)


def test_no_secret_is_shown():
    key = key_of("ML-KEM-512", KeyForm.BOTH)
    assert repr(key) == f"LatticePrivateKey(set={key.set!r})"
    assert "seed=" not in repr(key) and "expanded=" not in repr(key)


def test_new_keys_differ():
    first, second = (LatticePrivateKey.generate(ML_KEM["ML-KEM-512"]) for _ in range(2))
    assert first.seed != second.seed
    assert len(first.seed) == 64


# --- Wrong keys ----------------------------------------------------------------------------------


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def places(name):
    """One in each part of an expanded key."""
    one = ML_KEM[name]
    vector = 384 * one.parameters.k
    # s, t, rho, the hash, z
    return [0, vector, vector + one.public_bytes - 1, one.private_bytes - 33, -1]


@pytest.mark.parametrize("name", ML_KEM)
def test_a_seed_of_another_key_is_refused(name):
    key, one = key_of(name, KeyForm.BOTH), ML_KEM[name]
    for place in places(name):
        place %= one.private_bytes
        both = SeededKey(key.seed, flipped(key.expanded, place))
        with pytest.raises(KeyFileError) as found:
            keys.parse_private(private_file(name, both.encoded), ML_KEM)
        assert str(found.value) == (
            "the file holds no private key: the expanded private key is not that of the seed"
        )


@pytest.mark.parametrize("name", ML_KEM)
def test_an_expanded_key_whose_parts_contradict_is_refused(name):
    """Nothing shows that z, or s with its numbers below 3329, has changed."""
    key = key_of(name, KeyForm.EXPANDED)
    free = {0, 4}
    for number, place in enumerate(places(name)):
        changed = flipped(key.expanded, place % len(key.expanded))
        data = private_file(name, SeededKey(None, changed).encoded)
        if number in free:
            assert keys.parse_private(data, ML_KEM).expanded == changed
        else:
            with pytest.raises(KeyFileError, match=r"^the file holds no private key: "):
                keys.parse_private(data, ML_KEM)


@pytest.mark.parametrize("name", ML_KEM)
def test_numbers_of_ml_kem_are_below_3329(name):
    one, key = ML_KEM[name], key_of(name, KeyForm.EXPANDED)
    public = key.software_public().key
    for place in (0, 384 * one.parameters.k - 3):
        for number, good in ((3328, True), (3329, False), (4095, False)):
            three = number.to_bytes(2, "little") + b"\0"
            changed = public[:place] + three + public[place + 3 :]
            data = PublicKeyInfo(one.identifier, None, changed).encoded
            if good:
                assert keys.parse_public(data, ML_KEM).key == changed
                continue
            with pytest.raises(KeyFileError) as found:
                keys.parse_public(data, ML_KEM)
            assert str(found.value) == (
                "the file holds no public key: a number in the public key is not below 3329"
            )
            private = key.expanded[:place] + three + key.expanded[place + 3 :]
            with pytest.raises(ValueError, match="a number in the private key is not below 3329"):
                LatticePrivateKey(one, None, private)


@pytest.mark.parametrize("name", ["ML-KEM-512"])
def test_a_public_key_in_the_file_is_compared(name):
    key = key_of(name)
    public = key.software_public().key
    data = private_file(name, SeededKey(key.seed, None).encoded, public)
    assert keys.parse_private(data, ML_KEM) == key
    data = private_file(name, SeededKey(key.seed, None).encoded, flipped(public, 1))
    with pytest.raises(KeyFileError) as found:
        keys.parse_private(data, ML_KEM)
    assert str(found.value) == "the private and the public key in the file are not one key's"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            PrivateKeyInfo(ML_DSA_44, None, by_hand.element(0x80, bytes(32))).encoded,
            "the file holds a private key that is not of ML-KEM-512, ML-KEM-768 or ML-KEM-1024",
        ),
        (
            key_of("ML-KEM-512").software_public().encode(),
            "the file holds only a public key, and a private key is needed",
        ),
        (
            key_of("ML-KEM-512").encode()[:100],
            "the file is cut off, or its last line is wrong: after -----BEGIN PRIVATE KEY-----"
            " there is no -----END PRIVATE KEY-----",
        ),
        (
            key_of("ML-KEM-512").encode(None, Encoding.DER)[:-7],
            "the file is cut off: 7 bytes are missing at its end",
        ),
        (
            private_file("ML-KEM-768", SeededKey(bytes(32), None).encoded),
            "the seed in the file has 32 bytes, and with its algorithm it would have 64",
        ),
        (
            private_file("ML-KEM-768", key_of("ML-KEM-512", KeyForm.EXPANDED).expanded),
            "the private key in the file is neither a seed nor an expanded key nor both",
        ),
        (
            PrivateKeyInfo(
                IDENTIFIERS["ML-KEM-768"], der.read(der.null()), by_hand.element(0x80, bytes(64))
            ).encoded,
            "the algorithm in the file has parameters, and ML-KEM-768 has none",
        ),
        (b"", "the file is empty"),
    ],
    ids=["kind", "public", "pem", "der", "seed", "form", "parameters", "empty"],
)
def test_wrong_private_files(data, text):
    with pytest.raises(KeyFileError) as found:
        keys.parse_private(data, ML_KEM)
    assert str(found.value) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            key_of("ML-KEM-512").encode(),
            "the file holds a private key, and a public key is needed: write it with coprime ml-kem"
            " public --key FILE -o NEW",
        ),
        (
            PublicKeyInfo(ML_DSA_44, None, bytes(1312)).encoded,
            "the file holds a public key that is not of ML-KEM-512, ML-KEM-768 or ML-KEM-1024",
        ),
        (
            PublicKeyInfo(IDENTIFIERS["ML-KEM-512"], None, bytes(1184)).encoded,
            "the file holds no public key: a public key of ML-KEM-512 has 800 bytes, not 1,184",
        ),
    ],
    ids=["private", "kind", "length"],
)
def test_wrong_public_files(data, text):
    with pytest.raises(KeyFileError) as found:
        keys.parse_public(data, ML_KEM)
    assert str(found.value) == text


def test_keys_made_in_python_are_checked():
    one = ML_KEM["ML-KEM-768"]
    with pytest.raises(ValueError, match="a private key has a seed, an expanded key, or both"):
        LatticePrivateKey(one, None)
    with pytest.raises(ValueError, match="a seed of ML-KEM-768 has 64 bytes, not 32"):
        LatticePrivateKey(one, bytes(32))
    with pytest.raises(ValueError, match="of ML-KEM-768 has 2,400 bytes, not 1,632"):
        LatticePrivateKey(one, None, key_of("ML-KEM-512", KeyForm.EXPANDED).expanded)
    with pytest.raises(ValueError, match="a public key of ML-KEM-768 has 1,184 bytes, not 0"):
        LatticePublicKey(one, b"")
