"""`coprime ml-dsa`: what it writes, beside the library."""

import io
import json
from contextlib import nullcontext

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from coprime.cli import open_devices
from coprime.model.lattice.ml_dsa import representative_for
from coprime.pqc import keys
from coprime.pqc.ml_dsa_key_sets import ML_DSA
from tests.cli.command import run, run_json
from tests.pqc.references import ReferenceSignatures

VALID = (0, "", "the signature is valid\n")
MESSAGE = b"a message\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "message").write_bytes(MESSAGE)
    return tmp_path


@pytest.fixture
def references(monkeypatch):
    """The model in place of simulated devices."""
    made = ReferenceSignatures()

    def opened(named, call, check):
        check(made.interface)
        return nullcontext(made)

    monkeypatch.setattr(open_devices, "open_simulated_calls", opened)
    return made


@pytest.mark.matrix(quick=2)
@pytest.mark.usefixtures("references")
@pytest.mark.parametrize("name", ML_DSA)
@pytest.mark.parametrize("der", [False, True], ids=["pem", "der"])
@pytest.mark.parametrize("form", keys.KeyForm)
def test_a_signature(capsys, folder, name, form, der):
    words = f"ml-dsa keygen --set {name.lower()} --form {form.value} -o key --public public"
    assert run(capsys, *words.split(), *["--der"] * der) == (0, "", "")
    private = keys.load_private("key", ML_DSA)
    assert private.set.name == name
    assert private == private.in_form(form)
    data = (folder / "key").read_bytes(), (folder / "public").read_bytes()
    assert data[0].startswith(b"-----BEGIN") != der
    assert (folder / "key").stat().st_mode & 0o777 == 0o600
    load = serialization.load_der_public_key if der else serialization.load_pem_public_key
    library = load(data[1])
    words = "ml-dsa sign --key key --in message --context 0102 -o signature"
    assert run(capsys, *words.split()) == (0, "", "")
    library.verify((folder / "signature").read_bytes(), MESSAGE, b"\1\2")
    words = "ml-dsa verify --key public --in message --context 0102 --signature signature"
    assert run(capsys, *words.split()) == VALID
    assert run(capsys, *"ml-dsa public --key key -o new".split(), *["--der"] * der)[0] == 0
    assert (folder / "new").read_bytes() == data[1]
    if form is keys.KeyForm.SEED:  # of these the library reads nothing else
        load = serialization.load_der_private_key if der else serialization.load_pem_private_key
        (folder / "signature").write_bytes(load(data[0], None).sign(MESSAGE, b"\1\2"))
        assert run(capsys, *words.split()) == VALID


@pytest.fixture
def key(references, capsys, folder):
    run(capsys, *"ml-dsa keygen --set ML-DSA-44 -o key --public public".split())
    return folder


def test_wrong_signatures(capsys, key):
    run(capsys, *"ml-dsa sign --key key --in message --hash SHA3-256 -o signature".split())
    words = "ml-dsa verify --key public --in message --signature signature".split()
    assert run(capsys, *words, "--hash", "sha3_256") == VALID
    for others in ([], ["--hash", "sha3-384"], ["--hash", "sha3-256", "--context", "00"]):
        assert run(capsys, *words, *others) == (1, "", "coprime: the signature is not valid\n")
    status, out, err = run(capsys, *words, "--context", "0a", "--json")
    assert (status, err) == (1, "")
    assert json.loads(out) == {
        "set": "ML-DSA-44",
        "mu": False,
        "context": "0a",
        "hash": None,
        "valid": False,
        "reason": "the signature is not valid",
    }


def test_mu(capsys, key):
    public = keys.load_public("public", ML_DSA)
    (key / "mu").write_bytes(representative_for(public.key, b"\0\0" + MESSAGE))
    words = "ml-dsa sign --key key --in mu --mu -o signature"
    assert run(capsys, *words.split()) == (0, "", "")
    words = "ml-dsa verify --key public --in message --signature signature"
    assert run(capsys, *words.split()) == VALID
    words = "ml-dsa verify --key public --in mu --mu --signature signature"
    assert run(capsys, *words.split()) == VALID


