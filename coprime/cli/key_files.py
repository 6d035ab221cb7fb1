"""Key files and their passphrases on the command line."""

import argparse
import getpass
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from coprime.rsa import keys

from .options import Parser
from .output import check_file

Key = TypeVar("Key")
_NO_TERMINAL = (
    "the key needs a passphrase, and there is no terminal to ask for it: name a file that holds it"
    " with --passphrase-file"
)


def add_key(parser: Parser, text: str = "RSA key, PEM or DER", *, required: bool = False) -> None:
    """Add --key."""
    parser.path("--key", required=required, help=text)


def add_passphrase(parser: Parser) -> None:
    """Add --passphrase-file."""
    parser.path("--passphrase-file", help="file whose first line is the key's passphrase")


def passphrase(options: argparse.Namespace) -> bytes | None:
    """The passphrase in --passphrase-file; None without that option."""
    path: Path | None = getattr(options, "passphrase_file", None)
    return None if path is None else first_line(path)


def first_line(path: Path) -> bytes:
    """The first line of a file, without its end."""
    return path.read_bytes().partition(b"\n")[0].removesuffix(b"\r")


def load_private(options: argparse.Namespace) -> keys.RsaPrivateKey:
    """The private key of --key. Raises KeyFileError, or OSError if it cannot be read."""
    return load_key(keys.load_private, options)


def load_public(options: argparse.Namespace) -> keys.RsaPublicKey:
    """The public key of --key, or of its private key. Raises as `load_private`."""
    return load_key(keys.load_public, options)


def new_passphrase(options: argparse.Namespace) -> bytes | None:
    """The passphrase for a key that is written; None if it is not to be encrypted.

    With --encrypt it is asked for twice unless --passphrase-file has it. Raises ValueError if the
    two differ, or if it is empty.
    """
    given = passphrase(options)
    if given is None and options.encrypt:
        given = ask("new passphrase: ", _NO_TERMINAL)
        if ask("the same again: ", _NO_TERMINAL) != given:
            raise ValueError("the two passphrases differ")
    if given == b"":
        raise ValueError("the passphrase must not be empty")
    return given


def load_key(
    load: Callable[[Path, str | bytes | None], Key], options: argparse.Namespace, name: str = "key"
) -> Key:
    """The key that `load` reads from the file of --key, or of another option; asks for a missing
    passphrase. Raises KeyFileError, or OSError if it cannot be read.
    """
    path: Path = getattr(options, name)
    given = passphrase(options)
    try:
        try:
            return load(path, given)
        except keys.PassphraseMissingError:
            return load(path, ask(f"passphrase of {path}: ", _NO_TERMINAL))
    except keys.KeyFileError as error:
        if isinstance(error.__cause__, OSError):  # the text has the file's name
            raise
        raise keys.KeyFileError(f"--{name} {path}: {error}") from error


def check_new_files(private: Path, public: Path | None) -> None:
    """Raise ValueError unless -o and --public name two files that can be made, and are not yet."""
    if public is not None and public.absolute() == private.absolute():
        raise ValueError("--public and -o must name two files")
    for option, path in (("-o", private), ("--public", public)):
        if path is not None:
            check_file(option, path)
            if path.exists():
                raise ValueError(f"{path} exists, and a key is never overwritten")


def check_output(name: Path | str, **inputs: Path) -> None:
    """Raise ValueError, before any work, unless -o can be written and is none of the keys.

    `-` is standard output.
    """
    if name == "-":
        return
    path = Path(name)
    check_file("-o", path)
    for option, other in inputs.items():
        if path.resolve() == other.resolve():
            raise ValueError(f"-o and --{option} name one file, and a key is never overwritten")


def ask(prompt: str, otherwise: str) -> bytes:
    """Ask on the controlling terminal, without echo, wherever the input comes from.

    Raises ValueError, which says `otherwise`, if there is no terminal, since what is typed is never
    shown.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)  # it would show what is typed
        try:
            return getpass.getpass(prompt).encode()
        except (getpass.GetPassWarning, EOFError):
            raise ValueError(otherwise) from None
