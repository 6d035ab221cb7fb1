"""What was written into a folder: a list of files with their SHA-256, as `sha256sum -c` reads it.

By it the next build tells its own files from those of the user, and does not replace what the user
wrote or changed.
"""

import errno
import hashlib
from collections.abc import Mapping
from pathlib import Path

__all__ = ["MANIFEST", "check_replaceable", "manifest"]

MANIFEST = "MANIFEST.sha256"


def manifest(contents: Mapping[str, str]) -> str:
    """The list of a package's files, by their path in the folder."""
    return "".join(f"{_digest(text.encode())}  {path}\n" for path, text in contents.items())


def check_replaceable(folder: Path, contents: Mapping[str, str] | None = None) -> None:
    """Raise FileExistsError for the first file that the user wrote or changed.

    `contents` are the files that are about to be written, by their path in the folder. Without
    them, only those that the folder's manifest lists are looked at, which is quick.
    """
    written = _written(folder)
    for path in written if contents is None else contents:
        file = folder / path
        if path == MANIFEST or not file.exists():
            continue
        if not file.is_file():
            raise FileExistsError(errno.EEXIST, "there, and not a file", str(file))
        digest = _digest(file.read_bytes())
        if digest == written.get(path):
            continue
        if contents is not None and digest == _digest(contents[path].encode()):
            continue
        reason = "changed since a build wrote it" if path in written else "not written by a build"
        remedy = "--force replaces it; or name another folder"
        raise FileExistsError(errno.EEXIST, f"{reason}; {remedy}", str(file))


def _written(folder: Path) -> dict[str, str]:
    """The digests of what the last build wrote, by path; nothing if there is no such list."""
    try:
        text = (folder / MANIFEST).read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    pairs = (line.partition("  ") for line in text.splitlines())
    return {path: digest for digest, _, path in pairs}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
