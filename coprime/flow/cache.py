"""What can be built again, kept by content: simulators, mapped and routed designs, measurements.

An entry is a folder KIND/HASH; its time of modification is when it was used last. Together they
take no more space than `cache_limit`: once they do, those that were not used for the longest time
go, but none that was used within `RECENT` seconds, since somebody may be at it still.

A run goes on without the cache if nothing can be written there, as on a full disk: what it builds
is then in a folder of its own, which goes with the process.

Processes share the cache. Whoever builds an entry holds the lock of that entry; the lock of the
whole cache is held while an entry is marked as used, and while entries are taken out of it, which
therefore never takes what has just been given to somebody. A file that is open stays readable.
"""

import atexit
import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from .cache_kinds import KINDS
from .long_work import long_work, report
from .tool_errors import ToolError

RECENT = 3600  # seconds after its last use in which no entry is removed to make room
_LEFT_BEHIND = 24 * 3600
"""Seconds after which a folder that is not finished yet is no longer worked on."""
_DEFAULT_LIMIT = 4 << 30
_TARGET = 0.9
"""Part of the limit that is left after making room, so that not every new entry has to."""
_LIMIT = "COPRIME_CACHE_LIMIT"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def cache_folder() -> Path:
    """Folder of what can be built again: COPRIME_CACHE, or the user's cache folder."""
    chosen = os.environ.get("COPRIME_CACHE")
    return Path(chosen).absolute() if chosen else platformdirs.user_cache_path("coprime")


def cache_limit() -> int | None:
    """Bytes that the cache may take: COPRIME_CACHE_LIMIT, or 4 GiB; None is no limit.

    Raises ValueError unless the variable is a size or `none`.
    """
    text = os.environ.get(_LIMIT) or str(_DEFAULT_LIMIT)
    if text.lower() == "none":
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if found is None:
        raise ValueError(f"{_LIMIT} must be a size such as 4G or 500M, or none, not {text!r}")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def cached(kind: str, key: Sequence[str], build: Callable[[Path], None]) -> Path:
    """Give the folder that `build` has filled for `key`, building it if there is none yet.

    `kind` names the folder above. `build` gets a new empty folder; it appears in the cache in one
    step, so that nobody sees a half-made folder. While one process builds, others that want the
    same wait for it. If the cache cannot be written, that is reported, and the folder is one that
    is removed as the process ends. Raises ToolError if there is no room for that either, ValueError
    as `cache_limit`.
    """
    folder = _entry_folder(kind, key)
    if _use(folder):
        return folder
    if folder in _uncached:
        return _uncached[folder]
    limit = cache_limit()
    work = KINDS[kind].work if kind in KINDS else kind
    try:
        size = _build_entry(folder, build, work)
    except _Unwritable as error:
        return _build_outside(folder, build, work, error)
    _make_room(size, limit)
    return folder


class _Unwritable(Exception):  # noqa: N818
    """Nothing can be written into the cache; the text is the system's reason."""


def _build_entry(folder: Path, build: Callable[[Path], None], work: str) -> int:
    """Build an entry, unless another process does; its bytes, 0 if it was there already.

    Raises _Unwritable, and leaves nothing, if the cache cannot be written.
    """
    parent = folder.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        lock = _lock(_entry_lock(folder))
        fresh = Path(tempfile.mkdtemp(prefix=".", dir=parent))
    except OSError as error:
        raise _Unwritable(error.strerror) from error
    with lock:
        try:
            if _use(folder):
                return 0
            with long_work(work), _noticing_full_disk(fresh):
                build(fresh)
            size = _size(fresh)
            try:
                fresh.rename(folder)
            except OSError as error:
                if not _use(folder):  # else another process was faster, with the same content
                    raise _Unwritable(error.strerror) from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return size


@contextlib.contextmanager
def _noticing_full_disk(folder: Path) -> Iterator[None]:
    """Turn an error in the block into _Unwritable if the disk of a folder is full.

    A tool, such as a compiler, reports that in its own words; the disk itself is asked, too, unless
    what was half written has been removed.
    """
    try:
        yield
    except OSError as error:
        elsewhere = error.filename and folder not in Path(error.filename).parents
        if error.errno not in _FULL or elsewhere:
            raise
        raise _Unwritable(error.strerror) from error
    except ToolError as error:
        told = os.strerror(errno.ENOSPC) in str(error) and not _is_full(Path(tempfile.gettempdir()))
        if not told and not _is_full(folder):
            raise
        raise _Unwritable(os.strerror(errno.ENOSPC)) from error


