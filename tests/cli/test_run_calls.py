"""`coprime run` of engines of byte strings."""

import hashlib

import pytest

from coprime.catalog import CALL_FAMILIES
from coprime.cli import parser
from tests.cli.command import run, run_json

ABC = hashlib.shake_256(b"abc")


def test_given_inputs(capsys):
    words = "run shake SHAKE256 --message 616263 --output-bytes 64"
    found = run_json(capsys, *words.split())
    assert found.pop("outputs") == {"output": ABC.hexdigest(64)}
    for name in ("seconds", "cycles_per_second"):
        assert found.pop(name) > 0
    assert found == {
        "family": "shake",
        "parameters": {"slices": "8"},
        "operation": "SHAKE256",
        "parameter_set": "",
        "ok": True,
        "cycles": 250,
        "predicted_cycles": 250,
        "utilization": 1.0,
    }
    status, out, _ = run(capsys, *words.split())
    assert status == 0
    assert out.startswith(f"output       {ABC.hexdigest(64)}\n")
    assert "equal to the reference" in out


@pytest.mark.matrix
def test_several_cores(capsys):
    found = run_json(capsys, *"run shake SHA3_256 -p cores=2 --requests 5".split())
    assert found["parameters"] == {"slices": "8", "cores": 2}
    assert (found["ok"], found["requests"]) == (True, 5)
    assert 0 < found["busy"] < 1
    status, out, _ = run(capsys, *"run shake SHA3_256 -p cores=2".split())
    assert status == 0
    assert out.startswith("calls       2 on 2 cores\n")


def test_a_long_output_is_cut(capsys):
    words = "run shake SHAKE256 --message 616263 --output-bytes 65"
    _, out, _ = run(capsys, *words.split())
    assert out.startswith(f"output       {ABC.hexdigest(64)}... (65 bytes)\n")


def test_a_file(capsys, tmp_path):
    (tmp_path / "message").write_bytes(bytes(5000))
    found = run_json(capsys, "run", "shake", "SHA3_512", "--message", f"@{tmp_path}/message")
    assert found["outputs"] == {"output": hashlib.sha3_512(bytes(5000)).hexdigest()}


def test_inputs_from_a_seed(capsys):
    outputs = [
        run_json(capsys, "run", "shake", "SHA3_224", "--seed", seed)["outputs"]["output"]
        for seed in (1, 1, 2)
    ]
    assert outputs[0] == outputs[1] != outputs[2]


def test_a_wrong_output_fails(capsys, monkeypatch):
    call = CALL_FAMILIES["shake"].choose({}).design.interface.call["SHA3_256"]
    monkeypatch.setitem(call.__dict__, "reference", lambda parameter_set, values: {"output": b""})
    status, out, _ = run(capsys, "run", "shake", "SHA3_256")
    assert status == 1
    assert "WRONG: differs from the reference" in out


def test_wrong_cycles_fail(capsys, monkeypatch):
    monkeypatch.setattr("coprime.cells.keccak.twin.SpongeCycles.permutation", 241)
    status, out, _ = run(capsys, "run", "shake", "SHA3_256", "--message", "")
    assert status == 1
    assert "equal to the reference" in out and "predicted    251" in out


@pytest.mark.parametrize("family", CALL_FAMILIES)
def test_every_option_is_a_sentence(family):
    (commands,) = parser(["run"], ["run", family])._subparsers._group_actions
    texts = [action.help for action in commands.choices["run"]._actions]
    assert all(text.endswith(".") and text[0] == text[0].upper() for text in texts)


def test_an_option_of_another_engine_is_unknown(capsys):
    status, _, err = run(capsys, *"run shake SHA3_256 --bits 64".split())
    assert status == 2
    assert "--bits" in err


def test_list(capsys):
    (record,) = run_json(capsys, "list", "shake")
    calls = CALL_FAMILIES["shake"].choose({}).design.interface.calls
    assert record["operations"] == [one.name for one in calls]
    assert record["parameters"][0]["default"] == "8"
    assert record["slots"][0]["bytes"] is None
    assert record["slots"][1] == {
        "name": "output_bytes",
        "number": 1,
        "bytes": [4],
        "secret": False,
        "readable": False,
        "summary": "length of SHAKE's output in bytes",
    }
    _, out, _ = run(capsys, "list", "shake")
    assert "    message: bytes to hash, as many as there are (any length)\n" in out
