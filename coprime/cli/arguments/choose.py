"""Options of `coprime choose`."""

import argparse

from coprime.catalog import call_names
from coprime.ec.curves import CURVES
from coprime.ec.names import find_curve
from coprime.errors import hint
from coprime.explore.choices import DEVICES, OTHER_PART
from coprime.flow.targets import DEVICES as ALL_DEVICES
from coprime.operations.commands import Command

from ..options import Parser, add_json, add_results

_DEFAULT = "RSA_PRIVATE"  # what is to be fast


def add_options(parser: Parser) -> None:
    """Add the options of `coprime choose`."""
    text = (
        "length of the modulus; of an operation on a curve, of its field: 256 is P-256; of SHA-3"
        " and SHAKE, of the message"
    )
    parser.add_argument("--bits", type=int, metavar="N", help=text)
    text = (
        "curves of the operations on curves, one or several with commas: P-256,Ed25519,X25519;"
        " cycles are predicted where they were not measured"
    )
    parser.add_argument("--curve", type=_curve_names, metavar="NAMES", help=text)
    text = "parameter sets of the operations with some, one or several with commas: ML-KEM-768"
    parser.add_argument("--set", type=_names, default=[], metavar="NAMES", help=text)
    parser.add_argument("--target", choices=list(DEVICES), required=True)
    text = "operation to optimize for, or several with commas: RSA_PRIVATE,ECDSA_SIGN"
    text = f"{text} ({_DEFAULT})"
    default = [Command[_DEFAULT]]
    parser.add_argument(
        "--operation", type=_operations, default=default, metavar="NAMES", help=text
    )
    text = (
        "area and clock to compare: the complete accelerator's (accelerator), those of the"
        " engine without registers and bus, or a cluster's of many cores"
    )
    parser.choice("--part", OTHER_PART, text, next(iter(OTHER_PART)))
    text = "device whose clocks to compare, of those that the target was placed on"
    parser.choice(
        "--device", ALL_DEVICES, f"{text} (ecp5: {DEVICES['ecp5']}; others: the smallest)"
    )
    text = "clock of your design, for a target that is not placed and routed here, such as xc7"
    parser.number("--clock", text, metavar="MHZ", kind=float)
    parser.number("--max-dsp", "maximum number of DSP slices")
    parser.number("--max-lut", "maximum number of LUTs")
    parser.number("--max-cycles", "maximum number of cycles of an operation")
    parser.number("--max-ms", "maximum milliseconds of an operation", metavar="T", kind=float)
    add_results(parser)
    add_json(parser)


def _operations(text: str) -> list[Command | str]:
    """Operations with commas between them: commands, and names of calls on byte strings."""
    commands = {command.name: command for command in Command if command.operation.computes}
    found: list[Command | str] = []
    for name in text.split(","):
        known = [*commands, *(call_names() if name not in commands else ())]
        if name not in known:
            raise argparse.ArgumentTypeError(f"there is no {name!r}; {hint(name, known)}")
        found.append(commands.get(name, name))
    return found


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(text.split(",")))


def _curve_names(text: str) -> list[str]:
    """Names of curves, as `find_curve` finds them, with commas between them."""
    found = []
    for name in text.split(","):
        curve = find_curve(name, CURVES.values())
        if curve is None:
            nearest = hint(name, CURVES)
            raise argparse.ArgumentTypeError(f"there is no curve {name!r}; {nearest}")
        found.append(curve.name)
    return list(dict.fromkeys(found))
