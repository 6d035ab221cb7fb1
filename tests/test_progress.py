"""tools/progress.py shows how far a command is, and hands its status on."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "progress.py"


def progress(kind, lines, *words, status=0):
    """Status, and what is shown of a command that prints these lines."""
    code = f"import sys; print({chr(10).join(lines)!r}); sys.exit({status})"
    done = subprocess.run(
        [sys.executable, TOOL, kind, sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stdout
    return done.returncode, done.stderr


def test_pages():
    lines = [f"reading sources... [{k:3}%] page{k}" for k in (10, 50, 100)]
    lines += ["copying images... [ 50%] x", "writing output... [ 80%] page"]
    lines += [f"drawing the report... [{share}%] the page" for share in (0, 40, 97)]
    status, text = progress("pages", lines)
    assert status == 0
    assert [line.split(",")[0] for line in text.splitlines()] == ["30 %", "54 %", "76 %"]


def test_the_words_alone_are_no_warning():
    lines = ["MdParserConfig(suppress_warnings=[])", "reading sources... [ 10%] errors"]
    assert progress("pages", lines) == (0, "")


def test_packages(tmp_path):
    lock = tmp_path / "some.lock"
    lock.write_text("one==1 \\\n    --hash=sha256:0\ntwo==2\n")
    lines = ["Collecting one==1", "  Using cached", "Collecting two==2"]
    status, text = progress("packages", lines, lock)
    assert status == 0
    assert [line.split(",")[0] for line in text.splitlines()] == ["35 %", "70 %"]


@pytest.mark.parametrize("status", [1, 2])
def test_a_failure_is_explained(status):
    found, text = progress("pages", ["WARNING: a link is broken", "the end"], status=status)
    assert found == status
    assert text.startswith("WARNING: a link is broken\n")
    assert text.endswith("WARNING: a link is broken\nthe end\n")


def test_make_uses_it():
    text = TOOL.parents[1].joinpath("Makefile").read_text("utf-8")
    assert "tools/progress.py packages" in text and "tools/progress.py pages" in text
