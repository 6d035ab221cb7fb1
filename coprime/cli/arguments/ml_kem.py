"""Options of `coprime ml-kem`."""

from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS

from ..devices import add_call_device
from ..options import (
    Parser,
    add_input,
    add_json,
    add_key,
    add_output,
    add_passphrase,
    add_verb,
)

DEFAULT_SET = "ML-KEM-768"
FORMS = ("seed", "expanded", "both")


def add_options(parser: Parser) -> None:
    """Add the verbs of `coprime ml-kem` with their options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    keygen = add_verb(verbs, "keygen", "Make a key pair.")
    keygen.add_argument(
        "--set",
        type=str.upper,
        choices=[parameter_set.name for parameter_set in ML_KEM_SETS],
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
    encapsulate = add_verb(
        verbs, "encapsulate", "Make a shared secret, and its ciphertext for the owner of a key."
    )
    add_key(encapsulate, "the other's public key, PEM or DER", required=True)
    add_output(encapsulate)
    encapsulate.path("--secret", required=True, help="the shared secret: 32 bytes")
    decapsulate = add_verb(verbs, "decapsulate", "Compute the shared secret of a ciphertext.")
    add_key(decapsulate, "own private key, PEM or DER", required=True)
    add_passphrase(decapsulate)
    add_input(decapsulate)
    decapsulate.path("-o", "--output", required=True, help="the shared secret: 32 bytes")
    for verb in (keygen, public, encapsulate, decapsulate):
        add_call_device(verb)
        add_json(verb)