def test_standard_input_and_output(capsys, monkeypatch, key):
    words = "ml-dsa sign --key key --deterministic"
    assert run(capsys, *words.split(), "--in", "message", "-o", "signature")[0] == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(MESSAGE)))
    record = run_json(capsys, *words.split())
    assert record.pop("signature") == (key / "signature").read_bytes().hex()
    assert record == {
        "set": "ML-DSA-44",
        "mu": False,
        "context": "",
        "hash": None,
        "deterministic": True,
        "output": None,
    }


def test_encrypted_keys(capsys, key):
    (key / "phrase").write_text("hush\n")
    words = "ml-dsa keygen --set ML-DSA-44 -o new --passphrase-file phrase"
    assert run(capsys, *words.split())[0] == 0
    assert b"ENCRYPTED" in (key / "new").read_bytes()
    words = "ml-dsa public --key new -o new_public --passphrase-file phrase"
    assert run(capsys, *words.split()) == (0, "", "")
    (key / "phrase").write_text("hsuh\n")
    status, out, err = run(capsys, *words.split())
    assert (status, out) == (2, "")
    assert err == "coprime: --key new: the passphrase is wrong, or the encrypted key is corrupt\n"


@pytest.mark.clients
@pytest.mark.parametrize("form", ["seed", "expanded"])
def test_a_certificate_a_request_and_cms(references, capsys, folder, form):
    words = f"ml-dsa keygen --set ML-DSA-44 --form {form} -o key --public public"
    assert run(capsys, *words.split()) == (0, "", "")
    subject = ("--key", "key", "--subject", "CN=device,O=company")
    words = ("ml-dsa", "certificate", *subject, "--days", "30", "-o", "cert.pem")
    assert run(capsys, *words) == (0, "", "")
    found = x509.load_pem_x509_certificate((folder / "cert.pem").read_bytes())
    found.verify_directly_issued_by(found)
    assert (found.not_valid_after_utc - found.not_valid_before_utc).days == 30
    public = serialization.load_pem_public_key((folder / "public").read_bytes())
    assert found.public_key() == public
    assert run(capsys, "ml-dsa", "request", *subject, "--der", "-o", "csr.der") == (0, "", "")
    asked = x509.load_der_x509_csr((folder / "csr.der").read_bytes())
    assert asked.is_signature_valid and asked.public_key() == public
    assert asked.subject == found.subject
    cms = "ml-dsa cms --key key --certificate cert.pem --in message --der -o message.cms"
    assert run(capsys, *cms.split()) == (0, "", "")
    made = (folder / "message.cms").read_bytes()
    assert MESSAGE in made and found.public_bytes(serialization.Encoding.DER) in made
    assert run(capsys, *cms.split(), "--detached")[0] == 0
    assert MESSAGE not in (folder / "message.cms").read_bytes()


def test_certificates_that_are_refused(capsys, key):
    def refuses(text, words):
        assert run(capsys, *words.split()) == (2, "", f"coprime: {text}\n")
        assert not (key / "new").exists()

    text = "--subject 'x' is no name such as CN=device,O=company"
    refuses(text, "ml-dsa request --key key --subject x -o new")
    run(capsys, *"ml-dsa keygen --set ML-DSA-44 -o other --public other.pub".split())
    run(capsys, *"ml-dsa certificate --key other --subject CN=x -o other.pem".split())
    text = "--certificate other.pem is of another key than --key key"
    refuses(text, "ml-dsa cms --key key --certificate other.pem --in message -o new")
    text = "--certificate message: the file holds no certificate"
    refuses(text, "ml-dsa cms --key key --certificate message --in message -o new")
    done = run(capsys, *"ml-dsa certificate --key key --subject CN=x -o key".split())
    assert done[0] == 2 and "key" in done[2]
