"""`coprime soc`: a RISC-V system in simulation that decrypts on an accelerator."""

import argparse

from coprime.catalog import FAMILIES
from coprime.engine.contract import Command
from coprime.rsa import keys
from coprime.runs.numbers import random_lengths
from coprime.soc import decryption

from .key_files import add_passphrase, load_private
from .options import FAILED, Parser, add_design, add_json, chosen_engine, chosen_settings, location
from .output import print_json, progress

SUMMARY = "Simulate a RISC-V system that decrypts on an accelerator."


def add_options(parser: Parser) -> None:
    """Add the options of `coprime soc`."""
    add_design(parser)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--bits", type=int, metavar="N", help="length of a test key")
    source.add_argument("--key", type=location, metavar="FILE", help="RSA key, PEM or DER")
    add_passphrase(parser)
    parser.add_argument("--message", default=decryption.MESSAGE, help="message to encrypt for it")
    parser.number("--seed", "seed of the test key", 1)
    parser.flag("--no-software", "leave out the comparison with software")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Simulate the system; 1 if a message or the cycles are wrong."""
    choice = chosen_engine(options, "the system")
    key = None if options.key is None else load_private(options)
    lengths = random_lengths(Command.RSA_PRIVATE, options.bits) if key is None else key.lengths
    choice = choice.family.choose(chosen_settings(options), lengths, others=FAMILIES.values())
    decryption.check_lengths(lengths, choice)
    key = key or keys.generate(options.bits, seed=options.seed)
    ciphertext = decryption.encrypt(key, options.message)
    with progress("simulating") as passed:
        done = decryption.run_system(
            choice, key, ciphertext, software=not options.no_software, progress=passed
        )
    if options.json:
        print_json(done.record())
    else:
        print(done.transcript)
        print(done.table())
    ways = 1 if options.no_software else 2
    right = done.messages == [options.message] * ways
    return 0 if right and done.engine == done.predicted else FAILED
