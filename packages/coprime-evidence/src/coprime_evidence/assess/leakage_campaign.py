"""Traces that are recorded in blocks, by processes, and what they add up to, kept in a folder.

A block is a fixed span of numbers of traces, so that sums of more traces begin with those of
fewer. Blocks are added in the order of their numbers: a campaign that was cut off goes on with the
first block that it has not kept, and can be extended.
"""

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coprime.flow.files import replacing
from coprime.flow.tool_errors import ToolError
from coprime_evidence.sources import sources
from coprime_evidence.sweeps.workers import ended, open_client

from .many_traces import TraceWindow
from .moments import Moments
from .products import ProductMoments
from .traces import MEMORY, Acquisition, DrawnTrace, TraceRecorder

BLOCK = 500  # traces that a worker records at once
_AT_ONCE = 16  # traces with noise that are added to the moments at once
_FILE = "campaign.npz"
_INTERVAL = 20.0  # seconds after which sums are kept again
_AHEAD = 2  # blocks that are given to each worker

Samples = npt.NDArray[np.floating | np.unsignedinteger]


@dataclass(frozen=True)
class KeptTraces:
    """Traces as a probe that sees all components has them."""

    traces: Samples  # array of (traces, cycles)
    fixed: npt.NDArray[np.bool_]  # whether each one is of the fixed group
    inputs: npt.NDArray[np.uint8]  # the input of each one as bytes, the highest first

    @classmethod
    def of(cls, parts: Sequence["KeptTraces"]) -> "KeptTraces":
        """All of them, one after the other; at least one."""
        names = ("traces", "fixed", "inputs")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass
class LeakageSums:
    """The moments of both groups, the fixed one first, and the traces that are kept."""

    samples: tuple[Moments, Moments]
    products: tuple[ProductMoments, ProductMoments] | None
    kept: list[KeptTraces] = field(default_factory=list)
    seconds: float = 0.0  # of recording, in all

    @classmethod
    def of(cls, recorder: TraceRecorder) -> "LeakageSums":
        """Of no trace."""
        acquisition, (first, end) = recorder.acquisition, recorder.cycles
        reference = recorder.reference[first:end].ravel()
        samples = (
            Moments(reference, powers=acquisition.powers),
            Moments(reference, powers=acquisition.powers),
        )
        if acquisition.products is None:
            return cls(samples, None)
        windows = (
            recorder.reference[window.first : window.end, window.column]
            for window in _pair(recorder)
        )
        before, after = windows
        return cls(samples, (ProductMoments((before, after)), ProductMoments((before, after))))

    @property
    def traces(self) -> int:
        """How many there are."""
        return sum(moments.count for moments in self.samples)

    def arrays(self) -> dict[str, Any]:
        """The numbers, without the traces that are kept, and without samples that never vary."""
        varying = np.flatnonzero(
            np.logical_or(*((moments.sums != 0).any(axis=0) for moments in self.samples))
        )
        found: dict[str, Any] = {"varying": varying, "seconds": self.seconds}
        for name, moments in zip(("fixed", "other"), self.samples, strict=True):
            found |= {f"{name}_count": moments.count, f"{name}_sums": moments.sums[:, varying]}
        for name, pairs in zip(("fixed", "other"), self.products or (), strict=False):
            found |= {f"{name}_{k}": sums for k, sums in enumerate(pairs.singles)}
            found[f"{name}_products"] = pairs.products
        return found

    def add(self, arrays: dict[str, Any]) -> None:
        """Add what `arrays` of another one has given."""
        self.seconds += float(arrays["seconds"])
        for name, moments in zip(("fixed", "other"), self.samples, strict=True):
            moments.count += int(arrays[f"{name}_count"])
            moments.sums[:, arrays["varying"]] += arrays[f"{name}_sums"]
        for name, pairs in zip(("fixed", "other"), self.products or (), strict=False):
            pairs.count += int(arrays[f"{name}_count"])
            for k, sums in enumerate(pairs.singles):
                sums += arrays[f"{name}_{k}"]
            pairs.products += arrays[f"{name}_products"]


