"""What a run of the suite ends with: how many passed, failed or were skipped, and the time."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Result = Mapping[str, Any]
OUTCOMES = ("passed", "failed", "skipped")


def duration(seconds: float) -> str:
    """In hours, minutes and seconds, as few of them as it takes."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def table(results: Iterable[Result]) -> list[str]:
    """A line for each reason for which tests are slow, their sum; then what failed and what was
    skipped, and why. The times are those of processors, in tests alone."""
    rows: dict[str, Counter[str]] = {}
    taken: Counter[str] = Counter()
    failed, reasons = [], Counter()
    for one in results:
        for row in (one["reason"] or "fast", "all"):
            rows.setdefault(row, Counter())[one["outcome"]] += 1
            taken[row] += one["seconds"]
        if one["outcome"] == "failed":
            failed.append(one["test"])
        if one["outcome"] == "skipped":
            reasons[one["why"]] += 1
    lines = [f"{'':9}{''.join(f'{one:>9}' for one in OUTCOMES)}{'processor time':>16}"]
    for row in (*sorted(set(rows) - {"all"}, key=lambda name: (name != "fast", name)), "all"):
        counts = "".join(f"{rows.get(row, Counter())[one]:9}" for one in OUTCOMES)
        lines.append(f"{row:9}{counts}{duration(taken[row]):>16}")
    lines += [f"skipped {count}: {why}" for why, count in sorted(reasons.items())]
    lines += [f"FAILED {test}" for test in sorted(failed)]
    return lines
