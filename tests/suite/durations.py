"""How long tests take, in processor time: recorded in durations.csv, estimated where nothing is.

A line is a test function, with the group of its cases where it has several: how many cases there
were, the seconds they took together, and the longest one. `measured` is no for an estimate, which
the first whole run replaces. Functions that take less than a second are left out.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

RECORDED = Path(__file__).with_name("durations.csv")
WORTH_A_LINE = 1.0
"""Seconds."""
UNKNOWN = {
    "": 0.05,
    "matrix": 2.0,
    "vectors": 5.0,
    "proof": 10.0,
    "route": 20.0,
    "fuzz": 10.0,
    "clients": 5.0,
}
"""Seconds of a case without a record, by the reason for which it is slow."""


@dataclass(frozen=True)
class Recorded:
    """Cases of one function in one group."""

    cases: int
    seconds: float
    longest: float
    measured: bool


Records = Mapping[tuple[str, str], Recorded]
"""By function and group."""


def read(path: Path = RECORDED) -> dict[tuple[str, str], Recorded]:
    """What is recorded; nothing, if there is no file."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            (line["test"], line["group"]): Recorded(
                int(line["cases"]),
                float(line["seconds"]),
                float(line["longest"]),
                line["measured"] == "yes",
            )
            for line in csv.DictReader(file)
        }


def write(records: Records, path: Path = RECORDED) -> None:
    """The file, in the order of the tests' names."""
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["test", "group", "cases", "seconds", "longest", "measured"])
        for (test, group), one in sorted(records.items()):
            figures = (one.cases, f"{one.seconds:.1f}", f"{one.longest:.1f}")
            lines.writerow([test, group, *figures, "yes" if one.measured else "no"])


def expected(records: Records) -> Callable[[str, str, str], float]:
    """Gives the seconds of one case by its function, group and reason: the mean of its group, else
    of its function, else what its reason suggests."""
    means = {key: one.seconds / one.cases for key, one in records.items()}
    totals: dict[str, tuple[int, float]] = {}
    for (test, _), one in records.items():
        cases, seconds = totals.get(test, (0, 0.0))
        totals[test] = cases + one.cases, seconds + one.seconds

    def seconds_of(test: str, group: str, reason: str) -> float:
        if (test, group) in means:
            return means[test, group]
        cases, seconds = totals.get(test, (1, UNKNOWN[reason]))
        return seconds / cases

    return seconds_of


def measured(
    old: Records, results: Iterable[tuple[str, str, float]], existing: Iterable[str] | None = None
) -> dict[tuple[str, str], Recorded]:
    """`old`, with the lines of all functions that ran replaced by what these took.

    `results` has a function, a group and seconds for each case. Functions that are not among the
    `existing` ones are left out; without these the run is not complete, and of a function that has
    run with fewer cases than before the old line is kept.
    """
    taken: dict[tuple[str, str], list[float]] = {}
    for test, group, duration in results:
        taken.setdefault((test, group), []).append(duration)
    if existing is None:
        before, ran_now = Counter[str](), Counter[str]()
        for (test, _), one in old.items():
            before[test] += one.cases
        for (test, _), times in taken.items():
            ran_now[test] += len(times)
        taken = {key: one for key, one in taken.items() if ran_now[key[0]] >= before[key[0]]}
    ran = {test for test, _ in taken}
    known = None if existing is None else set(existing)
    kept = {
        key: one
        for key, one in old.items()
        if key[0] not in ran and (known is None or key[0] in known)
    }
    totals: dict[str, float] = {}
    for (test, _), times in taken.items():
        totals[test] = totals.get(test, 0.0) + sum(times)
    return kept | {
        key: Recorded(len(times), sum(times), max(times), True)
        for key, times in taken.items()
        if totals[key[0]] >= WORTH_A_LINE
    }