def record_traces(
    acquisition: Acquisition,
    traces: int,
    *,
    keep: int = 0,
    workers: int | None = None,
    scheduler: str | None = None,
    folder: Path | None = None,
    progress: Callable[[int], None] = lambda traces: None,
) -> tuple[TraceRecorder, LeakageSums]:
    """Record traces 0 to `traces` - 1, and give what they add up to, and the recorder.

    Parameters
    ----------
    acquisition : whose traces
    keep : how many, the first ones, are kept
    workers : processes on this machine, 1 or more; None is as many as it has cores
    scheduler : address of a Dask scheduler to use instead
    folder : where the campaign is kept, and goes on if it is there already
    progress : called with the number of traces recorded since its last call

    Raises ValueError if the folder has a campaign of other settings or more traces, OSError if it
    cannot be written or there is no such scheduler, ConnectionError if the workers are gone; and as
    TraceRecorder.
    """
    recorder = _recorder(acquisition)  # builds the simulators before several processes want them
    length = recorder.cycles[1] - recorder.cycles[0]
    if keep * length * 2 > MEMORY:
        raise ValueError(
            f"{keep:,} traces of {length:,} cycles do not fit in {MEMORY >> 30} GiB of memory:"
            " choose fewer to --keep, or part of the --cycles"
        )
    sums = LeakageSums.of(recorder)
    kept = None if folder is None else _Folder(folder, _settings(acquisition, keep))
    if kept is not None:
        kept.recall(sums, traces)
        progress(sums.traces)
    begun = saved = time.perf_counter()
    before = sums.seconds
    first = sums.traces
    blocks = [
        (k, min(BLOCK, traces - k), min(BLOCK, max(0, keep - k)))
        for k in range(first, traces, BLOCK)
    ]
    for (number, count, _), block in zip(
        blocks, _recorded(acquisition, blocks, workers, scheduler), strict=True
    ):
        complete = count == BLOCK
        if kept is not None and not complete:
            kept.save(sums)  # a later campaign records the whole block
        sums.add(block.arrays)
        sums.seconds = before + time.perf_counter() - begun
        if block.kept is not None:
            sums.kept.append(block.kept)
            if kept is not None and complete:
                kept.keep(number, block.kept)
        if kept is not None and complete and time.perf_counter() - saved > _INTERVAL:
            kept.save(sums)
            saved = time.perf_counter()
        progress(count)
    if kept is not None and sums.traces % BLOCK == 0:
        kept.save(sums)
    return recorder, sums


# --- What a worker does -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    """What a block adds, and the traces to keep."""

    arrays: dict[str, Any]
    kept: KeptTraces | None


@lru_cache(maxsize=1)  # workers get many blocks of one acquisition
def _recorder(acquisition: Acquisition) -> TraceRecorder:
    return TraceRecorder(acquisition)


def _record(acquisition: Acquisition, first: int, count: int, keep: int, code: str) -> _Block:
    """Record traces from number `first` on, of which `keep` are kept.

    ToolError unless `code`, the caller's sources, are this process's.
    """
    if sources() != code:
        raise ToolError("a worker has another version of Coprime: its traces may differ")
    recorder = _recorder(acquisition)
    sums = LeakageSums.of(recorder)
    with_noise = _record_with_noise if acquisition.noise else _record_many
    fixed, windows, inputs = with_noise(recorder, sums, range(first, first + count), keep)
    if sums.products is not None:
        *windows, before, after = windows
        for group, moments in zip((fixed, ~fixed), sums.products, strict=True):
            moments.add(before[group], after[group])
    kept = KeptTraces(windows[0][:keep], fixed[:keep], inputs[:keep]) if keep else None
    return _Block(sums.arrays(), kept)


_Recorded = tuple[npt.NDArray[np.bool_], list[Samples], npt.NDArray[np.uint8]]
"""Which traces are fixed, the parts of them that are wanted, and the inputs."""


def _pair(recorder: TraceRecorder) -> list[TraceWindow]:
    """The two windows whose products are tested."""
    products = recorder.acquisition.products
    if products is None:
        return []
    column = recorder.device.components.index(products.component)
    return [TraceWindow(column, *cycles) for cycles in (products.first, products.second)]


def _windows(recorder: TraceRecorder, keep: int) -> list[TraceWindow]:
    total = len(recorder.device.components) - 1
    return [*([TraceWindow(total, *recorder.cycles)] if keep else []), *_pair(recorder)]


def _record_many(
    recorder: TraceRecorder, sums: LeakageSums, numbers: range, keep: int
) -> _Recorded:
    drawn = [recorder.start(number) for number in numbers]
    fixed = np.array([trace.fixed for trace, _ in drawn])
    parts = recorder.many.record(
        [start for _, start in drawn],
        fixed,
        (sums.samples[0].sums, sums.samples[1].sums),
        recorder.cycles,
        _windows(recorder, keep),
    )
    for group, moments in zip((fixed, ~fixed), sums.samples, strict=True):
        moments.count += int(group.sum())
    return fixed, [*parts], _bytes([trace for trace, _ in drawn], recorder)


