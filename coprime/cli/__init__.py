"""The command line `coprime`: one file a command, and `main`, which runs the one that is asked for.

Each command's file has SUMMARY, the line that `--help` prints for it; `add_options`, which adds its
options to a parser; and, unless it has verbs, `run`, which takes the parsed options, with
`command_line`, which makes the whole parser, and returns an exit status (None is 0). Options that
several commands share are in options.py, printing and progress in output.py, keys and passphrases
in key_files.py, and `--device` in devices.py. A new command is a new file and its name in COMMANDS.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from coprime import __version__
from coprime.device.accelerator import EngineError
from coprime.engine.contract import Error
from coprime.errors import CoprimeError
from coprime.flow.files import naming
from coprime.flow.long_work import reporting
from coprime.flow.tools import is_optional, not_installed
from coprime.rsa import keys

from .options import BAD_INPUT, FAILED, Parser
from .output import STANDARD_OUTPUT, report_work

__all__ = ["main", "parser"]

COMMANDS = (
    *("list", "build", "run", "synth", "program", "sweep", "report", "choose", "rsa", "ec"),
    *("assess", "soc", "simulate-board", "token", "cache", "completion", "demo"),
)
_BAD_FILE = (
    *(FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError),
)
_BAD_INPUT = (ValueError, keys.KeyFileError, EngineError, *_BAD_FILE)
_FAILED = (CoprimeError, OSError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status: 0, 1 for failure, 2 for bad input."""
    words = sys.argv[1:] if arguments is None else arguments
    # The other commands' modules take longer to import than many a command to run.
    asked = words[:1] if words and words[0] in COMMANDS else COMMANDS
    try:
        options = parser(asked).parse_args(words)
        with reporting(report_work):
            status = int(options.run(options) or 0)
        with naming(STANDARD_OUTPUT):
            sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except _BAD_INPUT as error:
        failed = isinstance(error, EngineError) and error.code in (Error.BUSY, Error.FAULT)
        return _complain(error, FAILED if failed else BAD_INPUT)
    except _FAILED as error:
        return _complain(error, FAILED)
    except ModuleNotFoundError as error:
        if error.name is None or not is_optional(error.name):
            raise
        return _complain(not_installed(error.name), FAILED)
    except KeyboardInterrupt:
        return 130


def _complain(error: Exception, status: int) -> int:
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename or _unnamed()}: {error.strerror}"
    print(f"coprime: {text}", file=sys.stderr)
    return status


def _unnamed() -> str:
    """What an error without a name is of: standard output, if no further line can be written there.

    A flush does not tell: what could not be written is no longer in the buffer.
    """
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return STANDARD_OUTPUT
    return "a file could not be read or written"


def parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of the whole command line, or of some commands; each has a subparser."""
    made = Parser(
        prog="coprime", description="Generate, simulate and measure public-key coprocessors."
    )
    made.add_argument("--version", action="version", version=f"coprime {__version__}")
    verbs = made.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name in commands:
        command = import_module(f".{name.replace('-', '_')}", __name__)
        added = verbs.add_parser(name, help=command.SUMMARY, description=command.SUMMARY)
        # Of a command with verbs each verb has a function of its own.
        added.set_defaults(run=getattr(command, "run", None), command_line=parser)
        command.add_options(added)
    return made
