"""Which components of an accelerator leak, and in which steps: t-tests of its simulated power."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .leakage_campaign import KeptTraces, LeakageSums, record_traces
from .moments import MOST, THRESHOLD, Array, Moments, corrected_threshold, t_values
from .places import Place, Places
from .products import product_t_values
from .traces import Acquisition, ProductWindows, TraceRecorder

_LEAST = 20  # traces of a campaign: some in each group


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
            "findings": [finding.record() for finding in self.findings],
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
        width = max(len(finding.component) for finding in self.findings[:most])
        yield f"{'|t|':>8}  {'cycle':>7}  {'samples':>7}  {'component':<{width}}  step"
        for finding in self.findings[:most]:
            yield (
                f"{_shown(finding.t):>8}  {finding.cycle:7,}  {finding.above:7,}"
                f"  {finding.component:<{width}}  {finding.place}"
            )
        if len(self.findings) > most:
            yield f"and {len(self.findings) - most:,} more components and steps"


@dataclass(frozen=True)
class ProductFinding:
    """Two steps with a pair of cycles whose product passes THRESHOLD."""

    places: tuple[Place, Place]
    t: float  # the largest |t|
    cycles: tuple[int, int]  # where it is
    above: int  # how many pairs of these steps pass the corrected threshold

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return {
            "steps": [str(place) for place in self.places],
            "addresses": [place.address for place in self.places],
            "t": self.t,
            "cycles": list(self.cycles),
            "above_corrected": self.above,
        }


@dataclass(frozen=True)
class ProductProfile:
    """The t-values of the centred products of a component's samples in two windows."""

    windows: ProductWindows
    t: Array  # array of (cycles of the first window, cycles of the second one)
    pairs: int  # how many of them have two samples that vary
    findings: Sequence[ProductFinding]  # the largest first

    @property
    def threshold(self) -> float:
        """The corrected one, for as many pairs as vary."""
        return corrected_threshold(max(1, self.pairs))

    def record(self) -> dict[str, object]:
        """As JSON has it."""
        size = np.abs(self.t)
        return {
            "component": self.windows.component,
            "first": list(self.windows.first),
            "second": list(self.windows.second),
            "pairs": self.pairs,
            "corrected_threshold": self.threshold,
            "largest": float(size.max()),
            "above": int((size > THRESHOLD).sum()),
            "above_corrected": int((size > self.threshold).sum()),
            "findings": [finding.record() for finding in self.findings],
        }

    def lines(self, most: int) -> Iterator[str]:
        """As text, with the `most` largest findings."""
        size = np.abs(self.t)
        yield (
            f"products in {self.windows}: the largest |t| is {_shown(float(size.max()))};"
            f" {int((size > THRESHOLD).sum()):,} of {self.pairs:,} pairs that vary pass"
            f" {THRESHOLD}, {int((size > self.threshold).sum()):,} the threshold for so many,"
            f" {self.threshold:.2f}"
        )
        if self.findings:
            yield f"{'|t|':>8}  {'cycles':>15}  {'pairs':>7}  steps"
        for finding in self.findings[:most]:
            cycles = " * ".join(f"{cycle:,}" for cycle in finding.cycles)
            steps = "; ".join(map(str, finding.places))
            yield f"{_shown(finding.t):>8}  {cycles:>15}  {finding.above:7,}  {steps}"
        if len(self.findings) > most:
            yield f"and {len(self.findings) - most:,} more pairs of steps"


def _shown(t: float) -> str:
    return f"{t:,.1f}" if t < MOST else "no end"


@dataclass(frozen=True)
class Leakage:
    """The outcome of an acquisition.

    Parameters
    ----------
    acquisition, traces : what was asked for
    fixed : traces of the fixed group
    components : the columns
    first_cycle : of those that were tested
    cycles : how many were tested
    profiles : of each order
    products : those of two windows, if they were asked for
    kept : the first traces, if they were asked for
    seconds : that it took
    """

    acquisition: Acquisition
    traces: int
    fixed: int
    components: Sequence[str]
    first_cycle: int
    cycles: int
    profiles: Sequence[Profile]
    products: ProductProfile | None
    kept: KeptTraces | None
    seconds: float

    def record(self) -> dict[str, object]:
        """As JSON has it."""
        acquisition = self.acquisition
        return {
            **acquisition.source.settings,
            "model": acquisition.model.value,
            "noise": acquisition.noise,
            "traces": self.traces,
            "fixed": self.fixed,
            "first_cycle": self.first_cycle,
            "cycles": self.cycles,
            "components": list(self.components),
            "seconds": self.seconds,
            "traces_per_second": self.traces / self.seconds,
            "orders": [profile.record() for profile in self.profiles],
            **({} if self.products is None else {"products": self.products.record()}),
        }

    def table(self, most: int) -> str:
        """What was done and, of each order, the `most` largest findings, as text."""
        lines = [
            f"{self.traces:,} traces of {self.cycles:,} cycles, {self.fixed:,} of them with a fixed"
            f" {self.acquisition.source.settings['test']}; {self.traces / self.seconds:,.0f} traces"
            " a second"
        ]
        for profile in self.profiles:
            lines += ["", *profile.lines(most)]
        if self.products is not None:
            lines += ["", *self.products.lines(most)]
        return "\n".join(lines)