def _record_with_noise(
    recorder: TraceRecorder, sums: LeakageSums, numbers: range, keep: int
) -> _Recorded:
    """One after the other: every sample gets a noise of its own."""
    acquisition = recorder.acquisition
    first, end = recorder.cycles
    noise = np.random.default_rng([acquisition.source.seed, numbers.start])
    windows = _windows(recorder, keep)
    parts: list[list[Samples]] = [[] for _ in windows]
    waiting: tuple[list[Samples], list[Samples]] = ([], [])
    traces: list[DrawnTrace] = []
    for number in numbers:
        drawn, trace = recorder.trace(number)
        seen = trace + noise.normal(0, acquisition.noise, trace.shape)
        traces.append(drawn)
        for part, window in zip(parts, windows, strict=True):
            part.append(seen[window.first : window.end, window.column].copy())
        of_group, moments = waiting[not drawn.fixed], sums.samples[not drawn.fixed]
        of_group.append(seen[first:end].ravel())
        if len(of_group) == _AT_ONCE:
            moments.add(np.stack(of_group))
            of_group.clear()
    for of_group, moments in zip(waiting, sums.samples, strict=True):
        if of_group:
            moments.add(np.stack(of_group))
    fixed = np.array([recorded.fixed for recorded in traces])
    return fixed, [np.stack(part) for part in parts], _bytes(traces, recorder)


def _bytes(traces: Sequence[DrawnTrace], recorder: TraceRecorder) -> npt.NDArray[np.uint8]:
    found = [recorder.acquisition.source.input_bytes(trace.values) for trace in traces]
    return np.frombuffer(b"".join(found), np.uint8).reshape(len(found), -1)


def _recorded(
    acquisition: Acquisition,
    blocks: Sequence[tuple[int, int, int]],
    workers: int | None,
    scheduler: str | None,
) -> Iterator[_Block]:
    """The blocks, in their order; in this process if there is one only."""
    code = sources()
    if scheduler is None and (len(blocks) <= 1 or workers == 1):
        yield from (_record(acquisition, *block, code) for block in blocks)
        return
    with ExitStack() as stack:
        client = stack.enter_context(open_client(workers, scheduler))
        most = _AHEAD * max(1, sum(client.nthreads().values()))
        waiting = deque(blocks)
        given: deque[Any] = deque()
        while waiting or given:
            while waiting and len(given) < most:
                block = waiting.popleft()
                given.append(client.submit(_record, acquisition, *block, code, pure=False))
            _, future = next(ended(client, {given.popleft(): None}))
            yield future.result()


# --- The folder ---------------------------------------------------------------------------------


def _settings(acquisition: Acquisition, keep: int) -> str:
    """All that traces follow from."""
    own = {
        **acquisition.source.settings,
        "model": acquisition.model.value,
        "noise": acquisition.noise,
        "cycles": acquisition.cycles,
        "powers": acquisition.powers,
        "products": None if acquisition.products is None else str(acquisition.products),
        "keep": keep,
        "verilog": hashlib.sha256(acquisition.source.verilog().encode()).hexdigest(),
    }
    return json.dumps(own)


class _Folder:
    """A folder with a campaign: sums of whole blocks, and the traces that are kept."""

    def __init__(self, folder: Path, settings: str):
        self._folder, self._settings = folder, settings

    def recall(self, sums: LeakageSums, most: int) -> None:
        """Add what is there. ValueError if it is of other settings, or of more traces."""
        try:
            with np.load(self._folder / _FILE) as found:
                arrays = {name: found[name] for name in found.files}
        except FileNotFoundError:
            return
        own, there = json.loads(self._settings), json.loads(str(arrays["settings"]))
        others = [name for name in own if own[name] != there.get(name)]
        if others:
            raise ValueError(
                f"{self._folder} has a campaign with another {', another '.join(others)}: choose"
                " another folder for -o"
            )
        traces = int(arrays["fixed_count"] + arrays["other_count"])
        if traces > most:
            raise ValueError(
                f"{self._folder} has a campaign of {traces:,} traces already: choose as many or"
                " more --traces, or another folder for -o"
            )
        sums.add(arrays)
        for number in range(0, min(traces, own["keep"]), BLOCK):
            with np.load(self._kept(number)) as found:
                sums.kept.append(KeptTraces(found["traces"], found["fixed"], found["inputs"]))

    def save(self, sums: LeakageSums) -> None:
        """Replace the sums that are there."""
        self._write(self._folder / _FILE, {"settings": self._settings, **sums.arrays()})

    def keep(self, number: int, kept: KeptTraces) -> None:
        """Write the traces of a block that are kept."""
        self._write(self._kept(number), {**kept.__dict__})

    def _kept(self, number: int) -> Path:
        return self._folder / "kept" / f"{number:08}.npz"

    def _write(self, path: Path, arrays: dict[str, Any]) -> None:
        with replacing(path) as fresh, fresh.open("wb") as file:
            np.savez(file, **arrays)
