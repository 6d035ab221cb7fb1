"""`coprime demo`: decrypt and sign with a real key on a generated accelerator."""

import argparse

from coprime.explore.demo import FAMILY, demonstrate

from .key_files import add_key, add_passphrase, load_private
from .options import FAILED, Parser
from .output import progress

SUMMARY = f"Decrypt and sign with a real key on a generated {FAMILY} accelerator."


def add_options(parser: Parser) -> None:
    """Add the options of `coprime demo`."""
    add_key(parser, "RSA key (default: a new one)")
    parser.number("--bits", "length of a new key", 2048, metavar=None)
    add_passphrase(parser)


def run(options: argparse.Namespace) -> int:
    """Run the demonstration; 1 if something in it is wrong."""
    key = load_private(options) if options.key else None
    with progress("simulating") as passed:
        return 0 if demonstrate(key, options.bits, progress=passed) else FAILED
