"""Key files and their passphrases on the command line."""

import argparse
import codecs
import getpass
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from coprime.catalog import MODULUS
from coprime.rsa import keys

from .options import STANDARD, chosen_settings, families_for_one_modulus
from .output import check_file

Key = TypeVar("Key")
_NO_TERMINAL = (
    "the key needs a passphrase, and there is no terminal to ask for it: name a file that holds it"
    " with --passphrase-file"
)


def take_modulus(options: argparse.Namespace) -> None:
    """Set -p modulus= to the modulus of --key, if that is given: no other number of the key.

    Raises KeyFileError or OSError as `load_public`; ValueError for a family for any modulus, and if
    -p names a modulus, too.
    """
    if options.key is None:
        return
    families = families_for_one_modulus()
    if options.family not in families:
        raise ValueError(
            f"--key makes {' or '.join(families)} for the key's modulus; {options.family} takes any"
            " key: leave --key out"
        )
    if MODULUS in chosen_settings(options):
        raise ValueError(f"--key and -p {MODULUS}= both name the modulus: leave one of them out")
    options.parameters = [*options.parameters, f"{MODULUS}={load_public(options).n:#x}"]


def passphrase(options: argparse.Namespace) -> bytes | None:
    """The passphrase in --passphrase-file; None without that option."""
    path: Path | None = getattr(options, "passphrase_file", None)
    return None if path is None else first_line(path)


def first_line(path: Path) -> bytes:
    """The first line of a file, without its end.

    ValueError for a text in UTF-16, OSError if it cannot be read.
    """
    data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{path} is text in UTF-16: write it again in ASCII or UTF-8")
    return data.partition(b"\n")[0].removesuffix(b"\r")


def load_private(options: argparse.Namespace) -> keys.RsaPrivateKey:
    """The private key of --key. Raises KeyFileError, or OSError if it cannot be read."""
    return load_key(keys.parse_private, options)


def load_public(options: argparse.Namespace) -> keys.RsaPublicKey:
    """The public key of --key, or of its private key. Raises as `load_private`."""
    return load_key(keys.parse_public, options)


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
    parse: Callable[[bytes, str | bytes | None], Key],
    options: argparse.Namespace,
    name: str = "key",
) -> Key:
    """The key that `parse` finds in the file of --key, or of another option; `-` is standard
    input. Asks for a missing passphrase.

    Raises KeyFileError; ValueError if standard input is needed for something else, too.
    """
    path: Path = getattr(options, name)
    given = passphrase(options)
    if str(path) == STANDARD:
        _check_standard_input(options)
        data = sys.stdin.buffer.read()
    else:
        data = keys.read_key_file(path)
    try:
        try:
            return parse(data, given)
        except keys.PassphraseMissingError:
            if given is not None:
                raise ValueError(
                    f"--passphrase-file {options.passphrase_file}: its first line is empty, and the"
                    " key needs a passphrase"
                ) from None
            return parse(data, ask(f"passphrase of {path}: ", _NO_TERMINAL))
    except keys.KeyFileError as error:
        raise keys.KeyFileError(f"--{name} {path}: {error}") from error


def _check_standard_input(options: argparse.Namespace) -> None:
    """ValueError unless one option at most has standard input."""
    named = {"--key": "key", "--peer": "peer", "--in": "source"}
    given = [
        option for option, name in named.items() if str(getattr(options, name, "")) == STANDARD
    ]
    if len(given) > 1:
        raise ValueError(
            f"{given[0]} and {given[1]} are both standard input: name a file for one of them"
        )


def check_new_files(private: Path, public: Path | None) -> None:
    """Raise ValueError unless -o and --public name two files that can be made, and are not yet."""
    if public is not None and public.absolute() == private.absolute():
        raise ValueError("--public and -o must name two files")
    for option, path in (("-o", private), ("--public", public)):
        if path is not None:
            check_file(option, path)
            if path.exists():
                raise ValueError(f"{path} exists, and a key is never overwritten")


def check_output(name: Path | str, *, option: str = "-o", **inputs: Path) -> None:
    """Raise ValueError, before any work, unless -o can be written and is none of the keys.

    `-` is standard output. `option` is another one that names an output.
    """
    if name == STANDARD:
        return
    path = Path(name)
    check_file(option, path)
    for other, taken in inputs.items():
        if path.resolve() == taken.resolve():
            raise ValueError(
                f"{option} and --{other} name one file, and a key is never overwritten"
            )


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
