"""Counts of many runs with faults, and what they say of the probability of a wrong result."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow
from pyarrow import compute

from .fault_kinds import FaultKind
from .faults import Fault
from .subject import Outcome, Subject

CONFIDENCE = 0.95
_LISTED = 1000  # wrong results that a record has; the table of the runs has all


def upper_bound(wrong: int, runs: int, confidence: float = CONFIDENCE) -> float:
    """The largest probability of a wrong result that so many in so many runs do not exclude.

    It is Clopper and Pearson's one-sided bound: the probability with which as few wrong results, or
    fewer, come out with the probability 1 - `confidence`. Without a wrong one that is
    1 - (1 - confidence)^(1 / runs), about 3 / runs. 1 if all are wrong, or there are no runs.
    """
    if wrong == runs:
        return 1.0
    if not wrong:
        return -math.expm1(math.log1p(-confidence) / runs)
    low, high = wrong / runs, 1.0
    while high - low > 1e-6 * low:
        middle = (low + high) / 2
        if _as_few(wrong, runs, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _as_few(wrong: int, runs: int, probability: float) -> float:
    """The probability of `wrong` or fewer in `runs`, each with `probability` below 1."""
    odds = math.log(probability) - math.log1p(-probability)
    term = runs * math.log1p(-probability)
    total = math.exp(term)
    for count in range(wrong):
        term += math.log((runs - count) / (count + 1)) + odds
        total += math.exp(term)
    return total


@dataclass(frozen=True)
class FaultSummary:
    """What a campaign has found."""

    subject: Subject  # what was run
    runs: pyarrow.Table  # with the columns of `batches.SCHEMA`

    @property
    def title(self) -> str:
        """What was run, and how often."""
        subject, counts = self.subject, self.counts(self._counted)
        return f"{subject.title}: {counts['flips']:,} faults, {counts['wrong']:,} wrong results"

    @property
    def wrong(self) -> int:
        """Wrong results."""
        return self.counts(self._counted)["wrong"]

    def record(self) -> dict[str, object]:
        """As JSON has it."""
        subject = self.subject
        kinds = list(dict.fromkeys(kind for kind, *_ in self._counted))
        return {
            "family": subject.name,
            "parameters": dict(subject.values),
            "operation": subject.operation,
            **subject.size,
            "seed": subject.seed,
            "checked": subject.checked,
            **self.counts(self._counted),
            "upper_bound": self._bound(kinds),
            "confidence": CONFIDENCE,
            "kinds": {
                kind: {**self.counts(self._of(kind)), "upper_bound": self._bound([kind])}
                for kind in kinds
            },
            "wrong_faults": list(self.wrong_faults()),
        }

    def table(self) -> str:
        """Places and outcomes of each kind, and in the last line the bound."""
        names = ("flips", *Outcome, *self.subject.classes)
        rows: list[Sequence[object]] = [("kind", "place", *names)]
        for kind in dict.fromkeys(kind for kind, *_ in self._counted):
            of_kind = self._of(kind)
            for place in sorted({place for _, place, *_ in of_kind}):
                counts = self.counts({key: n for key, n in of_kind.items() if key[1] == place})
                rows.append((kind, place, *(f"{counts[name]:,}" for name in names)))
            counts = self.counts(of_kind)
            rows.append((kind, "all", *(f"{counts[name]:,}" for name in names)))
        widths = [max(len(str(row[k])) for row in rows) for k in range(len(rows[0]))]
        return "\n".join(
            "  ".join(
                f"{cell:<{width}}" if k < 2 else f"{cell:>{width}}"
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        )

    def bounds(self) -> Iterator[str]:
        """A sentence for each kind."""
        for kind in dict.fromkeys(kind for kind, *_ in self._counted):
            wrong, runs = self._uniform([kind])
            if runs:
                yield (
                    f"{kind}: {wrong:,} of {runs:,} faults that were drawn uniformly gave a wrong"
                    f" result; with {CONFIDENCE:.0%} confidence its probability is below"
                    f" {upper_bound(wrong, runs):.2g}"
                )

    def wrong_faults(self) -> Iterator[Mapping[str, Any]]:
        """The faults with wrong results, up to 1,000, each with the command that repeats it."""
        chosen = self.runs.filter(compute.equal(self.runs["outcome"], Outcome.WRONG.value))
        for row in chosen.slice(0, _LISTED).to_pylist():
            fields = ("cycle", "name", "word", "bit", "other", "cycles")
            fault = Fault(kind=FaultKind(row["kind"]), **{name: row[name] for name in fields})
            yield {
                "fault": str(fault),
                "step": row["step"],
                "value": row["value"],
                **{name: row[name] for name in self.subject.classes},
                "command": f"{self.subject.command_line} --at {fault}",
            }

    def counts(self, counted: Mapping[tuple[Any, ...], int]) -> dict[str, int]:
        """Of each outcome, and of each class of wrong results."""
        classes = self.subject.classes
        found = Counter[str]()
        for (_, _, outcome, *properties, _), count in counted.items():
            found[outcome] += count
            for name, holds in zip(classes, properties, strict=True):
                found[name] += count * holds
        return {
            "flips": sum(counted.values()),
            **{label: found[label] for label in (*map(str, Outcome), *classes)},
        }

    def _of(self, kind: str) -> dict[tuple[Any, ...], int]:
        return {key: count for key, count in self._counted.items() if key[0] == kind}

    @cached_property
    def _counted(self) -> Mapping[tuple[Any, ...], int]:
        """Runs of each kind, place, outcome, ... in the order of the runs."""
        columns = ["kind", "place", "outcome", *self.subject.classes]
        uniform = compute.equal(compute.bit_wise_and(self.runs["number"], 1), 0)
        table = self.runs.select(columns).append_column("uniform", uniform)
        keys = [*columns, "uniform"]
        groups = table.group_by(keys, use_threads=False).aggregate([([], "count_all")])
        return {tuple(row[key] for key in keys): row["count_all"] for row in groups.to_pylist()}

    def _uniform(self, kinds: Sequence[str]) -> tuple[int, int]:
        """Wrong results, and all runs, of faults that were drawn uniformly."""
        drawn = {key: n for key, n in self._counted.items() if key[0] in kinds and key[-1]}
        counts = self.counts(drawn)
        return counts["wrong"], counts["flips"]

    def _bound(self, kinds: Sequence[str]) -> float:
        return upper_bound(*self._uniform(kinds))
