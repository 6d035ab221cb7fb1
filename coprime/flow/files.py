"""Writing a user's files: each appears complete or not at all, in folders that are made if need be.

A file that is there already is replaced in one step, so that whoever reads it, also after an
interruption, finds the old one or the new one. What is no regular file, such as /dev/stdout, is
written to as it is.
"""

import errno
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_writable(path: Path) -> None:
    """Raise OSError, and change nothing, unless a file can be written at `path`.

    Its folder need not be there yet.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if path.exists() and not path.is_file():
        return
    folder = Path(os.path.realpath(path)).parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(folder)) from None


@contextmanager
def naming(output: Path | str) -> Iterator[None]:
    """An OSError in the block is of this output, such as that its device is full."""
    try:
        yield
    except OSError as error:
        error.filename = str(output)
        raise


@contextmanager
def replacing(path: Path, *, secret: bool = False) -> Iterator[Path]:
    """Give an empty file to write to, which takes the place of `path` if the block ends well.

    A file that was there keeps its permissions; a `secret` one is its owner's only. Raises OSError
    if the file cannot be written.
    """
    if path.exists() and not path.is_file():
        with naming(path):
            yield path
        return
    # Through a link, since it is its target that is to be replaced.
    final = Path(os.path.realpath(path))
    final.parent.mkdir(parents=True, exist_ok=True)
    fresh = final.with_name(f".{secrets.token_hex(8)}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    os.close(os.open(fresh, flags, 0o600 if secret else 0o666))
    try:
        if final.exists() and not secret:
            fresh.chmod(final.stat().st_mode & 0o777)
        with naming(path):
            yield fresh
        fresh.replace(final)
    finally:
        fresh.unlink(missing_ok=True)


def write_file(path: Path, content: bytes | str, *, secret: bool = False) -> None:
    """Write a file, text as UTF-8. Raises as `replacing`."""
    data = content.encode() if isinstance(content, str) else content
    with replacing(path, secret=secret) as fresh:
        fresh.write_bytes(data)


def create_file(path: Path, content: bytes, *, secret: bool = False) -> None:
    """Write a file that must not exist yet. Raises OSError if it does, or cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, 0o600 if secret else 0o666), "wb") as file:
        try:
            with naming(path):
                file.write(content)
                file.flush()
        except BaseException:
            path.unlink()
            raise
