"""openFPGALoader, which brings a bitstream to a board."""

import ctypes.util
import sys
from pathlib import Path

from .board import Board
from .tool_errors import ToolError
from .tools import run_tool, tool_version

_COMMAND = "openfpgaloader-cli"
_LIBRARY = "ftdi1"


def find_bitstream(board: Board, folder: Path) -> Path:
    """The bitstream for a board in a folder that `coprime synth --board` has written.

    Raises ValueError if there is none, or more than one.
    """
    end = board.flow.bitstream or ".bit"
    name = board.name.replace("-", "_")
    found = sorted(folder.glob(f"*_on_{name}{end}"))
    if len(found) != 1:
        what = "more than one" if found else "no"
        raise ValueError(
            f"there is {what} bitstream for {board.name} in {folder} (*_on_{name}{end})"
        )
    return found[0]


def load_command(board: Board, bitstream: Path, *, flash: bool = False) -> list[str]:
    """The command that loads a bitstream; with `flash` it stays when the power is off."""
    tool = Path(sys.executable).with_name(_COMMAND)
    store = ["--write-flash"] if flash else []
    return [str(tool), *board.loader, *store, str(bitstream)]


def load(board: Board, bitstream: Path, *, flash: bool = False) -> str:
    """Load a bitstream, and return what openFPGALoader prints.

    Raises ToolError if it is not installed or fails, such as without a board.
    """
    tool_version("openfpgaloader")
    if ctypes.util.find_library(_LIBRARY) is None:
        raise ToolError(
            "openFPGALoader needs the library libftdi1 (on Debian: apt-get install libftdi1-2)"
        )
    return run_tool("openFPGALoader", load_command(board, bitstream, flash=flash))
