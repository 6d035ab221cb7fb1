"""Sweeps on real worker processes: kept, resumed, with failures, with a worker killed."""

import argparse
import dataclasses
import os
import signal

import pytest
from coprime_evidence.sources import sources
from coprime_evidence.sweeps import sweep as sweeping
from coprime_evidence.sweeps import worker
from coprime_evidence.sweeps.specification import parse_specification
from coprime_evidence.sweeps.sweep import sweep
from coprime_evidence.sweeps.worker import Measurement, measure, recall, remember
from distributed import LocalCluster

from coprime.catalog import choose, family_named
from coprime.cells.target import Target
from coprime.explore import measure as mapping
from coprime.explore.points import read_points, write_points
from coprime.flow.cache import cache_folder
from coprime.flow.mapping import MappedDesign
from coprime.flow.parts import FRONT_END, NODE, cluster_verilog
from coprime.flow.targets import DEVICES
from coprime.flow.tool_errors import ToolError
from coprime.runs.single_multiplication import MultiplicationRun
from coprime.soc import exponentiation
from coprime.soc.firmware import find_toolchain

SMALL = """
[[sweep]]
families = ["fdfm"]
parameters = { max_bits = ["bits", 96] }
bits = [96, 160]
operations = ["MODMUL", "RSA_PRIVATE"]
targets = ["ecp5", "unit-gate"]
route = false
"""
MEASUREMENTS = 4 + 4
"""Designs of 96 and 160 bits on two targets; two operations of each design."""
FAILED = "fdfm with these parameters takes moduli of 16 to 96 bits, not 160"
"""What 160 bits on the design of 96 bits are refused with, before anything is done for them."""

pytestmark = [pytest.mark.usefixtures("no_measurements"), pytest.mark.xdist_group("sweeps")]


class Interrupter:
    """A progress that interrupts the sweep after some measurements."""

    def __init__(self, after):
        self.after = after

    def __call__(self, done, total, failed):
        if done == self.after:
            raise KeyboardInterrupt


@pytest.mark.route
def test_sweep_and_its_repetition(tmp_path):
    planned, results = parse_specification(SMALL), tmp_path / "results.parquet"
    seen = []
    first = sweep(planned, results, workers=2, progress=lambda *now: seen.append(now))
    assert (first.measured, first.kept) == (MEASUREMENTS, 0)
    assert seen[0] == (0, MEASUREMENTS, 0)
    assert seen[-1] == (MEASUREMENTS, MEASUREMENTS, 0)
    assert len(first.points) == len(planned) == 12

    for point in first.points:
        too_long = point.bits > point.parameters["max_bits"]
        assert (point.status, point.reason) == (("failed", FAILED) if too_long else ("ok", None))
        area = point.lut if point.target == "ecp5" else point.gate_area
        assert (area is None) is (point.cycles is None) is too_long
        assert point.cycles == point.predicted_cycles
        assert point.fmax_mhz is point.milliseconds is None
        target = "generic" if point.target == "unit-gate" else "ecp5"
        bits = point.parameters["max_bits"]
        command = (
            f"coprime build fdfm -p max_bits={bits} -p multipliers=1"
            f" -p exponentiator=left-to-right -p window=4 --target {target} -o DIR"
        )
        assert point.command == command
    assert len(first.failed) == 4
    assert read_points(results) == first.points

    # Again: nothing is done.
    again = sweep(planned, results, workers=1)
    assert (again.measured, again.kept) == (0, MEASUREMENTS)
    assert again.points == first.points
    # One more operation: only that is measured.
    more = parse_specification(
        SMALL.replace("[96, 160]", "96").replace('["MODMUL"', '["RSA_PUBLIC", "MODMUL"')
    )
    assert sweep(more, results, workers=1).measured == 1
    # Nothing new: no worker is started.
    nothing = sweep(more, results, scheduler="tcp://127.0.0.1:1")
    assert (nothing.measured, nothing.kept) == (0, 5)


