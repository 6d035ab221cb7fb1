"""`coprime ml-kem`: what it writes, beside the library."""

from contextlib import nullcontext

import pytest
from cryptography.hazmat.primitives import serialization

from coprime.cli import open_devices
from coprime.pqc import keys
from coprime.pqc.key_sets import ML_KEM
from tests.cli.command import run, run_json
from tests.pqc.references import ReferenceCalls

LIBRARY = ["ML-KEM-768", "ML-KEM-1024"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def references(monkeypatch):
    """FIPS 203 in place of simulated devices."""
    made = ReferenceCalls()

    def opened(named, call, check):
        check(made.interface)
        return nullcontext(made)

    monkeypatch.setattr(open_devices, "open_simulated_calls", opened)
    return made


@pytest.mark.matrix(quick=6)
@pytest.mark.usefixtures("references")
@pytest.mark.parametrize("der", [False, True], ids=["pem", "der"])
@pytest.mark.parametrize("form", keys.KeyForm)
@pytest.mark.parametrize("name", ML_KEM)
def test_an_exchange(capsys, folder, name, form, der):
    words = f"ml-kem keygen --set {name.lower()} --form {form.value} -o key --public public"
    assert run(capsys, *words.split(), *["--der"] * der) == (0, "", "")
    private = keys.load_private("key", ML_KEM)
    assert private.set.name == name
    assert private == private.in_form(form)
    assert (folder / "key").read_bytes().startswith(b"-----BEGIN") != der
    words = "ml-kem encapsulate --key public -o ciphertext --secret secret"
    assert run(capsys, *words.split()) == (0, "", "")
    words = "ml-kem decapsulate --key key --in ciphertext -o again"
    assert run(capsys, *words.split()) == (0, "", "")
    assert (folder / "again").read_bytes() == (folder / "secret").read_bytes()
    for secret in ("key", "secret", "again"):
        assert (folder / secret).stat().st_mode & 0o777 == 0o600
    assert run(capsys, *"ml-kem public --key key -o new".split(), *["--der"] * der)[0] == 0
    assert (folder / "new").read_bytes() == (folder / "public").read_bytes()


@pytest.mark.usefixtures("references")
@pytest.mark.parametrize("name", LIBRARY)
def test_secrets_agree_with_the_library(capsys, folder, name):
    run(capsys, *f"ml-kem keygen --set {name} -o key --public public".split())
    library = serialization.load_pem_private_key((folder / "key").read_bytes(), None)
    public = serialization.load_pem_public_key((folder / "public").read_bytes())
    assert library.public_key().public_bytes_raw() == public.public_bytes_raw()
    run(capsys, *"ml-kem encapsulate --key public -o ciphertext --secret secret".split())
    secret = library.decapsulate((folder / "ciphertext").read_bytes())
    assert secret == (folder / "secret").read_bytes()
    secret, ciphertext = public.encapsulate()
    (folder / "ciphertext").write_bytes(ciphertext)
    run(capsys, *"ml-kem decapsulate --key key --in ciphertext -o secret".split())
    assert secret == (folder / "secret").read_bytes()


@pytest.mark.usefixtures("references")
def test_encrypted_keys(capsys, folder):
    (folder / "phrase").write_text("hush\n")
    words = "ml-kem keygen --form both -o key --public public --passphrase-file phrase"
    assert run(capsys, *words.split())[0] == 0
    assert b"ENCRYPTED" in (folder / "key").read_bytes()
    words = "ml-kem public --key key -o new --passphrase-file phrase"
    assert run(capsys, *words.split()) == (0, "", "")
    assert (folder / "new").read_bytes() == (folder / "public").read_bytes()
    (folder / "phrase").write_text("hsuh\n")
    status, out, err = run(capsys, *words.split())
    assert (status, out) == (2, "")
    assert err == ("coprime: --key key: the passphrase is wrong, or the encrypted key is corrupt\n")


@pytest.mark.usefixtures("references")
def test_records_have_no_secrets(capsys, folder):
    made = run_json(capsys, *"ml-kem keygen --form both -o key --public public".split())
    assert made == {
        "set": "ML-KEM-768",
        "form": "both",
        "encrypted": False,
        "output": "key",
        "public": "public",
    }
    sent = run_json(capsys, *"ml-kem encapsulate --key public --secret secret".split())
    assert sent.keys() == {"set", "secret", "ciphertext", "output"}
    assert (sent["secret"], sent["output"]) == ("secret", None)
    (folder / "ciphertext").write_bytes(bytes.fromhex(sent["ciphertext"]))
    words = "ml-kem decapsulate --key key --in ciphertext -o again"
    assert run_json(capsys, *words.split()) == {"set": "ML-KEM-768", "output": "again"}
    assert (folder / "again").read_bytes() == (folder / "secret").read_bytes()


def test_an_expanded_key_needs_no_device_for_its_public_key(capsys, folder, references):
    run(capsys, *"ml-kem keygen --form expanded -o key --public public".split())
    references.called.clear()
    assert run(capsys, *"ml-kem public --key key -o new".split()) == (0, "", "")
    assert (folder / "new").read_bytes() == (folder / "public").read_bytes()
    assert not references.called


@pytest.mark.vectors
@pytest.mark.parametrize("slices", ["", ",slices=32"])
def test_on_a_simulated_engine(capsys, folder, slices):
    device = ["--device", f"sim:lattice{slices}"]
    for words in (
        "keygen -o key --public public",
        "public --key key -o new",
        "encapsulate --key public -o ciphertext --secret secret",
        "decapsulate --key key --in ciphertext -o again",
    ):
        assert run(capsys, "ml-kem", *words.split(), *device) == (0, "", "")
    assert (folder / "new").read_bytes() == (folder / "public").read_bytes()
    assert (folder / "again").read_bytes() == (folder / "secret").read_bytes()
    library = serialization.load_pem_private_key((folder / "key").read_bytes(), None)
    secret = library.decapsulate((folder / "ciphertext").read_bytes())
    assert secret == (folder / "secret").read_bytes()
