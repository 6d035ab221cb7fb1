"""The documentation as a site: pages, links and headings are there, tutorials run as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.token.test_page import alone, need

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


@pytest.mark.clients
def test_pages_are_read_without_warnings(tmp_path):
    """A broken link, a missing heading or a page outside the contents is a warning."""
    build(tmp_path, "dummy")


@pytest.mark.clients
def test_site_is_built_without_warnings(tmp_path):
    build(tmp_path, "html")
    assert (tmp_path / "site" / "measured" / "index.html").is_file()
    commands = (tmp_path / "site" / "commands.html").read_text("utf-8")
    assert "--max-dsp" in commands
    formulas = (tmp_path / "site" / "fdfm.html").read_text("utf-8")
    drawn = (DOCS / "fdfm.md").read_text("utf-8").count("$2d^2 + 6d + 7$")
    assert formulas.count('aria-label="2d^2 + 6d + 7"') == drawn > 0
    assert not re.search("<script[^>]*mathjax", formulas, re.I)
    python = (tmp_path / "site" / "python.html").read_text("utf-8")
    assert "coprime.device.accelerator.Accelerator.modexp" in python


def blocks(page, language):
    """The blocks of code in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


@pytest.mark.clients
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_runs_as_written(tmp_path, page):
    """Every command and example in the order of the page, in one empty folder; what they print."""
    for program in NEEDED.get(page.stem, ()):
        need(program)
    apart = alone() if page.stem in SERVERS else ()
    answer = tmp_path / "answer"
    answer.write_text(f"#!/bin/sh\necho {PIN}\n")
    answer.chmod(0o700)
    folder = tmp_path / "work"
    folder.mkdir()
    parts = parts_of(page)
    script, commands = write_files(parts, folder), tmp_path / "commands"
    commands.write_text(script.replace("export PATH=$PWD", ": $PWD"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*apart, "bash", "-eu", commands],
        cwd=folder,
        env={
            **{name: text for name, text in os.environ.items() if not name.startswith("SSH_")},
            "PATH": path,
            "SSH_ASKPASS": str(answer),
            "SSH_ASKPASS_REQUIRE": "force",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    printed = TAKES_LONG.sub("", done.stdout).split(MARK)
    for (language, text, _), output in zip(parts, printed[1:], strict=True):
        if language == "text":
            assert re.search(pattern_of(text), output, re.M), (text, output)


MARK = "--- next part ---\n"
TAKES_LONG = re.compile(r"^coprime: .* \.\.\.\n", re.M)
"""Lines that commands print on a busy machine only."""
PIN = "12345678"
"""What the tutorials type where a program asks."""
NEEDED = {
    "p256": ("openssl", "cc"),
    "tls": ("openssl", "pkcs11-tool", "usr/lib/*/engines-3/pkcs11.so", "curl"),
    "ssh": ("ssh", "pkcs11-tool", "usr/sbin/sshd"),
}
SERVERS = ("tls", "ssh")  # whose ports are to be those of the test alone


def parts_of(page):
    """The blocks of code in order: language, text and, of programs, the name of their file."""
    text = page.read_text("utf-8")
    parts = []
    for block in re.finditer(r"^```(\w+)\n(.*?)^```", text, re.M | re.S):
        language = block[1]
        assert language in ("sh", "text", "python", "c"), (page, language)
        named = re.findall(rf"`(\w+\.{language[:2]})`", text[: block.start()])
        parts.append((language, block[2], named[-1] if named else ""))
    return parts


def write_files(parts, folder):
    """Write the programs that have names; return what to run, with a mark before each part.

    A Python example without a name is run at its place. What a block of text shows is what the
    commands before it print.
    """
    script = "mkdir -p /run/sshd\n" if os.getuid() == 0 else ""
    for (language, text, name), (following, *_) in zip(parts, [*parts[1:], ("",)], strict=True):
        if language == "text":
            continue
        if language == "sh":
            run = text
        else:
            (folder / (name or "example.py")).write_text(text)
            run = "" if name else "python example.py\n"
        mark = f"echo '{MARK.rstrip()}'\n"
        script += mark * (1 + (following == "text")) + run
    return script


def pattern_of(text):
    """A regular expression for what a page shows; `...` stands for anything, in a line or alone."""
    lines = [re.escape(line).replace(r"\.\.\.", ".*") for line in text.splitlines()]
    return "^" + "\n".join(r"(?:.*\n)*?.*" if line == ".*" else line for line in lines)


def test_what_a_page_shows_is_compared():
    """In order, line by line, wherever it begins."""
    assert re.search(pattern_of("one\n...\nthree\n"), "zero\none\n2\n2\nthree\n", re.M)
    assert re.search(pattern_of("key ... of\n"), "key a.b of\n", re.M)
    for other in ("one\ntwo\n", "three\none\n", "none\ntwo\nthree\n"):
        assert not re.search(pattern_of("one\n...\nthree\n"), other, re.M)


@pytest.mark.clients
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
    assert len(TUTORIALS) == 6
    for page in TUTORIALS:
        assert any("coprime " in block for block in blocks(page, "sh")), page
        parts = parts_of(page)
        shown = [k for k, (language, *_) in enumerate(parts) if language == "text"]
        assert all(parts[k - 1][0] == "sh" for k in shown), page
    assert {page.stem for page in TUTORIALS} >= {*NEEDED, *SERVERS}
