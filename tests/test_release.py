"""A release of a copy of this repository: what is made, and what is refused."""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from coprime import __version__

ROOT = Path(__file__).parents[1]
OWN = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
OWN |= {"GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull}


def git(copy, *arguments):
    command = ["git", "-C", copy, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | OWN)


def release(copy, *arguments):
    command = [sys.executable, copy / "tools" / "release.py", *arguments]
    own = os.environ | OWN | {"PYTHONPATH": str(copy)}
    return subprocess.run(command, capture_output=True, text=True, env=own, cwd=copy, check=False)


def commit(copy):
    git(copy, "commit", "-qam", "Change it")


def replace(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.fixture
def copy(tmp_path):
    """A copy in which version 9.8.7 is ready."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    made = tmp_path / "copy"
    git(ROOT, "clone", "-q", "--depth", "1", f"file://{ROOT}", str(made))
    for name in ("tools/release.py", "tools/token_distribution.py"):
        (made / name).write_bytes((ROOT / name).read_bytes())
    git(made, "add", "-A")
    replace(made / "coprime" / "__init__.py", f'"{__version__}"', '"9.8.7"')
    evidence = made / "packages" / "coprime-evidence"
    replace(evidence / "src/coprime_evidence/__init__.py", f'"{__version__}"', '"9.8.7"')
    replace(evidence / "coprime.in", f"=={__version__}", "==9.8.7")
    replace(made / "CITATION.cff", f"version: {__version__}", "version: 9.8.7")
    text = (made / "CHANGELOG.md").read_text("utf-8")
    (made / "CHANGELOG.md").write_text(re.sub(r"^## .*$", "## 9.8.7", text, count=1, flags=re.M))
    commit(made)
    return made


@pytest.mark.clients(quick=1)
@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        ("CHANGELOG.md", "## 9.8.7", "## Unreleased", "CHANGELOG.md begins with Unreleased"),
        ("CHANGELOG.md", "## 9.8.7", "## 9.8.6", "CHANGELOG.md begins with 9.8.6, and"),
        ("CITATION.cff", "9.8.7", "9.8.6", "CITATION.cff has another version than 9.8.7"),
        ("coprime/__init__.py", '"9.8.7"', '"9.8"', "must be like 1.2.3, not 9.8"),
        (
            "packages/coprime-evidence/coprime.in",
            "9.8.7",
            "9.8.6",
            "coprime.in has another version",
        ),
    ],
)
def test_what_is_not_ready_is_refused(copy, path, old, new, message):
    replace(copy / path, old, new)
    commit(copy)
    done = release(copy, "-o", "made")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert not (copy / "made").exists()


def test_changes_a_tag_and_a_folder_with_files_are_refused(copy, tmp_path):
    (copy / "README.md").write_text("changed")
    git(copy, "tag", "v9.8.7")
    done = release(copy, "-o", tmp_path / "made")
    assert done.returncode == 1
    assert "changes that are not committed" in done.stderr
    assert "there is a tag v9.8.7 already" in done.stderr
    done = release(copy, "-o", copy, "--trial")
    assert done.returncode == 2
    assert "is not empty: choose another folder for -o" in done.stderr


@pytest.mark.clients
@pytest.mark.timeout(600)
def test_a_release(copy, tmp_path):
    done = release(copy, "-o", tmp_path / "made")
    assert done.returncode == 0, done.stderr
    made = {path.name: path for path in (tmp_path / "made").iterdir()}
    assert sorted(map(Path, done.stdout.split())) == sorted(made.values())
    coprime = {
        "coprime-9.8.7-py3-none-any.whl",
        "coprime-9.8.7.tar.gz",
        "coprime-token-9.8.7.tar.gz",
    }
    assert coprime | {"SHA256SUMS"} < made.keys()
    for name in ("readable_verilog-", "coprime_evidence-9.8.7"):
        assert sum(path.startswith(name) for path in made) == 2
    for line in made["SHA256SUMS"].read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256(made.pop(name).read_bytes()).hexdigest() == digest
    assert made.keys() == {"SHA256SUMS"}
    with zipfile.ZipFile(tmp_path / "made" / "coprime-9.8.7-py3-none-any.whl") as wheel:
        assert b'"9.8.7"' in wheel.read("coprime/__init__.py")
    with tarfile.open(tmp_path / "made" / "coprime-token-9.8.7.tar.gz") as token:
        assert token.extractfile("coprime-token-9.8.7/VERSION").read() == b"9.8.7\n"
