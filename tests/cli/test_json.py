"""`--json` of commands that work with keys."""

import json
from pathlib import Path

import pytest

from coprime.cli import main
from coprime.ec import keys as curve_keys
from coprime.rsa import keys
from tests.cli.command import run, run_json
from tests.integers import IntegerAccelerator, IntegerCurves


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "message").write_bytes(b"a message")
    return tmp_path


def test_rsa(capsys, folder, on):
    on(IntegerAccelerator())
    words = "rsa keygen --bits 1024 --seed 1 -o key --public public"
    key = keys.generate(1024, seed=1)
    assert run_json(capsys, *words.split()) == {
        "bits": 1024,
        "exponent": 65537,
        "modulus": f"{key.n:x}",
        "encrypted": False,
        "output": "key",
        "public": "public",
    }
    for padding, named in (("pkcs1", None), ("oaep", "sha256")):
        about = {"bits": 1024, "padding": padding, "hash": named}
        words = f"rsa encrypt --key public --in message --padding {padding}"
        made = run_json(capsys, *words.split())
        ciphertext = bytes.fromhex(made.pop("ciphertext"))
        assert made == {"operation": "encrypt", **about, "output": None}
        Path("ciphertext").write_bytes(ciphertext)
        words = f"rsa decrypt --key key --in ciphertext --padding {padding}"
        assert run_json(capsys, *words.split()) == {
            "operation": "decrypt",
            **about,
            "message": b"a message".hex(),
            "output": None,
        }
        assert run_json(capsys, *words.split(), "-o", "plain") == {
            "operation": "decrypt",
            **about,
            "message": None,
            "output": "plain",
        }
        assert Path("plain").read_bytes() == b"a message"
    made = run_json(capsys, *"rsa sign --key key --in message -o signature".split())
    about = {"bits": 1024, "padding": "pss", "hash": "sha256"}
    assert made == {"operation": "sign", **about, "signature": None, "output": "signature"}
    words = "rsa verify --key public --in message --signature signature".split()
    about["operation"] = "verify"
    assert run_json(capsys, *words) == {**about, "valid": True, "reason": None}
    Path("message").write_bytes(b"another")
    status, out, err = run(capsys, *words, "--json")
    reason = "the signature is not valid"
    assert (status, json.loads(out), err) == (1, {**about, "valid": False, "reason": reason}, "")
    Path("signature").write_bytes(b"short")
    status, out, err = run(capsys, *words, "--json")
    assert (status, err) == (1, "")
    assert json.loads(out)["reason"].endswith("it has 5 bytes, and one of this key has 128")


@pytest.mark.parametrize("name", ["P-256", "brainpoolP320r1", "X25519", "Ed25519"])
def test_ec(capsys, folder, on, name):
    on(IntegerCurves())
    words = f"ec keygen --curve {name.lower()} -o key --public public"
    assert run_json(capsys, *words.split()) == {
        "curve": name,
        "encrypted": False,
        "output": "key",
        "public": "public",
    }
    public = curve_keys.load_public("public")
    made = run_json(capsys, *"ec public --key key --der".split())
    assert bytes.fromhex(made["public"]) == public.encode(curve_keys.Encoding.DER)
    assert (made["curve"], made["point"], made["output"]) == (name, public.point.hex(), None)
    if name != "Ed25519":
        words = "ec derive --key key --peer public -o secret"
        assert run_json(capsys, *words.split()) == {
            "curve": name,
            "secret": None,
            "output": "secret",
        }
        assert len(Path("secret").read_bytes()) == public.curve.size
    if name == "X25519":
        return
    about = {"hash": "sha256", "format": "der"}
    if name == "Ed25519":
        about = {"prehashed": False, "context": ""}
    made = run_json(capsys, *"ec sign --key key --in message".split())
    Path("signature").write_bytes(bytes.fromhex(made.pop("signature")))
    assert made == {"curve": name, **about, "output": None}
    words = "ec verify --key public --in message --signature signature".split()
    assert run_json(capsys, *words) == {"curve": name, **about, "valid": True, "reason": None}
    Path("message").write_bytes(b"another")
    status, out, err = run(capsys, *words, "--json")
    assert (status, err, json.loads(out)["valid"]) == (1, "", False)


@pytest.mark.parametrize("command", ["rsa", "ec"])
def test_every_verb_has_it(capsys, command):
    verbs = {"rsa": "keygen encrypt decrypt sign verify", "ec": "keygen public derive sign verify"}
    for verb in verbs[command].split():
        with pytest.raises(SystemExit):
            main([command, verb, "--help"])
        assert "--json" in capsys.readouterr().out
