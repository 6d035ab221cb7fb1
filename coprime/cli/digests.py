"""`--hash` and `--digest`: the digest of the input."""

import argparse
import re

from coprime.rsa.hashes import HASHES, digest_file, digest_size

from .options import Parser, open_input, read_input


def read_digest(options: argparse.Namespace, name: str, *, given: bool) -> bytes:
    """The digest of --in with the hash that is called `name`; or --in itself, if that is given.

    ValueError if what is given has another length, OSError if --in cannot be read.
    """
    if not given:
        with open_input(options) as file:
            return digest_file(name, file)
    data, size = read_input(options), digest_size(name)
    if len(data) != size:
        raise ValueError(f"a digest of {name} has {size} bytes, and the input {len(data)}")
    return data


def add_digest(parser: Parser) -> None:
    """Add --digest, which `read_digest` is `given`."""
    parser.flag("--digest", "the input is the message's digest, in bytes")


def add_hash(parser: Parser, name: str, text: str, default: str | None = None) -> None:
    """Add an option that is the name of a hash function, as OpenSSL and standards write it, too."""
    parser.add_argument(name, type=_hash_name, choices=list(HASHES), default=default, help=text)


def _hash_name(text: str) -> str:
    """The name in HASHES, for SHA3-256 or sha512-224."""
    plain = re.sub("[-_/]", "", text.lower())
    return next((name for name in HASHES if name.replace("_", "") == plain), text)
