"""Options of `coprime token`."""

import argparse
from pathlib import Path

from coprime.token.token_files import MODULE

from ..options import Parser, add_design, add_folder, add_json, add_random, add_verb
from .certificates import add_certificates

_FOLDER = Path("build") / "token"
_SETS = ("ML-DSA-44", "ML-DSA-65", "ML-DSA-87")


def add_options(parser: Parser) -> None:
    """Add the verbs of `coprime token`."""
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    build = add_verb(verbs, "build", "Compile the module and its simulated engine.")
    add_folder(build, f"folder for both ({_FOLDER})", default=_FOLDER)
    text = "Write a simulated device, for the module's device sim:FILE."
    simulation = add_verb(verbs, "simulation", text)
    add_design(simulation, calls=True, suites=True)
    add_random(simulation)
    simulation.path("-o", "--output", required=True, help="the library")
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
    made = [keygen, *add_certificates(verbs)]
    text = "file whose first line is the PIN of the user; it is asked for otherwise"
    for verb in made:
        verb.add_argument("--label", required=True, help="name of the key")
        verb.number("--slot", "number of the slot", 0)
        verb.path("--pin-file", help=text)
    return made
