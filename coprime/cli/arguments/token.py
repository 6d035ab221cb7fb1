"""Options of `coprime token`."""

import argparse
from pathlib import Path

from coprime.token.token_files import MODULE

from ..options import Parser, add_folder, add_input, add_json, add_output, add_verb

_FOLDER = Path("build") / "token"
_SETS = ("ML-DSA-44", "ML-DSA-65", "ML-DSA-87")


def add_options(parser: Parser) -> None:
    """Add the verbs of `coprime token`."""
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    build = add_verb(verbs, "build", "Compile the module and its simulated engine.")
    add_folder(build, f"folder for both ({_FOLDER})", default=_FOLDER)
    make = add_verb(verbs, "init", "Initialize a token, deleting all that was in it.")
    make.add_argument("--label", required=True, help="name of the token, 32 bytes at most")
    make.number("--slot", "number of the slot", 0)
    text = "file whose first line is the PIN of the security officer; it is asked for otherwise"
    make.path("--so-pin-file", help=text)
    make.path(
        "--pin-file", help="file whose first line is the PIN of the user; it is asked for otherwise"
    )
    show = add_verb(verbs, "info", "Show the slots, their tokens and mechanisms, and keys.")
    text = "file with the user's PIN: shows private and secret keys, too"
    show.path("--pin-file", help=text)
    add_json(show)
    check = add_verb(verbs, "check", "Check a token's file and the previous one.")
    text = "file with the user's PIN: also detect changes that were made without it"
    check.path("--pin-file", help=text)
    fix = add_verb(verbs, "repair", "Replace a damaged file with the previous one.")
    copy = add_verb(verbs, "backup", "Back up a token's file.")
    copy.path("-o", "--output", required=True, help="the copy")
    signing = _add_signing(verbs)
    for verb in (check, fix, copy):
        verb.path("--dir", "-d", metavar="DIR", help="the token's folder (COPRIME_TOKEN_DIR)")
    for verb in (make, show, check, *signing):
        default = _FOLDER / MODULE
        verb.path("--module", default=default, help=f"the module ({default})")


def _add_signing(verbs: "argparse._SubParsersAction[Parser]") -> list[Parser]:
    """The verbs that make and use keys of ML-DSA."""
    keygen = add_verb(verbs, "keygen", "Make a key pair of ML-DSA in the token.")
    keygen.add_argument(
        "--set",
        type=str.upper,
        choices=_SETS,
        default=_SETS[1],
        help=f"parameter set (default: {_SETS[1]})",
    )
    certificate = add_verb(
        verbs, "certificate", "Write a certificate that a key of ML-DSA signs for itself."
    )
    certificate.number("--days", "how long it is valid", 365)
    certificate.flag("--ca", "it may sign certificates, and not messages")
    request = add_verb(verbs, "request", "Write a request for a certificate of a key of ML-DSA.")
    cms = add_verb(verbs, "cms", "Sign a file as CMS with a key of ML-DSA.")
    cms.path("--certificate", required=True, help="the key's, which goes with the signature")
    cms.flag("--detached", "write the signature without the file's contents")
    add_input(cms)
    for verb in (certificate, request):
        verb.add_argument("--subject", required=True, help="a name, such as CN=device,O=company")
    for verb in (certificate, request, cms):
        add_output(verb)
        verb.flag("--der", "write DER, not PEM")
    made = [keygen, certificate, request, cms]
    text = "file whose first line is the PIN of the user; it is asked for otherwise"
    for verb in made:
        verb.add_argument("--label", required=True, help="name of the key")
        verb.number("--slot", "number of the slot", 0)
        verb.path("--pin-file", help=text)
    return made
