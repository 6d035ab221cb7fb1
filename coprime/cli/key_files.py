"""Key files and their passphrases on the command line."""

import argparse
import getpass
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from coprime.rsa import keys

__all__ = ["add_key", "add_passphrase", "load_private", "load_public", "passphrase"]

Key = TypeVar("Key")


def add_key(
    parser: argparse.ArgumentParser, text: str = "RSA key, PEM or DER", *, required: bool = False
) -> None:
    """Add --key."""
    parser.add_argument("--key", type=Path, required=required, metavar="FILE", help=text)


def add_passphrase(parser: argparse.ArgumentParser) -> None:
    """Add --passphrase-file."""
    parser.add_argument(
        "--passphrase-file",
        type=Path,
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


def _load(load: Callable[[Path, str | bytes | None], Key], options: argparse.Namespace) -> Key:
    """Load a key; ask for a missing passphrase if standard input is a terminal."""
    given = passphrase(options)
    try:
        return load(options.key, given)
    except keys.PassphraseMissingError:
        if not sys.stdin.isatty():
            raise
        return load(options.key, getpass.getpass(f"passphrase of {options.key}: "))
