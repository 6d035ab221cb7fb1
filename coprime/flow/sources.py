"""What results depend on besides their inputs: Coprime's own sources."""

import hashlib
import time
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_COMPILED = "__pycache__"
_RESULTS = _ROOT / "explore" / "measured.csv"
"""No source: nothing that is measured depends on it, and a sweep that updates it goes on."""
_BEGAN = time.time()


@cache
def sources(*more: str) -> str:
    """Hash of all files of the package, and of more packages: their names and contents."""
    digest = hashlib.sha256()
    for path in _files(*more):
        content = path.read_bytes()
        name = path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def sources_changed() -> bool:
    """Whether a file is newer than this process, which may have loaded what it was before."""
    return any(path.stat().st_mtime >= _BEGAN for path in _files())


def _files(*more: str) -> Iterator[Path]:
    """Those of Coprime, of what writes its Verilog, and of more packages."""
    roots = [_ROOT]
    for package in ("readable_verilog", *more):
        spec = find_spec(package)
        assert spec and spec.origin
        roots.append(Path(spec.origin).parent)
    for path in sorted(path for root in roots for path in root.rglob("*")):
        if path.is_file() and path.parent.name != _COMPILED and path != _RESULTS:
            yield path
