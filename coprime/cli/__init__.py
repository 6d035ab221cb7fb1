"""The command line `coprime`: `main` runs the command that is asked for.

A command has two files of its name. That in `arguments/` has its options: `add_options` adds them
to a parser. The one next to this file has what it does, and is imported when it is run: `run`, or
`run_VERB` for each of its verbs, takes the parsed options and returns an exit status (None is 0).
So help, completion and wrong arguments load no more than the options.

A command in BY_FAMILY has two more files for engines of byte strings, whose inputs are other ones.
Those in SHARED have the same files, and `options.command` says which of them it is. Other
distributions add commands of the same kind: commands.py.
Options of several commands are in options.py, and `--device` in devices.py; printing is in
output.py, progress in progress.py, keys and passphrases in key_files.py. A new command is its two
files and a line in COMMANDS.
"""

import argparse
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence

from coprime import __version__
from coprime.catalog import CALL_FAMILIES, FAMILIES
from coprime.errors import CoprimeError
from coprime.flow.files import naming
from coprime.flow.long_work import reporting
from coprime.flow.tool_errors import ToolError, is_optional, not_installed

from .commands import ELSEWHERE, entries
from .options import BAD_INPUT, FAILED, Parser, check_design
from .output import STANDARD_OUTPUT, report_work

__all__ = ["main", "parser"]

COMMANDS: Mapping[str, str] = {
    "list": "List the families with parameters and operations.",
    "build": "Write an accelerator's Verilog, with all that takes it into a design.",
    "run": "Simulate one operation and compare it with Python's integers.",
    "synth": "Map a design to a device and count what it uses.",
    "program": "Load the bitstream that `synth --board` has written onto a board.",
    "choose": "Find the best measured design under a budget.",
    "rsa": "Keys, encryption and signatures on any device.",
    "ec": "Keys, shared secrets and signatures of elliptic curves on any device.",
    "ml-kem": "ML-KEM keys, encapsulation and decapsulation on any device.",
    "ml-dsa": "ML-DSA keys, signatures and verification on any device.",
    "x25519-mlkem768": "Shares and secrets of TLS 1.3's hybrid key exchange on any two devices.",
    "secp256r1-mlkem768": "The same with P-256 in place of X25519.",
    "secp384r1-mlkem1024": "The same with P-384 and ML-KEM-1024.",
    "soc": "Simulate a RISC-V system that encrypts, decrypts or exponentiates on an accelerator.",
    "simulate-board": "Simulate a board at a serial port, for --device serial:.",
    "token": "Build the PKCS #11 module; make a token ready, check it, repair it, save it.",
    "cache": "Show or clear what is kept for next time.",
    "completion": "Print a script that completes this command line in a shell.",
    "demo": "Decrypt and sign with a real key on a generated compact accelerator.",
}
"""Our own commands, with the line that `--help` prints for each."""
BY_FAMILY: Mapping[str, str] = {"run": "run_calls"}
"""Those that have other options for each family of engines of byte strings, with the names of the
files of these."""
SHARED: Mapping[str, str] = dict.fromkeys(
    ("x25519-mlkem768", "secp256r1-mlkem768", "secp384r1-mlkem1024"), "hybrid"
)
"""Those that share their files, with the name of these."""
_BAD_FILE = (
    *(FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError),
)
_BAD_INPUT = (ValueError, *_BAD_FILE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status: 0, 1 for failure, 2 for bad input."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        _check_installed(words)
        options = parser([name for name in entries() if name in words], words).parse_args(words)
        if options.check is not None:
            options.check(options)
        with reporting(report_work):
            status = int(_function(options)(options) or 0)
        with naming(STANDARD_OUTPUT):
            sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of the output has closed it
        _discard_output()
        return FAILED
    except _BAD_INPUT as error:
        return _complain(error, BAD_INPUT)
    except CoprimeError as error:
        return _complain(error, BAD_INPUT if error.is_of_input else FAILED)
    except OSError as error:
        return _complain(error, FAILED)
    except ModuleNotFoundError as error:
        if error.name is None or not is_optional(error.name):
            raise
        return _complain(not_installed(error.name), FAILED)
    except KeyboardInterrupt:
        return 130


def _check_installed(words: Sequence[str]) -> None:
    """Raise ToolError for a command of a distribution that is not installed."""
    name = words[0] if words else ""
    if name in ELSEWHERE and name not in entries():
        which = ELSEWHERE[name]
        raise ToolError(
            f"`coprime {name}` is a part of {which}, which is not installed: pip install {which}"
        )


def _complain(error: Exception, status: int) -> int:
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename or _unnamed()}: {error.strerror}"
    print(f"coprime: {text}", file=sys.stderr)
    return status


def _unnamed() -> str:
    """What an error without a name is of: standard output, if no further line can be written there.

    A flush does not tell: what could not be written may no longer be in the buffer.
    """
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        _discard_output()
        return STANDARD_OUTPUT
    return "a file could not be read or written"


def _discard_output() -> None:
    """What is still in the buffer would be written as Python ends, and fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser(
    commands: Collection[str] | None = None, words: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """The parser of the whole command line, with the options of all commands, or of those named.

    The first family in `words` determines the options of commands in BY_FAMILY.
    """
    made = Parser(
        prog="coprime", description="Generate, simulate and measure public-key coprocessors."
    )
    made.add_argument("--version", action="version", version=f"coprime {__version__}")
    verbs = made.add_subparsers(title="commands", required=True, metavar="COMMAND")
    family = next((word for word in words if word in CALL_FAMILIES or word in FAMILIES), "")
    for name, entry in entries().items():
        added = verbs.add_parser(name, help=entry.summary, description=entry.summary)
        added.set_defaults(command=name, verb=None, check=None, byte_strings=False)
        if commands is not None and name not in commands:
            continue
        if entry.for_byte_strings and family in CALL_FAMILIES:
            added.set_defaults(byte_strings=True, check=check_design)
            entry.arguments(byte_strings=True).add_options(added, family)
        else:
            entry.arguments().add_options(added)
    return made


def _function(options: argparse.Namespace) -> Callable[[argparse.Namespace], int | None]:
    """What does it."""
    verb: str | None = options.verb
    name = "run" if verb is None else f"run_{verb.replace('-', '_')}"
    module = entries()[options.command].module(byte_strings=options.byte_strings)
    found: Callable[[argparse.Namespace], int | None] = getattr(module, name)
    return found
