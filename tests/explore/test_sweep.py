"""Sweeps on real worker processes: kept, resumed, with failures, with a worker killed."""

import argparse
import os
import signal

import pytest
from distributed import LocalCluster

from coprime.explore import measurement
from coprime.explore.commands import add_choose, add_sweep, run_choose, run_sweep
from coprime.explore.measurement import Measurement, measure, recall, remember
from coprime.explore.points import read_points
from coprime.explore.specification import parse_specification
from coprime.explore.sweep import sweep
from coprime.flow.tools import cache_folder

SMALL = """
[[sweep]]
families = ["fdfm"]
parameters = { max_bits = ["bits", 96] }
bits = [96, 160]
operations = ["MODMUL", "RSA_PRIVATE"]
targets = ["ecp5", "unit-gate"]
route = false
"""
MEASUREMENTS = 4 + 6
"""Designs of 96 and 160 bits on two targets; two operations of three designs and sizes."""
FAILED = "a length is over the accelerator's greatest"
"""What 160 bits on the design of 96 bits are refused with."""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache without measurements, in which what the tools built is still there."""
    built, fresh = cache_folder(), tmp_path / "cache"
    fresh.mkdir()
    for kind in ("mapping", "routing", "simulation", "unit_gate", "verilated"):
        (built / kind).mkdir(parents=True, exist_ok=True)
        (fresh / kind).symlink_to(built / kind)
    monkeypatch.setenv("COPRIME_CACHE", str(fresh))
    # Workers start anew in each test; the sources may have been edited since the last one.
    measurement.sources.cache_clear()


class Interrupter:
    """A progress that interrupts the sweep after some measurements."""

    def __init__(self, after):
        self.after = after

    def __call__(self, done, total, failed):
        if done == self.after:
            raise KeyboardInterrupt


def test_sweep_and_its_repetition(tmp_path):
    planned, results = parse_specification(SMALL), tmp_path / "results.parquet"
    seen = []
    first = sweep(planned, results, workers=2, progress=lambda *now: seen.append(now))
    assert (first.measured, first.kept) == (MEASUREMENTS, 0)
    assert seen[0] == (0, MEASUREMENTS, 0)
    assert seen[-1] == (MEASUREMENTS, MEASUREMENTS, 2)
    assert len(first.points) == len(planned) == 12

    for point in first.points:
        too_long = point.bits > point.parameters["max_bits"]
        assert (point.status, point.reason) == (("failed", FAILED) if too_long else ("ok", None))
        # What was measured of a failed point is kept.
        assert (point.lut if point.target == "ecp5" else point.gate_area) > 0
        assert (point.cycles is None) is too_long
        assert point.cycles == point.predicted_cycles
        assert point.fmax_mhz is point.milliseconds is None
        target = "generic" if point.target == "unit-gate" else "ecp5"
        bits = point.parameters["max_bits"]
        command = f"coprime build fdfm -p max_bits={bits} --target {target} -o DIR"
        assert point.command == command
    assert len(first.failed) == 4
    assert read_points(results) == first.points

    # Again: what failed is tried again, and nothing else is done.
    again = sweep(planned, results, workers=1)
    assert (again.measured, again.kept) == (2, MEASUREMENTS - 2)
    assert again.points == first.points
    # One more operation: only that is measured.
    more = parse_specification(
        SMALL.replace("[96, 160]", "96").replace('["MODMUL"', '["RSA_PUBLIC", "MODMUL"')
    )
    assert sweep(more, results, workers=1).measured == 1
    # Nothing new: no worker is started.
    nothing = sweep(more, results, scheduler="tcp://127.0.0.1:1")
    assert (nothing.measured, nothing.kept) == (0, 5)


def test_interrupted_and_resumed(tmp_path):
    planned, results = parse_specification(SMALL), tmp_path / "results.parquet"
    with pytest.raises(KeyboardInterrupt):
        sweep(planned, results, workers=2, progress=Interrupter(6))
    partial = read_points(results)
    assert len(partial) < 12
    kept = sum(
        recall(task) is not None
        for task in {task for point in planned for task in (point.area, point.run)}
    )
    assert kept >= 6 - 2  # two may have failed
    resumed = sweep(planned, results, workers=2)
    assert (resumed.measured, resumed.kept) == (MEASUREMENTS - kept, kept)
    assert len(resumed.points) == 12
    assert [point for point in resumed.points if point in partial] == partial


class Killer:
    """A progress that kills a worker in the middle of its work, once."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.killed = None

    def __call__(self, done, total, failed):
        if self.killed is not None or not 0 < done < total:
            return
        states = self.cluster.scheduler.workers.values()
        for nanny in self.cluster.workers.values():
            if any(one.address == nanny.worker_address and one.processing for one in states):
                self.killed = nanny.pid
                os.kill(self.killed, signal.SIGKILL)
                return


def test_a_killed_worker_changes_no_row(tmp_path):
    planned = parse_specification(SMALL)
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        memory_limit=0,
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        killer = Killer(cluster)
        address = cluster.scheduler_address
        survived = sweep(planned, tmp_path / "1.parquet", scheduler=address, progress=killer)
        assert killer.killed is not None
        assert killer.killed not in {nanny.pid for nanny in cluster.workers.values()}
        assert survived.measured == MEASUREMENTS
        (cache_folder() / "measurement").rename(tmp_path / "forgotten")
        calm = sweep(planned, tmp_path / "2.parquet", scheduler=address)
    assert calm.measured == MEASUREMENTS
    assert calm.points == survived.points == read_points(tmp_path / "1.parquet")
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()


