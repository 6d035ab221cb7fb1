"""Sweeps of the design space on a Dask cluster, with what was measured before kept by content."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from distributed import Client, Future
from distributed.scheduler import KilledWorker

from coprime.bus.kinds import Bus
from coprime.cells.target import Target
from coprime.explore.points import Point, read_points, write_points
from coprime.flow.parts import build_command
from coprime.flow.targets import DEVICES
from coprime_evidence.sources import sources

from .specification import AreaTask, PlannedPoint
from .worker import Measurement, Task, confirm, measure, recall, remember
from .workers import ended, open_client

Progress = Callable[[int, int, int], None]
"""Called with how many measurements are done, of how many, and how many of them failed."""


@dataclass(frozen=True)
class SweepSummary:
    """What a sweep did. A measurement is of an area or of cycles; points share them."""

    points: Sequence[Point]  # those that were asked for, as in the results file
    measured: int  # measurements that were done now, failed ones included
    kept: int  # measurements that were there already

    @property
    def failed(self) -> Sequence[Point]:
        """The points that failed."""
        return [point for point in self.points if point.status == "failed"]


@dataclass(frozen=True)
class Work:
    """What a sweep is about to measure, before it does."""

    known: int  # measurements that are there already
    mapped: int  # areas, estimates in unit gates among them
    routed: int  # areas with a clock
    runs: int  # operations
    seconds: float
    """Processor time if the tools' cache has nothing of it, roughly; divide it by the workers."""

    @property
    def text(self) -> str:
        """All of it in words."""
        known = f"{self.known} measurements are known; to do: "
        if not self.mapped + self.routed + self.runs:
            return known + "nothing"
        return (
            f"{known}{self.mapped} mapped or estimated, {self.routed} placed and routed,"
            f" {self.runs} runs; about {self.seconds / 60:,.0f} minutes of processor time if the"
            " cache has none of them"
        )


def sweep(
    planned: Sequence[PlannedPoint],
    results: Path,
    *,
    name: str = "",
    update: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    announce: Callable[[Work], None] = lambda work: None,
    progress: Progress = lambda done, tasks, failed: None,
) -> SweepSummary:
    """Measure points and write them to a file.

    Each measurement is kept, here and not on the workers, as soon as it is there: an interrupted
    sweep goes on where it stopped. The file is written with the points that are complete, as soon
    as the workers are there, and again in the end, whatever happens. A point that fails is one of
    them, with its reason.

    With `update` the file's rows stay that are of other specifications, and those that are asked
    for until they are measured again, which they are only if their design, its settings or the
    tools have changed. Rows of this specification that it no longer asks for go.

    Parameters
    ----------
    planned : the points
    results : Parquet or CSV file; replaced if it exists
    name : of the specification, if it comes with Coprime: the points have it
    update : whether to start from the file's rows
    workers : processes on this machine, 1 or more; None is as many as it has cores
    scheduler : address of a Dask scheduler to use instead
    announce : called once, with what is to be measured
    progress : called after each measurement

    Raises ValueError for a number of workers under 1 or another kind of file, OSError if the file
    cannot be written or the scheduler cannot be reached. With `update`, as `read_points`.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be 1 or more, not {workers}")
    if workers is not None and scheduler is not None:
        raise ValueError("a sweep takes workers or a scheduler, not both")
    earlier = read_points(results) if update and results.exists() else []
    possible = [point for point in planned if point.refusal is None]
    tasks = list(dict.fromkeys(task for point in possible for task in (point.area, point.run)))
    done = {task: found for task in tasks if (found := recall(task)) is not None}
    # The largest first, so that no long one is left over for the end.
    missing = sorted((task for task in tasks if task not in done), key=_size, reverse=True)
    before = _rows_of(missing, possible, earlier)

    def write() -> list[Point]:
        fresh = _points(planned, done, name)
        write_points(_merged(fresh, planned, earlier, name), results)
        return fresh

    # The file is replaced only once the workers are there.
    with open_client(workers, scheduler) if missing else nullcontext() as client:
        write()
        try:
            for task, confirmed in _confirmed(before, client):
                if confirmed is not None:
                    remember(task, confirmed)
                    done[task] = confirmed
            kept = len(done)
            missing = [task for task in missing if task not in done]
            announce(_work(kept, missing))
            progress(kept, len(tasks), 0)
            failed = 0
            for task, measurement in _measurements(missing, client):
                remember(task, measurement)
                done[task] = measurement
                failed += measurement.reason is not None
                progress(len(done), len(tasks), failed)
        finally:
            points = write()
    return SweepSummary(points, len(done) - kept, kept)


def _size(task: Task) -> int:
    return max((value for _, value in task.parameters if isinstance(value, int)), default=0)


def _work(known: int, missing: Sequence[Task]) -> Work:
    areas = [task for task in missing if isinstance(task, AreaTask)]
    routed = sum(bool(task.route_seeds) for task in areas)
    runs = len(missing) - len(areas)
    seconds = sum(map(_seconds, missing))
    return Work(known, len(areas) - routed, routed, runs, seconds)


def _seconds(task: Task) -> float:
    """Roughly what a measurement takes, by its kind and the design's largest parameter."""
    size = _size(task)
    if not isinstance(task, AreaTask):
        return 20 + size / 20
    mapping = 5 + size / 50
    return mapping + len(task.route_seeds) * (20 + size / 5)


