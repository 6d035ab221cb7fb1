"""Campaigns in folders: interrupted, extended, and on other processes, with the same sums."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from coprime_evidence.assess import leakage_campaign
from coprime_evidence.assess.leakage import run_leakage
from coprime_evidence.assess.leakage_campaign import record_traces
from coprime_evidence.assess.number_subject import NumberSubject
from coprime_evidence.assess.number_traces import LeakageTest, NumberTraces
from coprime_evidence.assess.traces import Acquisition, ProductWindows

from coprime.catalog import choose
from coprime.cli import main
from coprime.engine.contract import Command

pytestmark = [pytest.mark.xdist_group("leakage"), pytest.mark.matrix]

BLOCK = 20
PRODUCTS = ProductWindows("engine.lane.left", (1500, 1600), (1600, 1750))


def acquisition(**others):
    subject = NumberSubject(choose("compact", {"max_bits": "64"}), Command.RSA_PRIVATE, 64, seed=1)
    return Acquisition(NumberTraces(subject, LeakageTest.NOTHING), products=PRODUCTS, **others)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(leakage_campaign, "BLOCK", BLOCK)
    monkeypatch.setattr(leakage_campaign, "_INTERVAL", 0)


def equal(found, expected):
    """Whether two campaigns have the same sums and the same kept traces."""
    one, other = found.arrays(), expected.arrays()
    same = all(np.array_equal(one[name], other[name]) for name in one.keys() - {"seconds"})
    assert one.keys() == other.keys() and len(found.kept) == len(expected.kept)
    return same and all(
        (getattr(a, name) == getattr(b, name)).all()
        for a, b in zip(found.kept, expected.kept, strict=True)
        for name in ("traces", "fixed", "inputs")
    )


@pytest.mark.matrix
@pytest.mark.parametrize("noise", [pytest.param(0.0, marks=pytest.mark.fuzz), 2.0])
def test_an_interrupted_campaign_goes_on_and_is_extended(tmp_path, monkeypatch, noise):
    own = acquisition(noise=noise)
    _, whole = record_traces(own, 70, keep=30, workers=1)
    record, done = leakage_campaign._record, []

    def interrupted(own, first, *rest):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(first)
        return record(own, first, *rest)

    monkeypatch.setattr(leakage_campaign, "_record", interrupted)
    with pytest.raises(KeyboardInterrupt):
        record_traces(own, 50, keep=30, workers=1, folder=tmp_path)
    monkeypatch.setattr(leakage_campaign, "_record", record)
    passed = []
    record_traces(own, 50, keep=30, workers=1, folder=tmp_path, progress=passed.append)
    assert passed == [2 * BLOCK, 10]
    passed.clear()
    found = record_traces(own, 70, keep=30, workers=1, folder=tmp_path, progress=passed.append)
    assert passed == [2 * BLOCK, BLOCK, 10]  # a block that was not complete is recorded again
    assert equal(found[1], whole)
    assert whole.traces == 70 and whole.products[0].products.any()


def test_other_settings_and_fewer_traces_are_refused(tmp_path):
    record_traces(acquisition(), 2 * BLOCK, workers=1, folder=tmp_path)
    with pytest.raises(ValueError, match="another cycles, another keep: choose another folder"):
        record_traces(acquisition(cycles=(0, 9)), 40, keep=1, workers=1, folder=tmp_path)
    with pytest.raises(ValueError, match="campaign of 40 traces already"):
        record_traces(acquisition(), 39, workers=1, folder=tmp_path)


def test_part_of_the_cycles_has_the_same_t_values():
    whole = run_leakage(acquisition(), 40, workers=1)
    part = run_leakage(acquisition(cycles=(900, 1000)), 40, workers=1)
    for every, one in zip(whole.profiles, part.profiles, strict=True):
        assert (one.t == every.t[900:1000]).all()
        assert {finding.cycle for finding in one.findings} <= {*range(900, 1000)}
    assert part.record()["first_cycle"] == 900


@pytest.mark.fuzz
def test_workers_and_a_scheduler_change_nothing():
    from coprime_evidence.sweeps.workers import open_client

    _, here = record_traces(acquisition(), 50, keep=30, workers=1)
    _, with_workers = record_traces(acquisition(), 50, keep=30, workers=2)
    with open_client(1) as client:
        address = client.scheduler.address
        _, on_cluster = record_traces(acquisition(), 50, keep=30, scheduler=address)
    assert here.traces == with_workers.traces == on_cluster.traces
    for found in (with_workers, on_cluster):
        assert equal(found, here)


@pytest.mark.fuzz
def test_a_killed_command_goes_on(tmp_path, capsys):
    words = "assess leakage compact --test nothing --workers 1 --json --traces".split()
    out = tmp_path / "out"
    code = (
        "from coprime_evidence.assess import leakage_campaign as c; c.BLOCK = 20; c._INTERVAL = 0\n"
        "import sys; from coprime.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, *words, "2000", "-o", str(out)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 300
        while not (out / "campaign.npz").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        running.send_signal(signal.SIGKILL)
    with np.load(out / "campaign.npz") as kept:
        before = int(kept["fixed_count"] + kept["other_count"])
    assert 0 < before < 2000
    traces = str(before + 30)
    assert main([*words, traces, "-o", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main([*words, traces]) == 0
    assert found["orders"] == json.loads(capsys.readouterr().out)["orders"]


def test_a_trace_set_is_read_by_riscures_library(tmp_path, capsys):
    trsfile = pytest.importorskip("trsfile")
    words = "assess leakage compact --traces 20 --workers 1 --order 1 --keep 5 --trs -o".split()
    assert main([*words, str(tmp_path)]) == 0
    expected = np.load(tmp_path / "traces.npz")
    with trsfile.open(str(tmp_path / "traces.trs")) as found:
        assert len(found) == 5
        for one, samples, fixed, given in zip(
            found, expected["traces"], expected["fixed"], expected["inputs"], strict=True
        ):
            assert (one.samples == samples).all()
            assert bytes(one.parameters["FIXED"].value) == bytes([int(fixed)])
            assert bytes(one.parameters["INPUT"].value) == given.tobytes()
            assert one.title == ("fixed" if fixed else "random")
        assert "--test message" in found.get_header(trsfile.Header.DESCRIPTION)
