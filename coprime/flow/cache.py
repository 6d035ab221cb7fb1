"""What can be built again, kept by content: simulators, mapped and routed designs, measurements."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import platformdirs

from .tools import ToolError

__all__ = ["cache_folder", "cached"]


def cache_folder() -> Path:
    """Folder of what can be built again: COPRIME_CACHE, or the user's cache folder."""
    chosen = os.environ.get("COPRIME_CACHE")
    return Path(chosen).absolute() if chosen else platformdirs.user_cache_path("coprime")


def cached(kind: str, key: Sequence[str], build: Callable[[Path], None]) -> Path:
    """Give the folder that `build` has filled for `key`, building it if there is none yet.

    `kind` names the folder above. `build` gets a new empty folder; it appears in the cache in one
    step, so that nobody sees a half-made folder. While one process builds, others that want the
    same wait for it.
    """
    digest = hashlib.sha256("".join(f"{len(part)}:{part}" for part in key).encode()).hexdigest()
    parent = cache_folder() / kind
    folder = parent / digest[:32]
    if folder.is_dir():
        return folder
    try:
        parent.mkdir(parents=True, exist_ok=True)
        locks = cache_folder() / ".locks"
        locks.mkdir(exist_ok=True)
        lock = (locks / f"{kind}-{digest[:32]}").open("wb")
        fresh = Path(tempfile.mkdtemp(prefix=".", dir=parent))
    except OSError as error:
        raise ToolError(
            f"the cache folder {parent} cannot be written ({error.strerror}); COPRIME_CACHE may"
            " name another one"
        ) from error
    try:
        with contextlib.suppress(OSError):  # some network folders have no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir():
            return folder
        build(fresh)
        try:
            fresh.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster, with the same content
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        lock.close()
    return folder
