"""The files of a token's folder: checking, repairing and saving them, without any PIN.

`coprime/token/src/store.c` writes them. A file ends with the SHA-256 digest of all that is before
it; what only its owner can tell, whether somebody else wrote it, is found when a PIN is given.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coprime.errors import CoprimeError

MODULE = "libcoprime-pkcs11.so"  # the module's file
_MAGIC, _OLD_MAGIC = b"Coprime token 2\0", b"Coprime token 1\0"
_DIGEST_BYTES, _TAG_BYTES, _PIN_BYTES = 32, 32, 5 * 4 + 16 + 60
_RECORD_HEAD = 24
_LOCK_SECONDS = 10


class DamagedError(CoprimeError, ValueError):
    """A file is no token's, or is damaged."""


@dataclass(frozen=True)
class TokenFile:
    """What a file says without a PIN.

    Parameters
    ----------
    generation : grows with every change
    label : the token's name, without the blanks at the end
    objects, guests : number of its objects; of these, written without a PIN
    size : of the file, in bytes
    """

    generation: int
    label: str
    objects: int
    guests: int
    size: int


def read_file(path: Path) -> TokenFile:
    """Check a file's digest and form. Raises DamagedError, and OSError if it cannot be read."""
    content = path.read_bytes()
    body, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    tag = {_MAGIC: _TAG_BYTES, _OLD_MAGIC: 0}.get(content[:16])
    if tag is None:
        raise DamagedError(f"{path} is not a token's file")
    if hashlib.sha256(body).digest() != digest:
        raise DamagedError(f"{path} is damaged: its digest is another")
    generation = int.from_bytes(content[16:24], "little")
    place = 40 + tag
    label = body[place : place + 32].decode("utf-8", "replace").rstrip()
    place += 32 + 16 + 8 + 2 * _PIN_BYTES
    objects = int.from_bytes(body[place : place + 4], "little")
    place += 4
    guests = 0
    for _ in range(objects):
        head = body[place : place + _RECORD_HEAD]
        if len(head) < _RECORD_HEAD:
            raise DamagedError(f"{path} ends within an object")
        guests += head[16] >> 1 & 1
        place += _RECORD_HEAD + int.from_bytes(head[20:24], "little")
    if place != len(body):
        raise DamagedError(f"{path} has another length than its objects")
    return TokenFile(generation, label, objects, guests, len(content))


def repair(folder: Path) -> TokenFile:
    """Put the generation before in the place of a damaged file, which is kept as token.damaged.

    ValueError: the file is not damaged, or the generation before is damaged too, or another
    process keeps the folder locked. OSError: the folder cannot be written.
    """
    file, before = folder / "token", folder / "token.old"
    with _locked(folder):
        try:
            found = read_file(file)
        except FileNotFoundError:
            damaged = None
        except DamagedError:
            damaged = file
        else:
            raise ValueError(f"{file} is not damaged: it has {found.objects} objects")
        try:
            restored = read_file(before)
        except FileNotFoundError:
            raise ValueError(f"there is no {before} to take instead") from None
        status = before.stat()
        new = folder / "token.repaired"
        new.unlink(missing_ok=True)  # of somebody who was stopped
        _write(new, before.read_bytes(), status.st_mode & 0o666)
        os.chown(new, status.st_uid, status.st_gid)
        if damaged:
            damaged.replace(folder / "token.damaged")
        new.replace(file)
        _sync(folder)
    return restored


def save(folder: Path, copy: Path) -> TokenFile:
    """Copy a token's file, as it is at one moment, to a file that is not there yet.

    ValueError: it is damaged, or `copy` exists. OSError: a file cannot be read or written.
    """
    found = read_file(folder / "token")
    try:
        _write(copy, (folder / "token").read_bytes(), 0o600)
    except FileExistsError:
        raise ValueError(f"{copy} exists already") from None
    return found


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a new file, and bring it to the disk; nothing of it stays if that fails."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        try:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            path.unlink()
            raise


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep the module from writing."""
    opened = os.open(folder / "lock", os.O_RDONLY | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise ValueError(f"another process keeps {folder} locked") from None
                time.sleep(0.05)
        yield
    finally:
        os.close(opened)
