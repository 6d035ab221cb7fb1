"""Options of `coprime ec`."""

from coprime.ec.curves import CURVES
from coprime.ec.names import find_curve

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

DER, RAW, RECOVERABLE = "der", "raw", "recoverable"
DETERMINISTIC, RANDOM, DEVICE = "deterministic", "random", "device"


def add_options(parser: Parser) -> None:
    """Add the verbs of `coprime ec` with their options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    keygen = add_verb(verbs, "keygen", "Make a key pair.")
    keygen.add_argument(
        "--curve",
        type=_curve_name,
        choices=list(CURVES),
        default="X25519",
        help="curve (default: X25519)",
    )
    keygen.path("-o", "--output", required=True)
    keygen.path("--public", help="write the public key too")
    keygen.flag("--der", "write DER, not PEM")
    keygen.flag("--encrypt", "encrypt the key; asks for a passphrase")
    add_passphrase(keygen)
    add_device(keygen, optional=True, curves=True)
    add_json(keygen)
    public = add_verb(verbs, "public", "Compute the public key of a private key.")
    add_key(public, "private key, PEM or DER", required=True)
    add_passphrase(public)
    public.flag("--der", "write DER, not PEM")
    add_output(public)
    add_device(public, curves=True)
    add_json(public)
    derive = add_verb(verbs, "derive", "Compute the secret that two keys share.")
    add_key(derive, "own private key, PEM or DER", required=True)
    add_passphrase(derive)
    derive.path("--peer", required=True, help="the other's public key, PEM or DER")
    derive.path("-o", "--output", required=True, help="the shared secret: a coordinate's bytes")
    add_device(derive, curves=True)
    add_json(derive)
    sign = add_verb(verbs, "sign", "Sign a message with a private key: ECDSA or EdDSA.")
    add_key(sign, "private key, PEM or DER", required=True)
    add_passphrase(sign)
    _add_signature(sign, "sign with the lower one of s and n - s, as on secp256k1 in Bitcoin")
    sign.choice(
        "--nonce",
        [DETERMINISTIC, RANDOM, DEVICE],
        f"nonce from key and digest, random, or drawn by the device (default: {DETERMINISTIC})",
    )
    add_output(sign)
    add_device(sign, curves=True)
    add_json(sign)
    verify = add_verb(verbs, "verify", "Check a signature with a public key.")
    add_key(verify, "public key, PEM or DER", required=True)
    _add_signature(verify, "refuse the higher one of s and n - s")
    verify.path("--signature", required=True)
    add_device(verify, curves=True)
    add_json(verify)


def _add_signature(parser: Parser, low_s: str) -> None:
    add_input(parser)
    add_hash(parser, "--hash", "hash function (sha256)")
    add_digest(parser)
    parser.choice(
        "--format",
        [DER, RAW, RECOVERABLE],
        f"encoding; raw: r and s; recoverable: with a recovery number (default: {DER})",
    )
    parser.flag("--low-s", low_s)
    parser.flag("--prehash", "sign as Ed25519ph or Ed448ph, which hash the message first")
    parser.add_argument(
        "--context", type=hexadecimal_bytes, metavar="HEX", help="context of Ed25519ctx or Ed448"
    )


def _curve_name(text: str) -> str:
    """The name of a curve, as `find_curve` finds it: p256, prime256v1."""
    found = find_curve(text, CURVES.values())
    return text if found is None else found.name
