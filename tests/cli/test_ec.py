"""`coprime ec`: what it writes, beside `cryptography`."""

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x448 import X448PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from coprime.ec import keys
from coprime.ec.montgomery import X448, X25519
from coprime.engine.contract import Command
from coprime.operations.x_multiply import ladder
from tests.cli.command import run
from tests.integers import IntegerResult


class IntegerCurves:
    """Python's integers in place of an accelerator."""

    def operate(self, command, numbers):
        assert command is Command.X_MULTIPLY
        return IntegerResult(ladder(**numbers))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def integers(on):
    on(IntegerCurves())


@pytest.mark.usefixtures("integers")
@pytest.mark.parametrize("curve", [X25519, X448], ids=lambda curve: curve.name)
@pytest.mark.parametrize("der", [False, True])
def test_secrets_agree_with_cryptography(capsys, folder, curve, der):
    name, form = curve.name.lower(), ["--der"] if der else []
    for key, device in (("a", []), ("b", ["--device", "sim:compact,curves=montgomery"])):
        words = ["--curve", name, "-o", key, "--public", f"{key}.pub", *form, *device]
        assert run(capsys, "ec", "keygen", *words) == (0, "", "")
    load = "der" if der else "pem"
    a, b = (
        getattr(serialization, f"load_{load}_private_key")((folder / key).read_bytes(), None)
        for key in "ab"
    )
    for key, private in (("a", a), ("b", b)):
        public = keys.load_public(folder / f"{key}.pub")
        assert public.u == private.public_key().public_bytes_raw()
        assert (folder / key).stat().st_mode & 0o777 == 0o600
    for own, other in (("a", "b"), ("b", "a")):
        words = ["--key", own, "--peer", f"{other}.pub", "-o", f"secret_{own}"]
        assert run(capsys, "ec", "derive", *words) == (0, "", "")
        assert (folder / f"secret_{own}").read_bytes() == a.exchange(b.public_key())
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
    (folder / "low.pub").write_bytes(keys.CurvePublicKey(curve, curve.encode_u(1)).encode())
    found = run(capsys, *"ec derive --key a.pem --peer low.pub -o secret".split())
    assert found == (
        2,
        "",
        "coprime: the public key is a point of low order: the shared secret would be 0\n",
    )
    assert not (folder / "secret").exists()


@pytest.mark.xdist_group("montgomery")
def test_on_a_simulated_device(capsys, folder):
    a, b = (keys.CurvePrivateKey.generate(X25519) for _ in range(2))
    (folder / "a.pem").write_bytes(a.encode())
    (folder / "b.pub").write_bytes(b.software_public().encode())
    status, out, _ = run(capsys, *"ec derive --key a.pem --peer b.pub -o secret".split())
    assert (status, out) == (0, "")
    theirs = serialization.load_pem_private_key(b.encode(), None)
    expected = theirs.exchange(X25519PublicKey.from_public_bytes(a.software_public().u))
    assert (folder / "secret").read_bytes() == expected
