"""Make everything that a release consists of, and check it; nothing is published.

python tools/release.py -o build/release

Makes source distributions and wheels of Coprime, coprime-evidence and readable-verilog, the source
distribution of the PKCS #11 module, and SHA256SUMS. Checks that the version is the same in all
places and has an entry in CHANGELOG.md, and that the commit has no changes. With `--trial` a
version that is not ready is reported, and all is made nevertheless.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from coprime import __version__
from coprime.flow.files import write_file

ROOT = Path(__file__).resolve().parents[1]
PYTHON_PROJECTS = (*(Path(), Path("packages/readable-verilog"), Path("packages/coprime-evidence")),)
_SEMANTIC = re.compile(r"\d+\.\d+\.\d+")
_SUMS = "SHA256SUMS"


def problems() -> Iterator[str]:
    """What keeps this commit from being released as `__version__`, a sentence each."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    if _SEMANTIC.fullmatch(__version__) is None:
        yield f"coprime.__version__ must be like 1.2.3, not {__version__}"
    if versions[0] == "Unreleased":
        yield "CHANGELOG.md begins with Unreleased: give the entry its version"
    elif versions[0] != __version__:
        yield f"CHANGELOG.md begins with {versions[0]}, and coprime.__version__ is {__version__}"
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    if f"\nversion: {__version__}\n" not in citation:
        yield f"CITATION.cff has another version than {__version__}"
    evidence = ROOT / "packages" / "coprime-evidence"
    for path in (evidence / "src" / "coprime_evidence" / "__init__.py", evidence / "coprime.in"):
        if __version__ not in path.read_text("utf-8"):
            yield f"{path.relative_to(ROOT)} has another version than {__version__}"
    if _git("status", "--porcelain"):
        yield "there are changes that are not committed: commit them first"
    if f"v{__version__}" in _git("tag").split():
        yield f"there is a tag v{__version__} already: choose the next version"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def source(folder: Path) -> None:
    """Write the tracked files of this commit into a folder."""
    with tempfile.TemporaryFile() as file:
        command = ["git", "-C", str(ROOT), "archive", "HEAD"]
        subprocess.run(command, check=True, stdout=file)
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            archive.extractall(folder, filter="data")


def make(folder: Path) -> list[Path]:
    """Make the distributions, and give their paths: each from the tracked files alone."""
    with tempfile.TemporaryDirectory() as temporary:
        source(Path(temporary))
        for project in PYTHON_PROJECTS:
            _run("-m", "build", "--no-isolation", "-o", folder, Path(temporary) / project)
        _run(ROOT / "tools" / "token_distribution.py", "-o", folder)
    found = sorted(one for one in folder.iterdir() if one.name != _SUMS)
    lines = [f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}\n" for one in found]
    write_file(folder / _SUMS, "".join(lines))
    return [*found, folder / _SUMS]


def _run(*arguments: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments))} failed:\n{done.stdout}{done.stderr}")


def main(arguments: list[str] | None = None) -> int:
    """Print the paths; 1, with what to do, if the commit is not ready for a release."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="an empty or new folder")
    parser.add_argument("--trial", action="store_true", help="make all, even if it is not ready")
    given = parser.parse_args(arguments)
    found = list(problems())
    for one in found:
        print(one, file=sys.stderr)
    if found and not given.trial:
        return 1
    if given.output.exists() and any(given.output.iterdir()):
        parser.error(f"{given.output} is not empty: choose another folder for -o")
    given.output.mkdir(parents=True, exist_ok=True)
    print(*make(given.output), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
