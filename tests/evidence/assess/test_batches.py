"""Campaigns in batches: what is kept, what is run, and what it sums up to."""

import json

import pytest
from coprime_evidence.assess import batches
from coprime_evidence.assess.batches import Batch, run_batches, shares
from coprime_evidence.assess.fault_kinds import FaultKind
from coprime_evidence.assess.faults_files import write_files
from coprime_evidence.assess.faults_summary import FaultSummary
from coprime_evidence.assess.number_subject import NumberSubject
from pyarrow import parquet

from coprime.catalog import choose
from coprime.engine.contract import Command

SUBJECT = NumberSubject(choose("compact", {"max_bits": "64"}), Command.MODMUL, 64, seed=1)
BATCHES = [
    Batch(FaultKind.BIT, 0, 150),
    Batch(FaultKind.BIT, 150, 50),
    Batch(FaultKind.HOLD, 0, 30),
]


@pytest.fixture
def nothing_kept(no_measurements):
    yield
    batches._Opened.close()


@pytest.mark.parametrize("flips", [1, 4, 7, 5000, 12_345])
def test_shares(flips):
    """As many of each kind, give or take one; those of a kind follow each other."""
    found = shares(list(FaultKind), flips)
    for kind in FaultKind:
        numbers = [
            number
            for batch in found
            if batch.kind is kind
            for number in range(batch.first, batch.first + batch.count)
        ]
        assert numbers == list(range(len(numbers)))
        assert abs(len(numbers) - flips / len(FaultKind)) < 1
    assert sum(batch.count for batch in found) == flips


@pytest.mark.usefixtures("nothing_kept")
def test_interrupted_and_resumed(monkeypatch, tmp_path):
    """What was run before the interruption is not run again, and the result is as without one."""
    run_batch, done = batches._run_batch, []

    def run(subject, batch):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(batch)
        return run_batch(subject, batch)

    monkeypatch.setattr(batches, "_run_batch", run)
    with pytest.raises(KeyboardInterrupt):
        run_batches(SUBJECT, BATCHES, workers=1)
    assert done == BATCHES[:2]
    monkeypatch.setattr(batches, "_run_batch", run_batch)
    passed = []
    resumed = run_batches(SUBJECT, BATCHES, workers=1, progress=passed.append)
    assert passed == [200, 30]
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path / "other"))
    (tmp_path / "other").mkdir()
    for kind in ("registers", "simulation", "verilated"):
        (tmp_path / "other" / kind).symlink_to(tmp_path / "cache" / kind)
    assert run_batches(SUBJECT, BATCHES, workers=1).equals(resumed)


@pytest.mark.fuzz
@pytest.mark.usefixtures("nothing_kept")
def test_workers_change_nothing(monkeypatch):
    here = run_batches(SUBJECT, BATCHES, workers=1)
    monkeypatch.setattr(batches, "find_cached", lambda kind, key: None)
    assert run_batches(SUBJECT, BATCHES, workers=2).equals(here)


@pytest.mark.usefixtures("nothing_kept")
def test_summary(tmp_path):
    """Counts of the runs, place by place and in all; and the files."""
    runs = run_batches(SUBJECT, BATCHES, workers=1)
    found = FaultSummary(SUBJECT, runs)
    record = found.record()
    rows = runs.to_pylist()
    outcomes = ["right", "error", "no_end", "wrong"]
    assert record["flips"] == len(rows) == 230
    assert {name: record[name] for name in outcomes} == {
        name: sum(row["outcome"] == name for row in rows) for name in outcomes
    }
    assert record["wrong"] == found.wrong == len(record["wrong_faults"]) > 0
    assert record["kinds"]["bit"]["flips"] == 200
    assert record["reveals"] == 0
    lines = [line.split() for line in found.table().splitlines()]
    assert ["bit", "all", "200"] in [line[:3] for line in lines]
    in_memory = sum(row["place"] == "engine.lane.left (memory)" for row in rows)
    assert ["engine.lane.left", "(memory)", str(in_memory)] in [line[1:4] for line in lines]
    wrong_uniform = sum(
        row["outcome"] == "wrong" and row["kind"] == "bit" and row["number"] % 2 == 0
        for row in rows
    )
    assert f"bit: {wrong_uniform} of 100 faults" in next(iter(found.bounds()))
    paths = write_files(found, tmp_path / "new")
    assert [path.name for path in paths] == [
        f"faults.{suffix}" for suffix in ("parquet", "json", "svg", "png")
    ]
    assert parquet.read_table(paths[0]).equals(runs)
    assert json.loads(paths[1].read_text()) == record
    assert paths[2].read_text().startswith("<svg")
    assert paths[3].read_bytes().startswith(b"\x89PNG")