def test_routed_points_have_a_time(tmp_path):
    text = SMALL.replace("route = false", "").replace("[96, 160]", "96").replace("unit-gate", "xc7")
    points = sweep(parse_specification(text), tmp_path / "results.parquet", workers=2).points
    for point in points:
        if point.target == "ecp5":
            assert point.device.startswith("LFE5U-25F")
            assert point.milliseconds == pytest.approx(point.cycles / point.fmax_mhz / 1000)
            assert point.area_time == pytest.approx(point.lut * point.milliseconds)
        else:
            assert point.fmax_mhz is point.milliseconds is point.area_time is None
            assert (point.dsp, point.bram) == (1, 0.5)


# --- What a worker does -------------------------------------------------------------------------


def task(**changes):
    text = SMALL.replace("[96, 160]", "96").replace(", 96]", "]")
    for old, new in changes.items():
        text = f"{text}{old} = {new}\n"
    (run,) = {one.run for one in parse_specification(text) if one.run.operation == "MODMUL"}
    return run


def test_too_long_to_simulate_is_predicted():
    short = measure(task(), measurement.sources())
    long = measure(task(simulate_cycles=10), measurement.sources())
    assert short.columns["cycles"] == short.columns["predicted_cycles"]
    assert "cycles" not in long.columns
    assert long.columns["predicted_cycles"] == short.columns["cycles"]
    assert long.columns["utilization"] == pytest.approx(short.columns["utilization"])
    assert long.key != short.key


def test_each_workload_is_simulated():
    """Runs are kept by all their numbers: neither another exponent nor another seed is the same."""
    text = SMALL.replace("[96, 160]", "96").replace(", 96]", "]").replace("MODMUL", "MODEXP")
    texts = [f'{text}exponents = ["worst", "random"]\noperand_seed = {seed}\n' for seed in (1, 2)]
    runs = {point.run for text in texts for point in parse_specification(text)}
    assert len(runs) == 2 * 2 * 2
    done = [measure(run, measurement.sources()) for run in runs]
    assert [one.reason for one in done] == [None] * 8
    assert len({one.key for one in done}) == 8


def test_other_sources_are_refused():
    refused = measure(task(), "0")
    assert refused.reason == "the worker runs other sources of Coprime than the sweep"
    assert not refused.columns


def test_wrong_results_are_failures(monkeypatch):
    monkeypatch.setattr(
        measurement, "_simulate", lambda choice, verilog, workload, tools: (7, 3, False)
    )
    failed = measure(task(), measurement.sources())
    assert failed.reason == "the simulation's result is wrong"
    monkeypatch.setattr(
        measurement, "_simulate", lambda choice, verilog, workload, tools: (7, 3, True)
    )
    failed = measure(task(), measurement.sources())
    assert failed.reason.startswith("the simulation took 7 cycles, and ")


def test_only_what_succeeded_is_kept(monkeypatch):
    own = task()
    remember(own, Measurement({}, {}, "", "no memory"))
    assert recall(own) is None
    kept = Measurement({"cycles": 3}, {"yosys": "1"}, "k")
    remember(own, kept)
    assert recall(own) == kept
    assert recall(task(operand_seed=9)) is None
    monkeypatch.setattr(measurement, "sources", lambda: "changed")
    assert recall(own) is None


# --- Command line -------------------------------------------------------------------------------


def options(add, *arguments):
    parser = argparse.ArgumentParser()
    add(parser)
    return parser.parse_args([str(argument) for argument in arguments])


def test_commands(tmp_path, capsys):
    specification, results = tmp_path / "small.toml", tmp_path / "new" / "results.parquet"
    specification.write_text(SMALL)
    assert run_sweep(options(add_sweep, specification, "-o", results, "--workers", 2)) == 0
    captured = capsys.readouterr()
    assert captured.out == (
        f"{results}: 12 points, 4 of them failed; 10 measurements done, 0 known before\n"
    )
    assert captured.err.count(f"160 bits: {FAILED}\n") == len(captured.err.splitlines()) == 4
    wanted = ("--bits", 96, "--target", "ecp5", "--results", results)
    assert run_choose(options(add_choose, *wanted)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("fdfm max_bits=96: ")
    assert lines[1] == "    coprime build fdfm -p max_bits=96 --target ecp5 -o DIR"
    with pytest.raises(ValueError, match="within 0 DSP; the nearest is fdfm max_bits=96: "):
        run_choose(options(add_choose, *wanted, "--max-dsp", 0))


def test_all_points_failed(tmp_path):
    specification = tmp_path / "small.toml"
    specification.write_text(SMALL.replace("[96, 160]", "160").replace('"bits", ', ""))
    output = tmp_path / "results.parquet"
    assert run_sweep(options(add_sweep, specification, "-o", output, "--workers", 1)) == 1


def test_choosing_without_results(tmp_path):
    path = tmp_path / "none.parquet"
    with pytest.raises(ValueError, match=r"there is no file .*none\.parquet; make it: coprime"):
        run_choose(options(add_choose, "--bits", 96, "--target", "ecp5", "--results", path))


def test_no_scheduler(tmp_path):
    planned = parse_specification(SMALL)
    with pytest.raises(OSError, match=r"there is no Dask scheduler at tcp://127\.0\.0\.1:1"):
        sweep(planned, tmp_path / "results.parquet", scheduler="tcp://127.0.0.1:1")
    with pytest.raises(OSError, match="there is no Dask scheduler at nonsense"):
        sweep(planned, tmp_path / "results.parquet", scheduler="nonsense")


def test_bad_workers(tmp_path):
    planned = parse_specification(SMALL)
    with pytest.raises(ValueError, match="workers must be 1 or more, not 0"):
        sweep(planned, tmp_path / "results.parquet", workers=0)
    with pytest.raises(ValueError, match="workers or a scheduler, not both"):
        sweep(planned, tmp_path / "results.parquet", workers=1, scheduler="tcp://127.0.0.1:1")
