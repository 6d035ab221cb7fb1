"""Options of `coprime rsa`."""

import argparse

from coprime.rsa.defaults import EXPONENT

from ..devices import add_device
from ..digests import add_digest, add_hash
from ..options import (
    Parser,
    add_input,
    add_json,
    add_key,
    add_output,
    add_passphrase,
    add_verb,
    hexadecimal_bytes,
)


def add_options(parser: Parser) -> None:
    """Add the verbs of `coprime rsa` with their options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    _add_keygen_options(add_verb(verbs, "keygen", "Make a key pair."))
    for name, text in (
        ("encrypt", "Encrypt a message with a public key."),
        ("decrypt", "Decrypt a ciphertext with a private key."),
        ("sign", "Sign a message with a private key."),
        ("verify", "Check a signature with a public key."),
    ):
        added = add_verb(verbs, name, text)
        add_key(added, "PEM or DER", required=True)
        add_passphrase(added)
        add_input(added)
        _add_padding(added, "oaep" if name in ("encrypt", "decrypt") else "pss")
        if name == "verify":
            added.path("--signature", required=True)
        else:
            add_output(added)
        add_device(added)
        add_json(added)


def _add_keygen_options(parser: Parser) -> None:
    parser.number("--bits", "length of the modulus", 2048, metavar=None)
    parser.number("--exponent", "public exponent", EXPONENT, metavar="E")
    parser.number("--p-bits", "length of p (half of --bits)")
    parser.number("--seed", "the same key every time: for tests only", metavar=None)
    parser.path("-o", "--output", required=True)
    parser.path("--public", help="write the public key too")
    parser.flag("--encrypt", "encrypt the key; asks for a passphrase")
    add_passphrase(parser)
    add_device(parser, optional=True)
    add_json(parser)


def _add_padding(parser: Parser, default: str) -> None:
    parser.add_argument(
        "--padding",
        choices=[default, "pkcs1"],
        default=default,
        help=f"padding (default: {default})",
    )
    add_hash(parser, "--hash", "hash function (sha256)")
    add_hash(parser, "--mgf-hash", "hash function of the mask (that of --hash)")
    if default == "oaep":
        parser.add_argument(
            "--label", type=hexadecimal_bytes, metavar="HEX", help="label of OAEP (default: empty)"
        )
        return
    parser.add_argument(
        "--salt-length",
        type=_salt_length,
        metavar="N|digest|max|auto",
        help="bytes of PSS's salt: a number; as many as the digest has; as many as fit; auto: any"
        " for verification, and digest for signing (auto)",
    )
    add_digest(parser)


def _salt_length(text: str) -> int | str:
    """A value of --salt-length."""
    if text in ("digest", "max", "auto"):
        return text
    if text.isascii() and text.isdigit():
        return int(text)
    raise argparse.ArgumentTypeError(f"0 or more bytes, digest, max or auto, not {text!r}")
