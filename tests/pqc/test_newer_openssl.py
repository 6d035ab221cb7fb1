"""OpenSSL's command line on the other side: key files in every form, ciphertexts, signatures."""

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from coprime.pqc import keys, ml_dsa, ml_kem
from coprime.pqc.key_sets import ML_KEM
from coprime.pqc.keys import KeyForm, LatticePrivateKey
from coprime.pqc.ml_dsa import Framing, InvalidSignatureError
from coprime.pqc.ml_dsa_key_sets import ML_DSA
from tests.pqc.references import ReferenceCalls, ReferenceSignatures

pytestmark = [pytest.mark.xdist_group("token"), pytest.mark.clients, pytest.mark.timeout(1800)]
"""The group of tests/token/test_certificates.py, so that OpenSSL is built once."""

SETS = ML_KEM | ML_DSA
FORMS = {
    "seed-only": KeyForm.SEED,
    "priv-only": KeyForm.EXPANDED,
    "seed-priv": KeyForm.BOTH,
}


def its_key(newer_openssl, path, name, form):
    scheme = name.rpartition("-")[0].lower()
    made = ("-provparam", f"{scheme}.output_formats={form}", "-out", path)
    newer_openssl("genpkey", "-algorithm", name, *made)
    return keys.load_private(path, SETS)


def pair(folder, private):
    """Files of a key and its public key."""
    paths = folder / "private.pem", folder / "public.pem"
    paths[0].write_bytes(private.encode())
    paths[1].write_bytes(private.software_public().encode())
    return paths


@pytest.mark.parametrize("name", SETS)
def test_key_files(newer_openssl, tmp_path, name):
    """We read its files, and it reads ours."""
    path = tmp_path / "key.pem"
    for word, form in FORMS.items():
        key = its_key(newer_openssl, path, name, word)
        assert key.set.name == name
        assert key == key.in_form(form)
        public = newer_openssl("pkey", "-in", path, "-pubout", "-outform", "DER")
        assert keys.parse_public(public, SETS) == key.software_public()
        assert key.encode().split() == path.read_bytes().split()
        encrypted = newer_openssl("pkey", "-in", path, "-aes256", "-passout", "pass:hush")
        found = keys.parse_private(encrypted, SETS, b"hush")
        assert found.software_public() == key.software_public()
    words = ("pkey", "-in", path, "-pubout", "-outform", "DER")
    for form in KeyForm:
        key = LatticePrivateKey.generate(SETS[name]).in_form(form)
        public = key.software_public().encode(Encoding.DER)
        for encoding in (Encoding.PEM, Encoding.DER):
            path.write_bytes(key.encode(None, encoding))
            assert newer_openssl(*words) == public
        path.write_bytes(key.encode("hush"))
        assert newer_openssl(*words, "-passin", "pass:hush") == public


@pytest.mark.parametrize("name", ML_KEM)
def test_secrets(newer_openssl, tmp_path, name):
    """It encapsulates for our key and we for its key; an altered ciphertext's secret, too."""
    ours, secret, sent = LatticePrivateKey.generate(ML_KEM[name]), tmp_path / "s", tmp_path / "c"
    private, public = pair(tmp_path, ours)
    newer_openssl("pkeyutl", "-encap", "-pubin", "-inkey", public, "-out", sent, "-secret", secret)
    calls = ReferenceCalls()
    assert ml_kem.decapsulate(calls, ours, sent.read_bytes()) == secret.read_bytes()

    def opens(key, ciphertext):
        sent.write_bytes(ciphertext)
        newer_openssl("pkeyutl", "-decap", "-inkey", key, "-in", sent, "-secret", secret)
        return secret.read_bytes()

    altered = bytes([sent.read_bytes()[0] ^ 1]) + sent.read_bytes()[1:]
    assert ml_kem.decapsulate(calls, ours, altered) == opens(private, altered)
    for form in FORMS:
        theirs = its_key(newer_openssl, tmp_path / "theirs.pem", name, form)
        made = ml_kem.encapsulate(calls, theirs.software_public())
        assert opens(tmp_path / "theirs.pem", made.ciphertext) == made.secret


@pytest.mark.parametrize("name", ML_DSA)
def test_signatures(newer_openssl, tmp_path, name):
    for context in (b"", b"\1\xff", bytes(255)):
        compare_signatures(newer_openssl, tmp_path, name, context)


def compare_signatures(newer_openssl, tmp_path, name, context):
    ours, calls = LatticePrivateKey.generate(ML_DSA[name]), ReferenceSignatures()
    private, public = pair(tmp_path, ours)
    message, signature = tmp_path / "message", tmp_path / "signature"
    message.write_bytes(b"firmware, version 7\n")
    framing = Framing(context)
    common = ("-rawin", "-in", message, "-pkeyopt", f"hexcontext-string:{context.hex()}")

    def accepts():
        words = ("pkeyutl", "-verify", "-pubin", "-inkey", public, "-sigfile", signature)
        return newer_openssl.accepts(*words, *common)

    newer_openssl("pkeyutl", "-sign", "-inkey", private, "-out", signature, *common)
    ml_dsa.verify(
        calls, ours.software_public(), message.read_bytes(), signature.read_bytes(), framing
    )
    with pytest.raises(InvalidSignatureError):
        ml_dsa.verify(calls, ours.software_public(), b"x", signature.read_bytes(), framing)
    signature.write_bytes(ml_dsa.sign(calls, ours, message.read_bytes(), framing))
    assert accepts()
    message.write_bytes(b"x")
    assert not accepts()
    same = ("-pkeyopt", "deterministic:1", "-out", signature, *common)
    newer_openssl("pkeyutl", "-sign", "-inkey", private, *same)
    mine = ml_dsa.sign(calls, ours, b"x", framing, deterministic=True)
    assert signature.read_bytes() == mine
