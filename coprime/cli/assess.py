"""`coprime assess`: what an attacker could get out of a design, in simulation."""

import argparse
from collections.abc import Callable

from coprime.engine.contract import Command

from .options import add_design, add_json, location

__all__ = ["SUMMARY", "add_options", "run"]

SUMMARY = "Assess a design against faults, in simulation."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of `coprime assess` with their options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(
        name: str, run: Callable[[argparse.Namespace], int], text: str
    ) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    _add_faults_options(verb("faults", _faults, "Run an operation with faults, one in each run."))


def run(options: argparse.Namespace) -> None:
    """Refuse: the verbs have functions of their own."""
    raise ValueError("coprime assess needs a verb")


# --- Faults -------------------------------------------------------------------------------------


def _add_faults_options(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    _add_operation(parser)
    parser.add_argument("--flips", type=int, default=1000, metavar="N", help="runs (1000)")
    parser.add_argument(
        "-o", "--output", type=location, metavar="FOLDER", help="keep every run there"
    )
    add_json(parser)


def _faults(options: argparse.Namespace) -> int:
    """Run a campaign; 1 if a wrong result came out of a design that checks its results."""
    raise ValueError("coprime assess faults is not complete yet")


# --- Options of all verbs -----------------------------------------------------------------------


def _add_operation(parser: argparse.ArgumentParser) -> None:
    """Add what is run: the operation, its length, and the seed of everything that is drawn."""
    parser.add_argument(
        "--operation",
        choices=[one.name for one in Command if one is not Command.WIPE],
        help="operation (RSA_PRIVATE where the family has it, otherwise MODEXP)",
    )
    parser.add_argument(
        "--bits", type=int, default=64, metavar="N", help="length of the modulus (64)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="seed of key, input and draws (1)"
    )
