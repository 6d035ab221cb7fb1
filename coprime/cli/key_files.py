"""Key files and their passphrases on the command line."""

import argparse
import getpass
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from coprime.rsa import keys

from .options import location

__all__ = [
    "add_key",
    "add_passphrase",
    "load_private",
    "load_public",
    "new_passphrase",
    "passphrase",
]

Key = TypeVar("Key")


def add_key(
    parser: argparse.ArgumentParser, text: str = "RSA key, PEM or DER", *, required: bool = False
) -> None:
    """Add --key."""
    parser.add_argument("--key", type=location, required=required, metavar="FILE", help=text)


def add_passphrase(parser: argparse.ArgumentParser) -> None:
    """Add --passphrase-file."""
    parser.add_argument(
        "--passphrase-file",
        type=location,
        metavar="FILE",
        help="file whose first line is the key's passphrase",
    )


def passphrase(options: argparse.Namespace) -> bytes | None:
    """The passphrase in --passphrase-file; None without that option."""
    if options.passphrase_file is None:
        return None
    first, _, _ = options.passphrase_file.read_bytes().partition(b"\n")
    return bytes(first.removesuffix(b"\r"))


def load_private(options: argparse.Namespace) -> keys.RsaPrivateKey:
    """The private key of --key. Raises KeyFileError, or OSError if it cannot be read."""
    return _load(keys.load_private, options)


def load_public(options: argparse.Namespace) -> keys.RsaPublicKey:
    """The public key of --key, or of its private key. Raises as `load_private`."""
    return _load(keys.load_public, options)


def new_passphrase(options: argparse.Namespace) -> bytes | None:
    """The passphrase for a key that is written; None if it is not to be encrypted.

    With --encrypt it is asked for twice unless --passphrase-file has it. Raises ValueError if the
    two differ, or if it is empty.
    """
    given = passphrase(options)
    if given is None and options.encrypt:
        given = _ask("new passphrase: ")
        if _ask("the same again: ") != given:
            raise ValueError("the two passphrases differ")
    if given == b"":
        raise ValueError("the passphrase must not be empty")
    return given


def _load(load: Callable[[Path, str | bytes | None], Key], options: argparse.Namespace) -> Key:
    """Load a key; ask for a missing passphrase."""
    given = passphrase(options)
    try:
        try:
            return load(options.key, given)
        except keys.PassphraseMissingError:
            return load(options.key, _ask(f"passphrase of {options.key}: "))
    except keys.KeyFileError as error:
        if isinstance(error.__cause__, OSError):  # the text has the file's name
            raise
        raise keys.KeyFileError(f"--key {options.key}: {error}") from error


def _ask(prompt: str) -> bytes:
    """Ask on the controlling terminal, without echo, wherever the input comes from.

    Raises ValueError if there is no terminal, since what is typed is never shown.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)  # it would show what is typed
        try:
            return getpass.getpass(prompt).encode()
        except (getpass.GetPassWarning, EOFError):
            raise ValueError(
                "the key needs a passphrase, and there is no terminal to ask for it: name a file"
                " that holds it with --passphrase-file"
            ) from None
