"""Sweeps of the design space on a Dask cluster, with what was measured before kept by content."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from distributed import Client
from distributed.scheduler import KilledWorker

from coprime.bus.axi_accelerator import Bus
from coprime.cells.target import Target
from coprime.flow.parts import build_command
from coprime.flow.sources import sources

from .points import Point, write_points
from .specification import PlannedPoint
from .worker import Measurement, Task, measure, recall, remember
from .workers import ended, open_client

Progress = Callable[[int, int, int], None]
"""Called with how many measurements are done, of how many, and how many of them failed."""


@dataclass(frozen=True)
class SweepSummary:
    """What a sweep did. A measurement is of an area or of cycles; points share them."""

    points: Sequence[Point]  # all of them, as in the results file
    measured: int  # measurements that were done now, failed ones included
    kept: int  # measurements that were there already

    @property
    def failed(self) -> Sequence[Point]:
        """The points that failed."""
        return [point for point in self.points if point.status == "failed"]


def sweep(
    planned: Sequence[PlannedPoint],
    results: Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress = lambda done, tasks, failed: None,
) -> SweepSummary:
    """Measure points and write them to a file.

    Each measurement is kept, here and not on the workers, as soon as it is there: an interrupted
    sweep goes on where it stopped. The file is written with the points that are complete, as soon
    as the workers are there, and again in the end, whatever happens. A point that fails is one of
    them, with its reason.

    Parameters
    ----------
    planned : the points
    results : Parquet or CSV file; replaced if it exists
    workers : processes on this machine, 1 or more; None is as many as it has cores
    scheduler : address of a Dask scheduler to use instead
    progress : called after each measurement

    Raises ValueError for a number of workers under 1 or another kind of file, OSError if the file
    cannot be written or the scheduler cannot be reached.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be 1 or more, not {workers}")
    if workers is not None and scheduler is not None:
        raise ValueError("a sweep takes workers or a scheduler, not both")
    possible = [point for point in planned if point.refusal is None]
    tasks = list(dict.fromkeys(task for point in possible for task in (point.area, point.run)))
    done = {task: found for task in tasks if (found := recall(task)) is not None}
    kept = len(done)
    # The largest first, so that no long one is left over for the end.
    missing = sorted((task for task in tasks if task not in done), key=_size, reverse=True)
    # The file is replaced only once the workers are there.
    with open_client(workers, scheduler) if missing else nullcontext() as client:
        write_points(_points(planned, done), results)
        try:
            progress(len(done), len(tasks), 0)
            failed = 0
            for task, measurement in _measurements(missing, client):
                remember(task, measurement)
                done[task] = measurement
                failed += measurement.reason is not None
                progress(len(done), len(tasks), failed)
        finally:
            points = _points(planned, done)
            write_points(points, results)
    return SweepSummary(points, len(done) - kept, kept)


def _size(task: Task) -> int:
    return max((one for _, one in task.parameters if isinstance(one, int)), default=0)


def _points(planned: Sequence[PlannedPoint], done: Mapping[Task, Measurement]) -> list[Point]:
    """The points whose measurements are both there, and those that cannot be, sorted."""
    refused = [
        _point(point, *[Measurement({}, {}, "", point.refusal)] * 2)
        for point in planned
        if point.refusal is not None
    ]
    complete = refused + [
        _point(point, done[point.area], done[point.run])
        for point in planned
        if point.refusal is None and point.area in done and point.run in done
    ]
    return sorted(complete, key=lambda point: point.identity)


def _point(planned: PlannedPoint, area: Measurement, run: Measurement) -> Point:
    task, choice, cores = planned.run, planned.run.choice, planned.area.cores
    columns = {**area.columns, **run.columns}
    cycles = columns.get("cycles", columns.get("predicted_cycles"))
    clock = columns.get("fmax_mhz")
    milliseconds = area_time = None
    if clock is not None and cycles is not None:
        milliseconds = cycles / clock / 1000
        area_time = columns["lut"] * milliseconds / max(cores, 1)
    elif "gate_area" in columns and cycles is not None:
        area_time = columns["gate_area"] * columns["gate_delay"] * cycles
    reasons = list(dict.fromkeys(one.reason for one in (area, run) if one.reason is not None))
    target = Target.GENERIC if planned.area.target == "unit-gate" else Target(planned.area.target)
    return Point(
        family=task.family,
        paper=choice.family.paper,
        parameters=dict(choice.values),
        bits=task.bits,
        operation=task.operation,
        exponents=task.exponents,
        seed=task.operand_seed,
        target=planned.area.target,
        part=planned.area.part,
        cores=cores,
        link_registers=planned.area.link_registers,
        stamped=planned.area.stamped,
        bus=planned.area.bus,
        milliseconds=milliseconds,
        area_time=area_time,
        status="failed" if reasons else "ok",
        reason="; ".join(reasons) or None,
        tools={**area.tools, **run.tools},
        command=f"{build_command(planned.area.built, target, Bus(planned.area.bus), ())} -o DIR",
        key="-".join(one.key for one in (area, run) if one.key),
        **columns,
    )


# --- The cluster --------------------------------------------------------------------------------


def _measurements(
    tasks: Sequence[Task], client: Client | None
) -> Iterator[tuple[Task, Measurement]]:
    """Measure on a cluster; yield each measurement as it arrives. No tasks need no client."""
    if client is None:
        return
    here = sources()
    futures = {client.submit(measure, task, here, pure=False): task for task in tasks}
    for task, future in ended(client, futures):
        error = future.exception()
        if error is None:
            yield task, future.result()
            continue
        reason = f"its worker failed: {error}"
        if isinstance(error, KilledWorker):
            reason = "its worker was killed each time that it was tried (out of memory?)"
        yield task, Measurement({}, {}, "", reason)
