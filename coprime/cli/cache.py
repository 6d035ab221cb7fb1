"""`coprime cache`: what is kept for next time, and how to be rid of it."""

import argparse
from datetime import UTC, datetime

from coprime.flow.cache import cache_folder, cache_limit, clear_cache, kept_in_cache
from coprime.flow.cache_kinds import KINDS

from .output import print_json


def run(options: argparse.Namespace) -> None:
    """Print what the cache keeps."""
    folder, limit, kept = cache_folder(), cache_limit(), kept_in_cache()
    total = sum(entries.bytes for entries in kept)
    if options.json:
        kinds = [
            entries.__dict__
            | {"oldest_use": _time(entries.oldest_use), "newest_use": _time(entries.newest_use)}
            for entries in kept
        ]
        print_json({"folder": str(folder), "bytes": total, "limit": limit, "kinds": kinds})
        return
    for entries in kept:
        used = (
            ""
            if entries.newest_use is None
            else f"used {_day(entries.oldest_use)}..{_day(entries.newest_use)}"
        )
        summary = (
            KINDS[entries.kind].summary
            if entries.kind in KINDS
            else "of another version of Coprime"
        )
        print(
            f"{entries.kind:<12} {entries.entries:>6} {_size(entries.bytes):>10}"
            f"  {used:<28}  {summary}"
        )
    most = "without a limit" if limit is None else f"of at most {_size(limit)}"
    print(f"{_size(total)} {most} in {folder}")


def run_clear(options: argparse.Namespace) -> None:
    """Remove what is kept.

    Raises ValueError for a kind that there is not.
    """
    there = [kept.kind for kept in kept_in_cache()]
    for kind in options.kinds:
        if kind not in KINDS and kind not in there:
            raise ValueError(f"the cache has no kind {kind!r}; there are: {', '.join(KINDS)}")
    entries, freed = clear_cache(options.kinds or None)
    what = "entry" if entries == 1 else "entries"
    print(f"{entries} {what} of {_size(freed)} removed from {cache_folder()}")


def _size(count: int) -> str:
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def _day(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds):%Y-%m-%d}"


def _time(seconds: float | None) -> str | None:
    """As JSON has it: ISO 8601 in UTC."""
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
