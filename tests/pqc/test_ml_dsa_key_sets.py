"""Key files of ML-DSA beside the RFC's examples and the library's files."""

from pathlib import Path

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import mldsa
from cryptography.hazmat.primitives.serialization import Encoding

from coprime.encodings.errors import KeyFileError
from coprime.encodings.key_info import PrivateKeyInfo
from coprime.encodings.seeded_keys import SeededKey
from coprime.pqc import keys, ml_kem
from coprime.pqc.key_sets import ML_KEM
from coprime.pqc.keys import KeyForm, LatticePrivateKey, LatticePublicKey
from coprime.pqc.ml_dsa_key_sets import ML_DSA
from tests.pqc.references import ReferenceCalls

VECTORS = Path(__file__).parent / "vectors"
IDENTIFIERS = {
    f"ML-DSA-{n}": f"2.16.840.1.101.3.4.3.{k}" for n, k in ((44, 17), (65, 18), (87, 19))
}
LIBRARY = {
    "ML-DSA-44": mldsa.MLDSA44PrivateKey,
    "ML-DSA-65": mldsa.MLDSA65PrivateKey,
    "ML-DSA-87": mldsa.MLDSA87PrivateKey,
}
RHO, K, TR, S1, T0 = 0, 32, 64, 128, -1
"""A place in each part of an expanded key."""


def key_of(name, form=KeyForm.SEED):
    return LatticePrivateKey(ML_DSA[name], bytes(range(32))).in_form(form)


def parse(name, seed, expanded):
    contents = SeededKey(seed, expanded).encoded
    return keys.parse_private(PrivateKeyInfo(IDENTIFIERS[name], None, contents).encoded, ML_DSA)


def flipped(data, place):
    place %= len(data)
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize("name", ML_DSA)
def test_examples_of_the_rfc(name):
    one = ML_DSA[name]
    assert one.identifier == IDENTIFIERS[name]
    seed = (VECTORS / f"{name}-seed.priv").read_bytes()
    public = (VECTORS / f"{name}.pub").read_bytes()
    key = keys.parse_private(seed, ML_DSA)
    assert (key.set, key.seed, key.expanded) == (one, bytes(range(32)), None)
    assert key.encode().split() == seed.split()
    assert keys.parse_public(public, ML_DSA) == key.software_public()
    assert key.software_public().encode().split() == public.split()


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("form", KeyForm)
@pytest.mark.parametrize("name", ML_DSA)
def test_files_are_read_as_they_were_written(name, form):
    key = key_of(name, form)
    for encoding in (Encoding.PEM, Encoding.DER):
        assert keys.parse_private(key.encode("hush", encoding), ML_DSA, "hush") == key
    public = key.software_public()
    assert public == key_of(name).software_public()
    assert keys.parse_public(public.encode(), ML_DSA) == public
    assert repr(key) == f"LatticePrivateKey(set={key.set!r})"


@pytest.mark.parametrize("name", ML_DSA)
def test_the_library_reads_our_files(name):
    key = key_of(name)
    loaded = serialization.load_pem_private_key(key.encode("hush"), b"hush")
    assert loaded.private_bytes_raw() == key.seed
    public = serialization.load_pem_public_key(key.software_public().encode())
    assert public.public_bytes_raw() == loaded.public_key().public_bytes_raw()


@pytest.mark.parametrize("name", ML_DSA)
def test_we_read_the_librarys_files(name):
    made = LIBRARY[name].generate()
    forms = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    key = keys.parse_private(made.private_bytes(Encoding.DER, *forms), ML_DSA)
    assert key.seed == made.private_bytes_raw()
    spki = serialization.PublicFormat.SubjectPublicKeyInfo
    public = made.public_key().public_bytes(Encoding.PEM, spki)
    assert keys.parse_public(public, ML_DSA) == key.software_public()


def test_files_of_openssl():
    """From the library's vectors; one is an expanded key alone."""

    def read(name):
        return (Path(cryptography_vectors.__file__).parent / "asymmetric/MLDSA" / name).read_bytes()

    key = keys.parse_private(read("mldsa44_priv.der"), ML_DSA)
    assert key.software_public() == keys.parse_public(read("mldsa44_pub.der"), ML_DSA)
    expanded = keys.parse_private(read("mldsa65_noseed_priv.der"), ML_DSA)
    assert expanded.seed is None
    assert expanded.software_public().set.name == "ML-DSA-65"


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("name", ML_DSA)
def test_expanded_keys_that_contradict_are_refused(name):
    """K is random: without the seed nothing shows that it has changed."""
    key = key_of(name, KeyForm.BOTH)
    for place in (RHO, K, TR, S1, T0):
        changed = flipped(key.expanded, place)
        with pytest.raises(KeyFileError) as found:
            parse(name, key.seed, changed)
        assert str(found.value) == (
            "the file holds no private key: the expanded private key is not that of the seed"
        )
        if place == K:
            assert parse(name, None, changed).expanded == changed
        else:
            with pytest.raises(KeyFileError, match=r"^the file holds no private key: "):
                parse(name, None, changed)


def test_wrong_kinds():
    with pytest.raises(KeyFileError) as found:
        keys.parse_private(LatticePrivateKey.generate(ML_KEM["ML-KEM-512"]).encode(), ML_DSA)
    assert str(found.value) == (
        "the file holds a private key that is not of ML-DSA-44, ML-DSA-65 or ML-DSA-87"
    )
    with pytest.raises(KeyFileError, match="write it with coprime ml-dsa public --key FILE"):
        keys.parse_public(key_of("ML-DSA-44").encode(), ML_DSA)
    one = ML_DSA["ML-DSA-44"]
    with pytest.raises(ValueError, match="a key of ML-DSA-44 is not one of ML-KEM"):
        ml_kem.encapsulate(ReferenceCalls(), LatticePublicKey(one, bytes(one.public_bytes)))
    with pytest.raises(ValueError, match="a seed of ML-DSA-44 has 32 bytes, not 64"):
        LatticePrivateKey(one, bytes(64))