def find_leaks(
    fixed: Moments,
    other: Moments,
    order: int,
    components: Sequence[str],
    places: Places,
    first_cycle: int = 0,
) -> Profile:
    """Test all samples, from `first_cycle` on, and rank components and steps by the largest |t|.

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
            place = of_component[first_cycle + cycle]
            cycles_of.setdefault(place, []).append(cycle)
        for place, cycles in cycles_of.items():
            values = column[cycles]
            peak = int(values.argmax())
            above = int((values > profile.threshold).sum())
            findings.append(
                Finding(
                    component=component,
                    place=place,
                    order=order,
                    t=float(values[peak]),
                    cycle=first_cycle + cycles[peak],
                    above=above,
                )
            )
    findings.sort(key=lambda finding: (-finding.t, finding.component, finding.cycle))
    return Profile(order, t, profile.samples, findings)


def find_product_leaks(sums: LeakageSums, recorder: TraceRecorder) -> ProductProfile:
    """Test the products of all pairs of cycles, and rank pairs of steps by the largest |t|."""
    products = recorder.acquisition.products
    assert products is not None and sums.products is not None
    t = product_t_values(*sums.products)
    varying = [
        np.logical_or(*((product.singles[side][1] > 0) for product in sums.products))
        for side in (0, 1)
    ]
    profile = ProductProfile(products, t, int(varying[0].sum()) * int(varying[1].sum()), [])
    of_component = recorder.places.of(products.component)
    pairs: dict[tuple[Place, Place], list[tuple[int, int]]] = {}
    for a, b in np.argwhere(np.abs(t) > THRESHOLD).tolist():
        places = of_component[products.first[0] + a], of_component[products.second[0] + b]
        pairs.setdefault(places, []).append((a, b))
    findings = []
    for places, cycles in pairs.items():
        values = np.abs(t[tuple(np.array(cycles).T)])
        a, b = cycles[int(values.argmax())]
        findings.append(
            ProductFinding(
                places=places,
                t=float(values.max()),
                cycles=(products.first[0] + a, products.second[0] + b),
                above=int((values > profile.threshold).sum()),
            )
        )
    findings.sort(key=lambda finding: (-finding.t, finding.cycles))
    return replace(profile, findings=findings)


def run_leakage(
    acquisition: Acquisition,
    traces: int,
    *,
    orders: Sequence[int] = (1, 2),
    keep: int = 0,
    workers: int | None = None,
    scheduler: str | None = None,
    folder: Path | None = None,
    progress: Callable[[int], None] = lambda traces: None,
) -> Leakage:
    """Record traces, and test them.

    Parameters
    ----------
    acquisition : whose traces; with sums for the second order, if that is tested
    traces : how many; at least 20
    orders : of the tests
    keep : how many traces, the first ones, are in the outcome
    workers, scheduler, folder, progress : as of `record_traces`

    Raises ValueError as `Acquisition.check` and for fewer traces, and as `record_traces`.
    """
    if traces < _LEAST:
        raise ValueError(f"--traces must be {_LEAST} or more, not {traces}")
    acquisition.check()
    recorder, sums = record_traces(
        acquisition,
        traces,
        keep=keep,
        workers=workers,
        scheduler=scheduler,
        folder=folder,
        progress=progress,
    )
    components, (first, end) = recorder.device.components, recorder.cycles
    fixed, other = sums.samples
    return Leakage(
        acquisition=acquisition,
        traces=traces,
        fixed=fixed.count,
        components=components,
        first_cycle=first,
        cycles=end - first,
        profiles=[
            find_leaks(fixed, other, order, components, recorder.places, first) for order in orders
        ],
        products=find_product_leaks(sums, recorder) if acquisition.products else None,
        kept=KeptTraces.of(sums.kept) if sums.kept else None,
        seconds=sums.seconds,
    )
