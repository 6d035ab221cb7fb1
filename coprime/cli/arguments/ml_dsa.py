"""Options of `coprime ml-dsa`."""

import re

from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from ..devices import DEFAULT_OF_SIGNATURES, add_call_device
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
from .certificates import add_certificates

DEFAULT_SET = "ML-DSA-65"
FORMS = ("seed", "expanded", "both")
HASHES = (
    *("sha224", "sha256", "sha384", "sha512", "sha512_224", "sha512_256"),
    *("sha3_224", "sha3_256", "sha3_384", "sha3_512", "shake_128", "shake_256"),
)


def add_options(parser: Parser) -> None:
    """Add the verbs of `coprime ml-dsa` with their options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    keygen = add_verb(verbs, "keygen", "Make a key pair.")
    keygen.add_argument(
        "--set",
        type=str.upper,
        choices=[parameter_set.name for parameter_set in ML_DSA_SETS],
        default=DEFAULT_SET,
        help=f"parameter set (default: {DEFAULT_SET})",
    )
    keygen.choice(
        "--form", FORMS, "what is written: the seed, the expanded key, or both (seed)", FORMS[0]
    )
    keygen.path("-o", "--output", required=True)
    keygen.path("--public", help="write the public key too")
    keygen.flag("--der", "write DER, not PEM")
    keygen.flag("--encrypt", "encrypt the key; asks for a passphrase")
    add_passphrase(keygen)
    public = add_verb(verbs, "public", "Compute the public key of a private key.")
    add_key(public, "private key, PEM or DER", required=True)
    add_passphrase(public)
    public.flag("--der", "write DER, not PEM")
    add_output(public)
    sign = add_verb(verbs, "sign", "Sign a message with a private key.")
    add_key(sign, "private key, PEM or DER", required=True)
    add_passphrase(sign)
    _add_message(sign)
    sign.flag("--deterministic", "sign without random bytes, always the same for a message")
    add_output(sign)
    verify = add_verb(verbs, "verify", "Check a signature with a public key.")
    add_key(verify, "public key, PEM or DER", required=True)
    _add_message(verify)
    verify.path("--signature", required=True)
    made = add_certificates(verbs)
    for verb in made:
        add_key(verb, "private key, PEM or DER", required=True)
        add_passphrase(verb)
    for verb in (keygen, public, sign, verify, *made):
        add_call_device(verb, DEFAULT_OF_SIGNATURES)
    for verb in (keygen, public, sign, verify):
        add_json(verb)


def _add_message(parser: Parser) -> None:
    add_input(parser)
    parser.add_argument(
        *("--context",),
        type=hexadecimal_bytes,
        metavar="HEX",
        help="what both sides agree on, 0 to 255 bytes",
    )
    parser.add_argument(
        *("--hash",),
        type=_hash_name,
        choices=HASHES,
        help="HashML-DSA with this hash function (none: ML-DSA)",
    )
    parser.flag("--mu", "the input is mu, the message's representative: 64 bytes")


def _hash_name(text: str) -> str:
    """The name in HASHES, for SHA2-512/256, SHA3-256 or SHAKE128."""
    plain = re.sub("[-_/]", "", re.sub("^sha2[-_]", "sha", text.lower()))
    return next((name for name in HASHES if name.replace("_", "") == plain), text)
