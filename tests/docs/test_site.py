"""The documentation as a site: pages, links and headings are there, tutorials run as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))


def build(tmp_path, builder):
    """Build the site; every warning is an error."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder]
    built = subprocess.run(
        [*command, "-d", tmp_path / "doctrees", DOCS, tmp_path / "site"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert built.returncode == 0, built.stderr


def test_pages_are_read_without_warnings(tmp_path):
    """A broken link, a missing heading or a page outside the contents is a warning."""
    build(tmp_path, "dummy")


@pytest.mark.slow
def test_site_is_built_without_warnings(tmp_path):
    build(tmp_path, "html")
    assert (tmp_path / "site" / "measured" / "index.html").is_file()
    commands = (tmp_path / "site" / "commands.html").read_text("utf-8")
    assert "--max-dsp" in commands
    formulas = (tmp_path / "site" / "fdfm.html").read_text("utf-8")
    assert formulas.count('aria-label="2d^2 + 6d + 7"') == 1
    assert not re.search("<script[^>]*mathjax", formulas, re.I)
    python = (tmp_path / "site" / "python.html").read_text("utf-8")
    assert "coprime.device.accelerator.Accelerator.modexp" in python


def blocks(page, language):
    """The blocks of code in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_runs_as_written(tmp_path, page):
    """Every command and then every Python example, in one empty folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = "set -eux\n" + "".join(blocks(page, "sh")).replace("export PATH=$PWD", ": $PWD")
    (tmp_path / "example.py").write_text("".join(blocks(page, "python")))
    script += f"{sys.executable} example.py\n"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_python_page_runs_as_written(tmp_path):
    """All examples in one program, as a reader would type them."""
    examples = blocks(DOCS / "python.md", "python")
    assert len(examples) == 5
    (tmp_path / "example.py").write_text("".join(examples))
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, *_ = done.stdout.splitlines()
    assert first.startswith(f"{pow(2, 65537, 0xC5)} ")
    assert "\nTrue\n" in done.stdout
    assert "\nulx3s LFE5U-25F-6 CABGA381 25 MHz " in done.stdout


def test_the_first_example_is_that_of_the_readme():
    assert blocks(ROOT / "README.md", "python") == blocks(DOCS / "python.md", "python")[:1]


def test_tutorials_have_commands():
    assert len(TUTORIALS) == 3
    for page in TUTORIALS:
        assert any("coprime " in block for block in blocks(page, "sh")), page