# --- Points -------------------------------------------------------------------------------------


def request_of(planned: PlannedPoint) -> tuple[object, ...]:
    """`Point.request` of the point that will be measured."""
    area, run = planned.area, planned.run
    chain = (area.cores, area.link_registers, area.node, area.stamped, area.bus)
    work = (run.operation, run.parameter_set, run.exponents, run.bits, run.operand_seed)
    parameters, routed = tuple(sorted(area.parameters)), bool(area.route_seeds)
    device = DEVICES[area.device].title if routed else ""
    placements = 0 if area.stamped else len(area.route_seeds)
    return (area.family, area.target, area.part, *chain, *work, parameters, device, placements)


_PLACED = -2
"""Where in a request its placement begins: what does not fit its device has none."""


def _rows_of(
    tasks: Sequence[Task], planned: Sequence[PlannedPoint], earlier: Sequence[Point]
) -> dict[Task, Point]:
    """For each of the tasks an earlier point that has its measurement, if there is one."""
    known = {point.request: point for point in earlier if point.status == "ok"}
    found: dict[Task, Point] = {}
    for planned_point in planned:
        if row := known.get(request_of(planned_point)):
            found |= {planned_point.area: row, planned_point.run: row}
    return {task: found[task] for task in tasks if task in found}


def _merged(
    fresh: Sequence[Point],
    planned: Sequence[PlannedPoint],
    earlier: Sequence[Point],
    name: str,
) -> list[Point]:
    """The fresh points, and of the earlier ones those that no fresh one replaces, sorted.

    A point has the names of all specifications that ask for it.
    """
    asked = {request_of(planned_point) for planned_point in planned}
    tried_again = {request[:_PLACED] for request in asked}
    rows = {point.request: point for point in fresh}
    others: list[Point] = []
    for point in earlier:
        names = point.specifications.split()
        if point.request in rows:
            own = rows[point.request]
            both = sorted({*names, *own.specifications.split()})
            rows[point.request] = replace(own, specifications=" ".join(both))
        elif point.status != "ok" and point.request[:_PLACED] in tried_again:
            pass
        elif name in names and point.request not in asked:
            if rest := [other for other in names if other != name]:
                others.append(replace(point, specifications=" ".join(rest)))
        else:
            others.append(point)
    return sorted((*rows.values(), *others), key=lambda point: point.identity)


def _points(
    planned: Sequence[PlannedPoint], done: Mapping[Task, Measurement], name: str
) -> list[Point]:
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
    return sorted(
        (replace(point, specifications=name) for point in complete),
        key=lambda point: point.identity,
    )


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
    reasons = list(
        dict.fromkeys(
            measurement.reason for measurement in (area, run) if measurement.reason is not None
        )
    )
    target = Target.GENERIC if planned.area.target == "unit-gate" else Target(planned.area.target)
    return Point(
        family=task.family,
        paper=choice.family.paper,
        parameters=dict(choice.values),
        bits=task.bits,
        parameter_set=task.parameter_set,
        operation=task.operation,
        exponents=task.exponents,
        seed=task.operand_seed,
        target=planned.area.target,
        part=planned.area.part,
        cores=cores,
        link_registers=planned.area.link_registers,
        node=planned.area.node,
        stamped=planned.area.stamped,
        bus=planned.area.bus,
        milliseconds=milliseconds,
        area_time=area_time,
        status="failed" if reasons else "ok",
        reason="; ".join(reasons) or None,
        tools={**area.tools, **run.tools},
        command=f"{build_command(planned.area.built, target, Bus(planned.area.bus), ())} -o DIR",
        key="-".join(measurement.key for measurement in (area, run) if measurement.key),
        **columns,
    )


# --- The cluster --------------------------------------------------------------------------------


def _confirmed(
    before: Mapping[Task, Point], client: Client | None
) -> Iterator[tuple[Task, Measurement | None]]:
    """Confirm earlier measurements on a cluster; yield each, or None, as it arrives."""
    if client is None:
        return
    here = sources()
    futures = {
        client.submit(confirm, task, point, here, pure=False): task
        for task, point in before.items()
    }
    for task, future in ended(client, futures):
        yield task, future.result() if future.exception() is None else None


def _measurements(
    tasks: Sequence[Task], client: Client | None
) -> Iterator[tuple[Task, Measurement]]:
    """Measure on a cluster; yield each measurement as it arrives. No tasks need no client."""
    if client is None:
        return
    here = sources()
    futures = {client.submit(measure, task, here, pure=False): task for task in tasks}
    for task, future in ended(client, futures):
        yield task, _result(future)


def _result(future: Future) -> Measurement:
    error = future.exception()
    if error is None:
        found: Measurement = future.result()
        return found
    reason = f"its worker failed: {error}"
    if isinstance(error, KilledWorker):
        reason = "its worker was killed each time that it was tried (out of memory?)"
    return Measurement({}, {}, "", reason)
