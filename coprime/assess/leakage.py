"""Which components of an accelerator leak, and in which steps: t-tests of its simulated power."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from coprime.explore.workers import open_client

from .moments import MOST, THRESHOLD, Array, Moments, corrected_threshold, t_values
from .places import Place, Places
from .traces import Acquisition, TraceRecorder

_LEAST = 20  # traces of a campaign: some in each group
_BLOCK = 500  # traces that a worker records at once
_AT_ONCE = 16  # traces that are added to the moments at once


@dataclass(frozen=True)
class KeptTraces:
    """Traces as a probe that sees all components has them."""

    traces: npt.NDArray[np.floating | np.unsignedinteger]  # array of (traces, cycles)
    fixed: npt.NDArray[np.bool_]  # whether each one is of the fixed group
    inputs: npt.NDArray[np.uint8]  # the input of each one as bytes, the highest first


@dataclass(frozen=True)
class Finding:
    """A component whose t passes THRESHOLD in some cycle of a step."""

    component: str  # by its name in the trace
    place: Place  # the step
    order: int  # of the test
    t: float  # the largest |t|
    cycle: int  # of the trace, where it is
    above: int  # how many samples of the component and the step pass the corrected threshold

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        own = {**self.__dict__, **self.place.__dict__, "above_corrected": self.above}
        names = "component step address modulus order t cycle above_corrected".split()
        return {name: own[name] for name in names}


@dataclass(frozen=True)
class Profile:
    """The t-values of one order."""

    order: int  # 1 or 2
    t: Array  # array of (cycles, columns)
    samples: int  # how many of them are not the same in all traces
    findings: Sequence[Finding]  # the largest first

    @property
    def threshold(self) -> float:
        """The corrected one, for as many samples as vary."""
        return corrected_threshold(max(1, self.samples))

    @property
    def largest(self) -> float:
        """The largest |t|."""
        return float(np.abs(self.t).max())

    def above(self, threshold: float) -> int:
        """How many samples pass a threshold."""
        return int((np.abs(self.t) > threshold).sum())

    def record(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "order": self.order,
            "samples": self.samples,
            "threshold": THRESHOLD,
            "corrected_threshold": self.threshold,
            "largest": self.largest,
            "above": self.above(THRESHOLD),
            "above_corrected": self.above(self.threshold),
            "findings": [one.record() for one in self.findings],
        }

    def lines(self, most: int) -> Iterator[str]:
        """As text, with the `most` largest findings."""
        yield (
            f"order {self.order}: the largest |t| is {_shown(self.largest)};"
            f" {self.above(THRESHOLD):,} of {self.samples:,} samples that vary pass {THRESHOLD},"
            f" {self.above(self.threshold):,} the threshold for so many, {self.threshold:.2f}"
        )
        if not self.findings:
            return
        width = max(len(one.component) for one in self.findings[:most])
        yield f"{'|t|':>8}  {'cycle':>7}  {'samples':>7}  {'component':<{width}}  step"
        for one in self.findings[:most]:
            yield (
                f"{_shown(one.t):>8}  {one.cycle:7,}  {one.above:7,}  {one.component:<{width}}"
                f"  {one.place}"
            )
        if len(self.findings) > most:
            yield f"and {len(self.findings) - most:,} more components and steps"


def _shown(t: float) -> str:
    return f"{t:,.1f}" if t < MOST else "no end"


@dataclass(frozen=True)
class Leakage:
    """The outcome of a acquisition.

    Parameters
    ----------
    acquisition, traces : what was asked for
    fixed : traces of the fixed group
    components : the columns
    cycles : of a trace
    profiles : of each order
    kept : the first traces
    seconds : that it took
    """

    acquisition: Acquisition
    traces: int
    fixed: int
    components: Sequence[str]
    cycles: int
    profiles: Sequence[Profile]
    kept: KeptTraces
    seconds: float

    def record(self) -> dict[str, object]:
        """As JSON has it."""
        own, subject = self.acquisition, self.acquisition.subject
        return {
            "family": subject.engine.family.name,
            "parameters": dict(subject.engine.values),
            "operation": subject.command.name,
            "bits": subject.bits,
            "test": own.test.value,
            "model": own.model.value,
            "noise": own.noise,
            "seed": subject.seed,
            "traces": self.traces,
            "fixed": self.fixed,
            "cycles": self.cycles,
            "components": list(self.components),
            "seconds": self.seconds,
            "traces_per_second": self.traces / self.seconds,
            "orders": [profile.record() for profile in self.profiles],
        }

    def table(self, most: int) -> str:
        """What was done and, of each order, the `most` largest findings, as text."""
        lines = [
            f"{self.traces:,} traces of {self.cycles:,} cycles, {self.fixed:,} of them with a fixed"
            f" {self.acquisition.test.value}; {self.traces / self.seconds:,.0f} traces a second"
        ]
        for profile in self.profiles:
            lines += ["", *profile.lines(most)]
        return "\n".join(lines)


def find_leaks(
    fixed: Moments, other: Moments, order: int, components: Sequence[str], places: Places
) -> Profile:
    """Test all samples, and rank components and steps by the largest |t|.

    ValueError for a group of fewer than two traces.
    """
    t = t_values(fixed, other, order).reshape(-1, len(components))
    vary = (fixed.sums[1] > 0) | (other.sums[1] > 0) | (fixed.sums[0] != other.sums[0])
    profile = Profile(order, t, int(vary.sum()), [])
    findings = []
    for component, column in zip(components, np.abs(t).T, strict=True):
        cycles_of: dict[Place, list[int]] = {}
        of_component = places.of(component)
        for cycle in np.flatnonzero(column > THRESHOLD).tolist():
            cycles_of.setdefault(of_component[cycle], []).append(cycle)
        for place, cycles in cycles_of.items():
            values = column[cycles]
            peak = int(values.argmax())
            above = int((values > profile.threshold).sum())
            findings.append(
                Finding(component, place, order, float(values[peak]), cycles[peak], above)
            )
    findings.sort(key=lambda one: (-one.t, one.component, one.cycle))
    return Profile(order, t, profile.samples, findings)


def run_leakage(
    acquisition: Acquisition,
    traces: int,
    *,
    orders: Sequence[int] = (1, 2),
    keep: int = 0,
    workers: int | None = None,
    progress: Callable[[int], None] = lambda traces: None,
) -> Leakage:
    """Record traces on this machine's cores, and test them.

    Parameters
    ----------
    acquisition : whose traces
    traces : how many; at least 20
    orders : of the tests
    keep : how many traces, the first ones, are in the outcome
    workers : processes; None is as many as there are cores
    progress : called with the number of traces recorded since its last call

    Raises ValueError as `Acquisition.check` and for fewer traces, and as TraceRecorder.
    """
    if traces < _LEAST:
        raise ValueError(f"--traces must be {_LEAST} or more, not {traces}")
    acquisition.check()
    started = time.perf_counter()
    recorder = _recorder(acquisition)  # builds the simulator before several processes want it
    fixed, other = (Moments(recorder.reference.ravel()) for _ in range(2))
    kept: list[_Trace] = []
    blocks = [(first, min(_BLOCK, traces - first)) for first in range(0, traces, _BLOCK)]
    for block in _recorded(acquisition, blocks, keep, workers):
        fixed.merge(block.fixed)
        other.merge(block.other)
        kept += block.kept
        progress(block.fixed.count + block.other.count)
    components = recorder.device.components
    return Leakage(
        acquisition=acquisition,
        traces=traces,
        fixed=fixed.count,
        components=components,
        cycles=len(recorder.reference),
        profiles=[find_leaks(fixed, other, order, components, recorder.places) for order in orders],
        kept=_kept(kept, acquisition.subject.bits),
        seconds=time.perf_counter() - started,
    )


# --- Recording ----------------------------------------------------------------------------------

_Trace = tuple[bool, int, npt.NDArray[np.floating | np.unsignedinteger]]


@dataclass(frozen=True)
class _Block:
    """Moments of both groups, and the traces to keep: whether fixed, the input, the sum."""

    fixed: Moments
    other: Moments
    kept: Sequence[_Trace]


@lru_cache(maxsize=1)  # workers get many blocks of one acquisition
def _recorder(acquisition: Acquisition) -> TraceRecorder:
    return TraceRecorder(acquisition)


def _record(acquisition: Acquisition, first: int, count: int, keep: int) -> _Block:
    """Record traces from number `first` on; those below `keep` are kept."""
    recorder = _recorder(acquisition)
    reference = recorder.reference.ravel()
    groups = {is_fixed: Moments(reference) for is_fixed in (True, False)}
    kept: list[_Trace] = []
    waiting: Mapping[bool, list[npt.NDArray[np.floating | np.unsignedinteger]]]
    waiting = {True: [], False: []}
    noise = np.random.default_rng([acquisition.subject.seed, first])
    for number in range(first, first + count):
        is_fixed, operands, trace = recorder.trace(number)
        seen = (
            trace + noise.normal(0, acquisition.noise, trace.shape) if acquisition.noise else trace
        )
        if number < keep:
            kept.append((is_fixed, operands.x, seen[:, -1].copy()))
        waiting[is_fixed].append(seen.ravel())
        if len(waiting[is_fixed]) == _AT_ONCE:
            groups[is_fixed].add(np.stack(waiting[is_fixed]))
            waiting[is_fixed].clear()
    for is_fixed, rest in waiting.items():
        if rest:
            groups[is_fixed].add(np.stack(rest))
    return _Block(groups[True], groups[False], kept)


def _recorded(
    acquisition: Acquisition, blocks: Sequence[tuple[int, int]], keep: int, workers: int | None
) -> Iterator[_Block]:
    """The blocks, in their order; in this process if there is one only."""
    if len(blocks) == 1 or workers == 1:
        yield from (_record(acquisition, *block, keep) for block in blocks)
        return
    with open_client(workers) as client:
        futures = [
            client.submit(_record, acquisition, *block, keep, pure=False) for block in blocks
        ]
        for future in futures:
            yield future.result()
            future.release()


def _kept(traces: Sequence[_Trace], bits: int) -> KeptTraces:
    size = (bits + 7) // 8
    inputs = b"".join(x.to_bytes(size, "big") for _, x, _ in traces)
    return KeptTraces(
        np.stack([trace for _, _, trace in traces]) if traces else np.zeros((0, 0)),
        np.array([is_fixed for is_fixed, _, _ in traces], bool),
        np.frombuffer(inputs, np.uint8).reshape(-1, size),
    )
