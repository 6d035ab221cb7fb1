"""Runs a command that takes long, and shows how far it is: progress.py KIND COMMAND...

KIND says which lines of its output count. On a terminal one line changes; elsewhere a line appears
each quarter. If the command fails, what it has printed follows. Needs nothing but Python.
"""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

_SHOWN = re.compile(r"\b(warning|error|critical):", re.IGNORECASE)
"""Lines that are shown at once; the words alone may be a page's or an option's name."""
_CLEAR = "\r\x1b[K"  # of a terminal's line
_STEPS = {
    "reading sources": range(30),
    "writing output": range(30, 60),
    "drawing the report": range(60, 100),
}
"""The phases of a site, each with the percentages of the whole that it takes."""


def of_pages(command: list[str]) -> Callable[[str], float | None]:
    """From what Sphinx prints with each page that it reads or writes, and each of the report."""

    def percentage(line: str) -> float | None:
        found = re.match(r"(.+?)\.\.\. *\[ *(\d+)%\]", line)
        if found is None or found[1] not in _STEPS:
            return None
        step = _STEPS[found[1]]
        return step.start + len(step) * int(found[2]) / 100

    return percentage


def of_packages(command: list[str]) -> Callable[[str], float | None]:
    """How many of a requirements file's packages pip has collected; then it unpacks them."""
    (lock,) = (word for word in command if word.endswith(".lock"))
    total = len(re.findall(r"^\S+==", Path(lock).read_text("utf-8"), re.MULTILINE))
    collected = 0

    def percentage(line: str) -> float | None:
        nonlocal collected
        if line.startswith("Collecting "):
            collected += 1
            return 70 * min(collected / total, 1)
        return 70 if line.startswith("Installing collected packages") else None

    return percentage


KINDS = {"pages": of_pages, "packages": of_packages}


def main(kind: str, *command: str) -> int:
    """Run the command; give its status."""
    percentage, shown, start = KINDS[kind](list(command)), 0, time.monotonic()
    terminal = sys.stderr.isatty()
    lines: list[str] = []
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert running.stdout is not None
    for line in running.stdout:  # a carriage return ends one, too
        text = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", line).strip()
        lines.append(text)
        if _SHOWN.search(text):
            print(f"{_CLEAR if terminal else ''}{text}", file=sys.stderr)
        done = percentage(text)
        if done is None or int(done) <= shown:
            continue
        if terminal:
            print(f"\r{done:3.0f} %, {time.monotonic() - start:.0f} s ", end="", file=sys.stderr)
            sys.stderr.flush()
        elif done // 25 > shown // 25 and done < 100:
            print(f"{done:.0f} %, {time.monotonic() - start:.0f} s", file=sys.stderr)
        shown = int(done)
    status = running.wait()
    if terminal:
        print(_CLEAR, end="", file=sys.stderr)
    if status:
        print("\n".join(lines[-40:]), file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
