"""`coprime assess faults`, `constant-time` and `schedule`."""

import json
import shlex
from pathlib import Path

import pytest
from coprime_evidence.assess.constant_time import TimingProof
from coprime_evidence.assess.sequencer_proof import SequencerProof
from coprime_evidence.cli import assess, assess_calls

from coprime.cli.output import print_table
from tests.cli.command import run, run_json

MODMUL = ("assess", "faults", "compact", "--operation", "MODMUL", "--flips", 200, "--seed", 3)


@pytest.mark.usefixtures("no_measurements")
def test_faults(capsys, tmp_path):
    """Table and JSON have the same figures; the command of a wrong result repeats it."""
    found = run_json(capsys, *MODMUL)
    assert found["flips"] == sum(found[one] for one in ("right", "error", "no_end", "wrong")) == 200
    assert (found["operation"], found["bits"], found["seed"]) == ("MODMUL", 64, 3)
    assert found["parameters"]["max_bits"] == 64
    assert 0 < found["wrong"] / 200 < found["upper_bound"] < 1
    status, out, err = run(capsys, *MODMUL, "-o", tmp_path / "new")
    assert status == 0  # nothing checks MODMUL
    assert err.split() == [
        str(tmp_path / "new" / f"faults.{suffix}") for suffix in ("parquet", "json", "svg", "png")
    ]
    total = next(line for line in out.splitlines() if line.startswith("bit   all"))
    assert total.split()[2:6] == [str(found[one]) for one in ("flips", "right", "error", "no_end")]
    wrong = found["wrong_faults"][0]
    _, *command = shlex.split(wrong["command"])
    again = run_json(capsys, *command)
    assert (again["outcome"], again["value"]) == ("wrong", wrong["value"])


@pytest.mark.matrix
@pytest.mark.usefixtures("no_measurements")
def test_faults_in_a_call(capsys):
    """The same of a call; the command of a wrong result repeats it."""
    words = ("assess", "faults", "shake", "--operation", "SHA3_256", "--flips", 60, "--seed", 3)
    found = run_json(capsys, *words, "--workers", 1)
    assert found["flips"] == sum(found[one] for one in ("right", "error", "no_end", "wrong")) == 60
    assert (found["family"], found["operation"], found["seed"]) == ("shake", "SHA3_256", 3)
    assert found["reveals"] == found["refused"] == 0  # there is no secret
    assert "bits" not in found
    assert "another_input" not in found
    wrong = found["wrong_faults"][0]
    _, *command = shlex.split(wrong["command"])
    again = run_json(capsys, *command)
    assert (again["outcome"], again["value"]) == ("wrong", wrong["value"])
    status, out, _ = run(capsys, *words, "--workers", 1)
    assert status == 0  # nothing checks a digest
    total = next(line for line in out.splitlines() if line.startswith("bit   all"))
    assert total.split()[2:] == [
        str(found[one])
        for one in ("flips", "right", "error", "no_end", "wrong", "reveals", "refused")
    ]


def test_a_design_that_checks(capsys):
    """The register that counts products is no part of a result."""
    fault = "bit,100,front_end.status.products,0,31"
    status, out, err = run(capsys, "assess", "faults", "compact", "--at", fault)
    assert (status, err) == (0, "")
    assert dict(line.split(maxsplit=1) for line in out.splitlines())["outcome"] == "right"


def test_a_schedule(capsys):
    """Two lengths of the shortest engine: the line and JSON."""
    command = ("assess", "schedule", "fdfm", "-p", "max_bits=64", "--digits", "2..3")
    found = run_json(capsys, *command)
    assert (found["family"], found["digits"]) == ("fdfm", [2, 3])
    assert found["parameters"]["max_bits"] == 64
    assert found["cases"] == 6
    status, out, _ = run(capsys, *command)
    assert status == 0
    assert out.startswith("proved for 2 lengths from 2 to 3 digits: fdfm computes X * Y")


@pytest.mark.parametrize("family", ["compact", "ring"])
def test_the_sequencer_is_what_is_proved(capsys, monkeypatch, family):
    """Of the shortest engine, unless another one is asked for."""
    proved = []

    def prove(choice, *, seconds):
        proved.append((choice.values["max_bits"], seconds))
        return found

    monkeypatch.setattr(assess, "prove_sequencers", prove)
    found = SequencerProof(sequencers=(True,), ways={})
    status, out, _ = run(capsys, "assess", "constant-time", family)
    assert (status, out.splitlines()[0]) == (
        0,
        f"proved: no secret changes how long {family} with max_bits=64 works",
    )
    found = SequencerProof(sequencers=(False,), ways={"busy": frozenset({"memory", "digit"})})
    words = ("assess", "constant-time", family, "-p", "max_bits=128", "--seconds", "7")
    assert run(capsys, *words)[:2] == (
        1,
        "digit, memory lead to the busy\nsecrets change what the sequencer of lane 0 does\n",
    )
    status, out, _ = run(capsys, *words, "--json")
    record = json.loads(out)
    assert (status, record["proved"], record["sequencers"]) == (1, False, [False])
    assert record["ways"] == {"busy": ["digit", "memory"]}
    assert proved == [(64, 600), (128, 7), (128, 7)]


@pytest.mark.proof
def test_compact_is_constant_time(capsys):
    status, out, _ = run(capsys, "assess", "constant-time", "compact")
    assert (status, out.partition(":")[0]) == (0, "proved")


@pytest.mark.proof
def test_shake_is_constant_time(capsys):
    status, out, _ = run(capsys, "assess", "constant-time", "shake")
    assert (status, out.partition(":")[0]) == (0, "proved")


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"holds": True}, "proved: no secret changes how long shake works"),
        (
            {"holds": False, "cycle": 7},
            "secrets change how long shake works: first seen in cycle 7",
        ),
        ({"holds": False, "way": ("a.held", "a.busy")}, "by way of a.held, a.busy"),
    ],
)
def test_what_a_proof_of_calls_prints(found, text, capsys, monkeypatch):
    proof = TimingProof(**{"cycle": None, "same": (), "other": ("held",), **found})
    monkeypatch.setattr(assess_calls, "prove_calls", lambda design, *, seconds: proof)
    status, out, _ = run(capsys, "assess", "constant-time", "shake")
    assert (status, text in out) == (0 if proof.holds else 1, True)
    status, out, _ = run(capsys, "assess", "constant-time", "shake", "--json")
    record = json.loads(out)
    assert (record["proved"], record["parameters"]) == (proof.holds, {"slices": "8"})
    assert record.get("way", []) == list(proof.way)
    status, _, error = run(capsys, "assess", "constant-time", "shake", "--seconds", "0")
    assert (status, "--seconds must be 1 or more" in error) == (2, True)


def test_tables_have_no_words_of_python(capsys):
    print_table([("cells", {"LUT4": 3, "FF": 5}), ("files", ["a", Path("b")]), ("clock", 1.5)])
    assert capsys.readouterr().out == "cells  LUT4 3, FF 5\nfiles  a, b\nclock  1.5\n"
