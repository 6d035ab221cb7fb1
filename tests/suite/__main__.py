"""The whole suite, a shard after the other: `python -m tests.suite`.

What has ended is kept in build/suite: stopped at any moment, it goes on where it was. Tests that
failed run again when it is started again, until all have passed; then it begins anew.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.suite import durations
from tests.suite.table import OUTCOMES, duration, table

STATE = Path("build/suite")
INTERNAL_ERROR = 3
"""pytest's exit status when it fails itself."""
RESULTS, RUNNING = "results.jsonl", "running.jsonl"


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 0 if all tests have passed or were skipped."""
    parser = argparse.ArgumentParser(prog="python -m tests.suite", description=__doc__)
    parser.add_argument("--shards", type=int, default=12, help="how many there are (12)")
    parser.add_argument("--jobs", default="auto", help="workers (auto: one for each core)")
    parser.add_argument(
        "--patience", default="1", help="what time limits are multiplied by, on a busy machine (1)"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what has ended before")
    parser.add_argument(
        "--record", action="store_true", help="only write how long tests took to durations.csv"
    )
    parser.add_argument("--state", type=Path, default=STATE, help=f"where it is kept ({STATE})")
    parser.add_argument("tests", nargs="*", help="only these, as for pytest")
    given = parser.parse_args(arguments)
    if given.shards < 1:
        parser.error(f"--shards must be at least 1, not {given.shards}")
    if given.record:
        return record(given.state)
    return run(given)


def run(given: argparse.Namespace) -> int:
    """Every shard, then the table."""
    given.state.mkdir(parents=True, exist_ok=True)
    finished, times = given.state / "finished", given.state / "times.jsonl"
    if given.fresh or finished.exists():
        for path in (given.state / RESULTS, finished, times):
            path.unlink(missing_ok=True)
    keep(given.state)
    failed_before = names(given.state, "failed")
    for number in range(1, given.shards + 1):
        shard = f"{number}/{given.shards}"
        print(f"shard {shard}", flush=True)
        begin = time.monotonic()
        status = run_shard(given, shard, failed_before)
        with times.open("a") as file:
            file.write(json.dumps(round(time.monotonic() - begin, 1)) + "\n")
        if status:
            print(f"stopped in shard {shard}; start it again to go on", file=sys.stderr)
            return status
    ended = results(given.state)
    whole = sum(map(json.loads, times.read_text().splitlines()))
    print("\n".join(table(ended.values())))
    print(f"{duration(whole)} on the clock, in {given.shards} shards")
    if names(given.state, "failed"):
        print("start it again to run only those that failed, or with --fresh to run all")
        return 1
    finished.touch()
    return 0


def run_shard(given: argparse.Namespace, shard: str, failed_before: set[str]) -> int:
    """0 if the shard has ended, whatever its tests say; else the status of what stopped it.

    pytest-xdist 3.8 waits for ever after a worker has crashed, if it may start another one
    (https://github.com/pytest-dev/pytest-xdist/issues/1323). So it may not: it ends, the test is a
    failure, and those that are left are run by another pytest. Where xdist was just about to give
    the worker more tests, it fails itself and the crash has no line; the test, first of those that
    are left, then crashes again and gets one.
    """
    again = failed_before
    while True:
        left_out = names(given.state, *OUTCOMES) - again
        (given.state / "done").write_text("".join(f"{name}\n" for name in sorted(left_out)))
        try:
            status = pytest(given, shard)
        except KeyboardInterrupt:
            status = 130
        new = keep(given.state)
        crashed = any(one["crashed"] for one in new) or (new and status == INTERNAL_ERROR)
        if status == 130 or not crashed:
            return 0 if status in (0, 1, 5) else status  # all passed, some failed, none left
        again = again - {one["test"] for one in new}


def pytest(given: argparse.Namespace, shard: str) -> int:
    """The exit status of pytest for one shard, without what is done."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", given.jobs, "--dist", "loadgroup"]
    command += ["--max-worker-restart", "0", f"--shard={shard}", f"--patience={given.patience}"]
    # Not as words of their own: pytest would look for conftest.py where an existing file is.
    command += [f"--done={given.state / 'done'}", f"--results={given.state / RUNNING}"]
    return subprocess.run([*command, *given.tests], check=False).returncode


def lines(path: Path) -> list[str]:
    """Those that were written to their ends."""
    if not path.exists():
        return []
    return [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def keep(state: Path) -> list[dict[str, Any]]:
    """Add what pytest has just written to the results, and give it."""
    new = lines(state / RUNNING)
    with (state / RESULTS).open("a") as file:
        file.writelines(new)
    (state / RUNNING).unlink(missing_ok=True)
    return [*map(json.loads, new)]


def results(state: Path) -> dict[str, dict[str, Any]]:
    """The last result of each test, by its name."""
    return {one["test"]: one for one in map(json.loads, lines(state / RESULTS))}


def names(state: Path, *which: str) -> set[str]:
    """The tests with one of these outcomes."""
    return {name for name, one in results(state).items() if one["outcome"] in which}


def record(state: Path) -> int:
    """Write what the tests took into durations.csv."""
    taken = [
        (one["function"], one["group"], one["seconds"])
        for one in results(state).values()
        if one["outcome"] == "passed"
    ]
    if not taken:
        print(f"{state} has no results; run the suite first", file=sys.stderr)
        return 2
    complete = (state / "finished").exists()
    existing = {function for function, _, _ in taken} if complete else None
    records = durations.measured(durations.read(), taken, existing)
    durations.write(records)
    print(f"{len(records)} lines in {durations.RECORDED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
