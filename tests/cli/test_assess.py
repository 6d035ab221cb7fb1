"""`coprime assess faults` and `schedule`."""

import shlex

import pytest

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