def _is_full(folder: Path) -> bool:
    """Whether a small file can no longer be written there."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_SMALL))
    except OSError as error:
        return error.errno in _FULL
    return False


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SMALL = 1 << 20
"""Bytes that a disk with room has place for."""
_uncached: dict[Path, Path] = {}
"""What this process has built outside the cache, by the folder that it would have there."""


def _build_outside(
    folder: Path, build: Callable[[Path], None], work: str, reason: _Unwritable
) -> Path:
    """Build an entry in a folder that is removed as the process ends."""
    remedy = (
        f"the cache folder {cache_folder()} cannot be written ({reason}): make room there, for"
        " which `coprime cache clear` removes what can be built again, or name another folder in"
        " COPRIME_CACHE"
    )
    if not _uncached:
        report(f"{remedy}; this run goes on without it")
    try:
        fresh = Path(tempfile.mkdtemp(prefix="coprime-"))
        atexit.register(shutil.rmtree, fresh, ignore_errors=True)
        with long_work(work), _noticing_full_disk(fresh):
            build(fresh)
    except (OSError, _Unwritable) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ToolError(
            f"{remedy}; the folder for temporary files, {tempfile.gettempdir()}, cannot be written"
            f" either ({why}): TMPDIR may name another one"
        ) from error
    _uncached[folder] = fresh
    return fresh


def find_cached(kind: str, key: Sequence[str]) -> Path | None:
    """The folder that `cached` has made; None if there is none."""
    folder = _entry_folder(kind, key)
    return folder if _use(folder) else _uncached.get(folder)


def _entry_folder(kind: str, key: Sequence[str]) -> Path:
    digest = hashlib.sha256("".join(f"{len(part)}:{part}" for part in key).encode()).hexdigest()
    return cache_folder() / kind / digest[:32]


# --- What is there --------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeptEntries:
    """What is kept of a kind; times are seconds since 1970, None without entries."""

    kind: str
    entries: int
    bytes: int
    oldest_use: float | None
    newest_use: float | None


def kept_in_cache() -> list[KeptEntries]:
    """What the cache keeps, each kind that was ever used, the largest first."""
    kinds = {path.name: list(_entries(path)) for path in _kind_folders()}
    kept = [
        KeptEntries(
            kind,
            len(entries),
            sum(entry.bytes for entry in entries),
            min((entry.used for entry in entries), default=None),
            max((entry.used for entry in entries), default=None),
        )
        for kind, entries in kinds.items()
    ]
    return sorted(kept, key=lambda entries: (-entries.bytes, entries.kind))


def clear_cache(kinds: Collection[str] | None = None) -> tuple[int, int]:
    """Remove the entries of these kinds, or of all: how many they were, and their bytes.

    What another process builds at the moment stays. Raises OSError if the cache cannot be written.
    """
    entries = [
        entry
        for path in _kind_folders()
        if kinds is None or path.name in kinds
        for entry in _entries(path)
    ]
    if not entries:
        return 0, 0
    with _whole_cache(fcntl.LOCK_EX):
        removed = _take_out(entries)
        (cache_folder() / _TOTAL).unlink(missing_ok=True)
    return len(removed), sum(entry.bytes for entry in removed)


@dataclass(frozen=True)
class _Entry:
    folder: Path
    used: float
    bytes: int


def _kind_folders() -> list[Path]:
    folder = cache_folder()
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")


def _entries(kind: Path) -> Iterator[_Entry]:
    """Its entries; what interrupted processes have left behind is one, too."""
    for folder in kind.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process has just removed it
            used = folder.stat().st_mtime
            if folder.name[0] != "." or time.time() - used > _LEFT_BEHIND:
                yield _Entry(folder, used, _size(folder))


def _size(folder: Path) -> int:
    """Bytes on the disk of all that is in a folder."""
    total = folder.stat().st_blocks
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            total += path.lstat().st_blocks
    return total * 512


# --- Using, and making room -----------------------------------------------------------------------

_TOTAL = ".bytes"
"""File with the bytes of all entries, as far as is known: counting them all takes a while."""


def _use(folder: Path) -> bool:
    """Whether an entry is there; it is used now."""
    if not folder.is_dir():
        return False
    try:
        with _whole_cache(fcntl.LOCK_SH):
            os.utime(folder)
    except FileNotFoundError:
        return False
    except OSError:  # somebody else's, which can be read only
        pass
    return True


def _make_room(size: int, limit: int | None) -> None:
    """Count a new entry; if all are over the limit, remove those that were not used for long."""
    if limit is None:
        return
    with contextlib.suppress(OSError), _whole_cache(fcntl.LOCK_EX):
        record = cache_folder() / _TOTAL
        try:
            total = int(record.read_text("ascii")) + size
        except (OSError, ValueError):
            total = limit + 1  # unknown
        if total > limit:
            entries = [entry for kind in _kind_folders() for entry in _entries(kind)]
            total = sum(entry.bytes for entry in entries)
            total -= sum(entry.bytes for entry in _take_out(_surplus(entries, total, limit)))
        record.write_text(str(total), "ascii")


def _surplus(entries: Sequence[_Entry], total: int, limit: int) -> list[_Entry]:
    """The entries to remove, the one that was not used for the longest time first."""
    if total <= limit:
        return []
    surplus: list[_Entry] = []
    for entry in sorted(entries, key=lambda entry: entry.used):
        if total <= limit * _TARGET or time.time() - entry.used <= RECENT:
            break
        surplus.append(entry)
        total -= entry.bytes
    return surplus


def _take_out(entries: Sequence[_Entry]) -> list[_Entry]:
    """Remove entries, with the lock of the whole cache held; give those that are gone now."""
    removed = []
    for entry in entries:
        # Hidden first, in one step: nobody gets an entry of which half is gone.
        hidden = entry.folder.with_name(f".{entry.folder.name.lstrip('.')}.removed")
        with contextlib.suppress(FileNotFoundError):
            entry.folder.rename(hidden)
            removed.append(entry)
        shutil.rmtree(hidden, ignore_errors=True)
        _entry_lock(entry.folder).unlink(missing_ok=True)
    return removed


# --- Locks ----------------------------------------------------------------------------------------


def _entry_lock(folder: Path) -> Path:
    return cache_folder() / ".locks" / f"{folder.parent.name}-{folder.name}"


@contextlib.contextmanager
def _whole_cache(how: int) -> Iterator[None]:
    """Hold the lock of the whole cache, shared or exclusively."""
    with _lock(cache_folder() / ".locks" / "all", how):
        yield


def _lock(path: Path, how: int = fcntl.LOCK_EX) -> contextlib.AbstractContextManager[object]:
    """Take a lock, which closing gives back. Raises OSError if its file cannot be made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("wb")
    with contextlib.suppress(OSError):  # some network folders have no locks
        fcntl.flock(file, how)
    return file