@pytest.mark.route
def test_interrupted_and_resumed(tmp_path):
    planned, results = parse_specification(SMALL), tmp_path / "results.parquet"
    with pytest.raises(KeyboardInterrupt):
        sweep(planned, results, workers=1, progress=Interrupter(6))
    partial = read_points(results)
    assert len(partial) < 12
    kept = sum(
        recall(task) is not None
        for task in {task for point in planned for task in (point.area, point.run)}
    )
    assert kept >= 6
    resumed = sweep(planned, results, workers=1)
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


@pytest.mark.route
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


@pytest.mark.route
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


MULTIPLIERS = """
[[sweep]]
families = "fdfm"
parameters = { max_bits = "bits" }
bits = [64, 200]
part = "multiplier"
targets = ["xc7", "ecp5", "unit-gate"]
device = "LFE5U-45F"
"""


@pytest.mark.route
def test_a_multiplier_by_itself(tmp_path):
    planned = parse_specification(MULTIPLIERS)
    summary = sweep(planned, tmp_path / "results.parquet", workers=2)
    assert (len(summary.points), summary.measured) == (6, 6 + 2)
    for point in summary.points:
        assert (point.status, point.part, point.operation) == ("ok", "multiplier", "MULTIPLICATION")
        digits = -(-(point.bits + 2) // 17)
        multiplication = point_design(point).multiplication
        assert point.cycles == point.predicted_cycles == multiplication.cycles(digits, digits)
        assert point.utilization == multiplication.products(digits, digits) / point.cycles
        if point.target == "unit-gate":
            assert (point.gate_area, point.memory_bits) > (0, 0)
            continue
        # One DSP slice; the memory is the engine's.
        assert (point.dsp, point.bram) == (1, 0)
        assert point.lut > 0
        if point.target == "ecp5":
            assert point.device == "LFE5U-45F-6 CABGA381"
            assert point.milliseconds == point.cycles / point.fmax_mhz / 1000
        else:
            assert (point.device, point.fmax_mhz) == ("AMD 7 series", None)


SYSTEMS = """
[[sweep]]
families = "fdfm"
part = "system"
bus = ["axi4-lite", "axi4"]
bits = 96
operations = "MODEXP"
targets = "generic"
"""


def has_compiler():
    try:
        return bool(find_toolchain())
    except ToolError:
        return False


@pytest.mark.route
@pytest.mark.skipif(not has_compiler(), reason="there is no compiler for RISC-V")
def test_a_system_and_its_software(tmp_path):
    summary = sweep(parse_specification(SYSTEMS), tmp_path / "results.csv", workers=2)
    full, lite = summary.points
    assert (full.bus, lite.bus) == ("axi4", "axi4-lite")
    assert read_points(tmp_path / "results.csv") == summary.points
    for point in summary.points:
        assert (point.status, point.part, point.target, point.lut) == (
            "ok",
            "system",
            "generic",
            None,
        )
        assert point.predicted_cycles < point.cycles < point.software_cycles
    assert full.cycles < lite.cycles
    assert full.software_cycles == lite.software_cycles
    assert full.predicted_cycles == lite.predicted_cycles
    assert full.command == lite.command.replace(" -o", " --bus axi4 -o")


def test_without_a_compiler_a_system_fails(monkeypatch):
    """The point says what is missing; the next sweep tries it again."""

    def missing():
        raise ToolError("firmware needs a compiler for RISC-V")

    monkeypatch.setattr(exponentiation, "find_toolchain", missing)
    for planned in parse_specification(SYSTEMS):
        assert measure(planned.area, sources()).reason is None
        measurement = measure(planned.run, sources())
        assert measurement.reason == "firmware needs a compiler for RISC-V"
        remember(planned.run, measurement)
        assert recall(planned.run) is None


def point_design(point):
    settings = {name: str(value) for name, value in point.parameters.items()}
    return family_named(point.family).choose(settings).design


def test_what_does_not_fit_keeps_its_area(tmp_path, monkeypatch):
    text = (
        MULTIPLIERS.replace("[64, 200]", "64").replace('"xc7", ', "").replace(', "unit-gate"', "")
    )
    (planned,) = parse_specification(text)

    def refuse(target, verilog, top, *, device, **options):
        raise ToolError(f"the design does not fit {device}: it needs more")

    monkeypatch.setattr(mapping, "route_design", refuse)
    area = measure(planned.area, worker.sources())
    assert area.reason == "place and route: the design does not fit LFE5U-45F: it needs more"
    assert area.columns["lut"] > 0
    assert area.columns["device"] == "LFE5U-45F-6 CABGA381"
    assert "fmax_mhz" not in area.columns


CLUSTER = """
[[sweep]]
families = "fdfm"
parameters = { max_bits = 64 }
part = "cluster"
cores = 2
bits = 64
operations = "RSA_PRIVATE"
targets = ["xc7", "ecp5"]
device = "LFE5U-85F"
"""


@pytest.mark.route
def test_a_cluster_is_mapped_as_one_front_end_and_one_node(tmp_path, monkeypatch):
    """Without the tools: what they are given, and what becomes of their figures."""
    xc7, ecp5 = parse_specification(CLUSTER)
    assert xc7.run == ecp5.run
    mapped = {
        "lut": 2000,
        "lutram": 1,
        "ff": 2,
        "carry": 3,
        "dsp": 2,
        "bram": 1.0,
        "slices_estimate": 500,
        "tools": {"yosys": "1"},
        "cells": {},
        "netlist": "",
    }
    given = []

    def tool(name, result):
        def record(target, verilog, top, *, repeated, **options):
            given.append((name, target, verilog, top, repeated, options))
            return result[target]

        monkeypatch.setattr(mapping, name, record)

    both = (Target.XC7, Target.ECP5)
    designs = [MappedDesign(**mapped, target=one.value, device=one.value) for one in both]
    tool("map_design", dict(zip(both, designs, strict=True)))
    routed = argparse.Namespace(
        device="85", fmax_mhz=100.0, fmax_by_seed={1: 100.0}, tools={"nextpnr": "2"}
    )
    tool("route_design", {Target.ECP5: routed})
    areas = [measure(point.area, worker.sources()) for point in (xc7, ecp5)]
    assert [area.reason for area in areas] == [None, None]
    cluster = choose("cluster", {"cores": "2", "max_bits": "64"})
    verilog = {target: cluster_verilog(cluster, target) for target in (Target.XC7, Target.ECP5)}
    repeated = (FRONT_END, NODE)
    assert given == [
        (
            *("map_design", Target.XC7, verilog[Target.XC7], "coprime_cluster", repeated),
            {"device": ""},
        ),
        (
            *("map_design", Target.ECP5, verilog[Target.ECP5], "coprime_cluster", repeated),
            {"device": "LFE5U-85F"},
        ),
        (
            *("route_design", Target.ECP5, verilog[Target.ECP5], "coprime_cluster", repeated),
            {"seeds": (1,), "device": "LFE5U-85F", "late_paths": 0},
        ),
    ]
    # Other cores are another measurement.
    more = dataclasses.replace(xc7.area, cores=3)
    assert measure(more, worker.sources()).key != areas[0].key

    # With all measurements there, a sweep starts no worker.
    for point, area in zip((xc7, ecp5), areas, strict=True):
        remember(point.area, area)
    remember(xc7.run, Measurement({"cycles": 4000, "utilization": 0.5}, {}, "run"))
    summary = sweep([xc7, ecp5], tmp_path / "results.parquet", scheduler="tcp://127.0.0.1:1")
    routed, unrouted = summary.points
    for point in (routed, unrouted):
        assert (point.part, point.cores, point.family, point.status) == ("cluster", 2, "fdfm", "ok")
        assert point.parameters == {
            "max_bits": 64,
            "multipliers": 1,
            "exponentiator": "left-to-right",
            "window": 4,
        }
        assert (point.lut, point.dsp, point.bram) == (2000, 2, 1.0)
        # The operation is that of one engine.
        assert (point.cycles, point.utilization) == (4000, 0.5)
        assert point.command == f"{cluster.command('build', Target(point.target))} -o DIR"
    assert (routed.milliseconds, routed.fmax_mhz) == (0.04, 100.0)
    assert routed.area_time == 2000 * 0.04 / 2
    assert unrouted.milliseconds is unrouted.area_time is None
    assert read_points(tmp_path / "results.parquet") == summary.points


@pytest.mark.route  # half a minute to map
def test_a_cluster(tmp_path):
    """One DSP slice and half a block RAM for each core, as an engine by itself has."""
    text = CLUSTER.replace('["xc7", "ecp5"]', '"xc7"').replace('device = "LFE5U-85F"', "")
    planned = parse_specification(
        text + text.replace('"cluster"', '"engine"').replace("cores", "#")
    )
    summary = sweep(planned, tmp_path / "results.parquet", workers=2)
    assert (len(summary.points), summary.measured) == (2, 2 + 1)
    cluster, engine = summary.points
    assert (cluster.part, cluster.cores, cluster.status) == ("cluster", 2, "ok")
    assert (engine.part, engine.cores, engine.status) == ("engine", 0, "ok")
    assert (cluster.dsp, cluster.bram) == (2 * engine.dsp, 2 * engine.bram) == (2, 1)
    assert cluster.lut > 2 * engine.lut
    assert cluster.ff > 2 * engine.ff
    assert cluster.cycles == cluster.predicted_cycles == engine.cycles
    assert cluster.utilization == engine.utilization


# --- What a worker does -------------------------------------------------------------------------


def task(**changes):
    text = SMALL.replace("[96, 160]", "96").replace(", 96]", "]")
    for old, new in changes.items():
        text = f"{text}{old} = {new}\n"
    (run,) = {one.run for one in parse_specification(text) if one.run.operation == "MODMUL"}
    return run


def test_too_long_to_simulate_is_predicted():
    short = measure(task(), worker.sources())
    long = measure(task(simulate_cycles=10), worker.sources())
    assert short.columns["cycles"] == short.columns["predicted_cycles"]
    assert "cycles" not in long.columns
    assert long.columns["predicted_cycles"] == short.columns["cycles"]
    assert long.columns["utilization"] == pytest.approx(short.columns["utilization"])
    assert long.key != short.key


@pytest.mark.route
def test_each_workload_is_simulated():
    """Runs are kept by all their numbers: neither another exponent nor another seed is the same."""
    text = SMALL.replace("[96, 160]", "96").replace(", 96]", "]").replace("MODMUL", "MODEXP")
    texts = [f'{text}exponents = ["worst", "random"]\noperand_seed = {seed}\n' for seed in (1, 2)]
    runs = {point.run for text in texts for point in parse_specification(text)}
    assert len(runs) == 2 * 2 * 2
    done = [measure(run, worker.sources()) for run in runs]
    assert [one.reason for one in done] == [None] * 8
    assert len({one.key for one in done}) == 8


def test_other_sources_are_refused():
    refused = measure(task(), "0")
    assert refused.reason == "the worker runs other sources of Coprime than the sweep"
    assert not refused.columns


def test_wrong_results_are_failures(monkeypatch):
    monkeypatch.setattr(worker, "_simulate", lambda *_: (7, 0.5, False))
    failed = measure(task(), worker.sources())
    assert failed.reason == "the simulation's result is wrong"
    monkeypatch.setattr(worker, "_simulate", lambda *_: (7, 0.5, True))
    failed = measure(task(), worker.sources())
    assert failed.reason.startswith("the simulation took 7 cycles, and ")


def test_wrong_multiplications_are_failures(monkeypatch):
    (own, *_) = {point.run for point in parse_specification(MULTIPLIERS)}
    right = measure(own, worker.sources())
    cycles = right.columns["cycles"]
    assert right.reason is None
    for outcome, reason in (
        (MultiplicationRun(cycles, 3, right=False), "the simulation's result is wrong"),
        (
            MultiplicationRun(cycles + 1, 3),
            f"the simulation took {cycles + 1} cycles, and {cycles} are predicted",
        ),
    ):
        monkeypatch.setattr(worker, "simulate_multiplication", lambda *_, outcome=outcome: outcome)
        assert measure(own, worker.sources()).reason == reason
    # Too long to simulate, it is predicted.
    short = dataclasses.replace(own, simulate_cycles=cycles - 1)
    assert "cycles" not in measure(short, worker.sources()).columns


def test_only_what_succeeded_is_kept(monkeypatch):
    own = task()
    remember(own, Measurement({}, {}, "", "no memory"))
    assert recall(own) is None
    kept = Measurement({"cycles": 3}, {"yosys": "1"}, "k")
    remember(own, kept)
    assert recall(own) == kept
    assert recall(task(operand_seed=9)) is None
    monkeypatch.setattr(worker, "sources", lambda: "changed")
    assert recall(own) is None


@pytest.mark.route
def test_no_scheduler(tmp_path):
    planned, results = parse_specification(SMALL), tmp_path / "results.parquet"
    results.write_text("of an earlier sweep")
    with pytest.raises(OSError, match=r"there is no Dask scheduler at tcp://127\.0\.0\.1:1"):
        sweep(planned, results, scheduler="tcp://127.0.0.1:1")
    with pytest.raises(OSError, match="there is no Dask scheduler at nonsense"):
        sweep(planned, results, scheduler="nonsense")
    assert results.read_text() == "of an earlier sweep"


# --- Results that are brought up to date --------------------------------------------------------

UPDATED = """
[[sweep]]
families = "fdfm"
parameters = { max_bits = [64, 96] }
bits = 64
operations = "MODMUL"
targets = "unit-gate"
"""


def measured(text, name=""):
    """Points of a specification as a sweep makes them, measured here; the cache has them then."""
    planned, here = parse_specification(text), worker.sources()
    for task in {task for point in planned for task in (point.area, point.run)}:
        remember(task, measure(task, here))
    done = {task: recall(task) for point in planned for task in (point.area, point.run)}
    return planned, sweeping._points(planned, done, name)


@pytest.mark.route
def test_what_has_not_changed_is_kept(tmp_path):
    """Without the cache, and with another row: only that design is measured."""
    planned, before = measured(UPDATED, "papers")
    results, seen = tmp_path / "results.csv", []
    write_points([dataclasses.replace(before[0], gate_area=7.0, key="1-2"), before[1]], results)
    (cache_folder() / "measurement").rename(tmp_path / "forgotten")
    options = {"name": "papers", "update": True}

    def interrupt(done, total, failed):
        raise KeyboardInterrupt

    changed = read_points(results)
    with pytest.raises(KeyboardInterrupt):
        sweep(planned, results, **options, workers=1, progress=interrupt)
    assert read_points(results) == changed  # nothing is lost
    again = sweep(planned, results, **options, workers=1, announce=seen.append)
    assert (again.measured, again.kept) == (2, 2)
    (work,) = seen
    assert (work.known, work.mapped, work.routed, work.runs) == (2, 1, 0, 1)
    assert work.seconds > 0
    assert read_points(results) == before
    # What was confirmed is kept as a measurement: there is nothing left to ask a worker.
    nothing = sweep(planned, results, **options, scheduler="tcp://127.0.0.1:1")
    assert (nothing.measured, nothing.kept) == (0, 4)


@pytest.mark.matrix
def test_rows_of_other_specifications_stay():
    """A row goes only if no specification asks for it any longer, or if it failed."""
    planned, (first, second) = measured(UPDATED, "papers")
    both = dataclasses.replace(first, specifications="papers shipped", bits=100)
    other = dataclasses.replace(first, specifications="shipped", bits=200)
    gone = dataclasses.replace(first, bits=300)
    unplaced = dataclasses.replace(second, placements=3, status="failed", reason="it does not fit")
    stale = dataclasses.replace(second, gate_area=7.0)
    earlier = [both, other, gone, unplaced, first, stale]

    def rows(points):
        return {(one.bits, one.gate_area, one.status): one.specifications for one in points}

    kept = {(100, first.gate_area, "ok"): "shipped", (200, first.gate_area, "ok"): "shipped"}
    new = {(64, one.gate_area, "ok"): "papers" for one in (first, second)}
    merged = sweeping._merged([first, second], planned, earlier, "papers")
    assert rows(merged) == kept | new
    # What is not measured yet stays as it is.
    assert stale in sweeping._merged([first], planned, earlier, "papers")
    # Of two specifications that ask for it a row has both names.
    again = [dataclasses.replace(one, specifications="shipped") for one in (first, second)]
    assert rows(sweeping._merged(again, planned, merged, "shipped")) == {
        (64, one.gate_area, "ok"): "papers shipped" for one in (first, second)
    }
    # Those of a specification without a name stay.
    assert gone in sweeping._merged([first], planned, [gone], "")


@pytest.mark.parametrize("text", [SMALL, MULTIPLIERS, CLUSTER])
def test_a_point_is_found_by_what_asked_for_it(text):
    """Of each planned point: its row's, with the device that it is placed on."""
    for planned in parse_specification(text):
        if planned.refusal is None:
            routed = {"fmax_mhz": 9.0, "placements": 1} if planned.area.route_seeds else {}
            device = DEVICES[planned.area.device].title if routed else "a family"
            area = Measurement({"device": device, "lut": 1, **routed}, {}, "a")
            run = Measurement({"cycles": 1}, {}, "b")
            point = sweeping._point(planned, area, run)
            assert point.request == sweeping.request_of(planned)


@pytest.mark.route
@pytest.mark.parametrize(
    "text",
    [
        UPDATED.replace("[64, 96]", "64").replace("unit-gate", "xc7"),
        pytest.param(
            UPDATED.replace("[64, 96]", "64") + "simulate_cycles = 5", marks=pytest.mark.matrix
        ),
        pytest.param(
            MULTIPLIERS.replace("[64, 200]", "64")
            .replace('["xc7", "ecp5", "unit-gate"]', '"xc7"')
            .replace('device = "LFE5U-45F"', ""),
            marks=pytest.mark.matrix,
        ),
    ],
)
def test_a_measurement_is_confirmed_by_what_it_follows_from(monkeypatch, text):
    (own, *_), (point, *_) = measured(text)
    here = worker.sources()
    for task in (own.area, own.run):
        assert worker.confirm(task, point, here) == recall(task)
        assert worker.confirm(task, point, "other sources") is None
        assert worker.confirm(task, dataclasses.replace(point, status="failed"), here) is None
    assert worker.confirm(own.run, dataclasses.replace(point, utilization=0.5), here) is None
    monkeypatch.setattr(worker, "digest_of", lambda verilog: "another design")
    for task in (own.area, own.run):
        assert worker.confirm(task, point, here) is None


def test_a_release_of_coprime_changes_no_key(monkeypatch):
    own = task()
    before = measure(own, worker.sources())
    monkeypatch.setattr(worker, "__version__", "99.9")
    after = measure(own, worker.sources())
    assert (after.key, after.tools["coprime"]) == (before.key, "99.9")


def test_bad_workers(tmp_path):
    planned = parse_specification(SMALL)
    with pytest.raises(ValueError, match="workers must be 1 or more, not 0"):
        sweep(planned, tmp_path / "results.parquet", workers=0)
    with pytest.raises(ValueError, match="workers or a scheduler, not both"):
        sweep(planned, tmp_path / "results.parquet", workers=1, scheduler="tcp://127.0.0.1:1")
