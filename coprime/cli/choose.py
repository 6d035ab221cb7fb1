"""`coprime choose`: the best measured designs under a budget."""

import argparse
import sys

from coprime.ec.samples import AnyCurve
from coprime.engine.contract import Command
from coprime.errors import hint
from coprime.explore.choose import DEVICES, OTHER_PART, Budget, choose
from coprime.explore.on_curve import on_curve
from coprime.explore.rebuild import area_command
from coprime.explore.shipped import shipped_points
from coprime.flow.targets import DEVICES as ALL_DEVICES

from .options import Parser, add_results, chosen_curve, chosen_points

SUMMARY = "Find the best measured design under a budget."
_DEFAULT = "RSA_PRIVATE"  # what is to be fast


def add_options(parser: Parser) -> None:
    """Add the options of `coprime choose`."""
    text = "length of the modulus; of an operation on a curve, of its field: 256 is P-256"
    parser.add_argument("--bits", type=int, metavar="N", help=text)
    text = "curve of the operations on curves, such as P-256: cycles are predicted for it"
    parser.add_argument("--curve", metavar="NAME", help=text)
    parser.add_argument("--target", choices=list(DEVICES), required=True)
    text = "operation to optimize for, or several with commas: RSA_PRIVATE,ECDSA_SIGN"
    text = f"{text} ({_DEFAULT})"
    parser.add_argument(
        "--operation", type=_commands, default=_commands(_DEFAULT), metavar="NAMES", help=text
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
    parser.number("--max-dsp", "maximum number of DSP slices")
    parser.number("--max-lut", "maximum number of LUTs")
    parser.number("--max-ms", "maximum milliseconds of an operation", metavar="T", kind=float)
    add_results(parser)


def run(options: argparse.Namespace) -> None:
    """Print the best measured designs under a budget, each with the command that builds it."""
    curves = _curves(options)
    points, source = chosen_points(options, shipped_points)
    wanted = {}
    for command, curve in curves.items():
        if curve is not None:
            here = [point for point in points if point.target == options.target]
            others = [point for point in here if point.operation != command.name]
            points = [*others, *on_curve(here, command, curve)]
        wanted[command.name] = options.bits if curve is None else curve.p.bit_length()
    best = choose(
        points,
        wanted=wanted,
        target=options.target,
        part=options.part,
        device=options.device,
        budget=Budget(options.max_dsp, options.max_lut, options.max_ms),
    )
    print(source, file=sys.stderr)
    for chosen in best:
        print("\n".join(chosen.lines))
        print(f"    {chosen.area}")
        print(f"    {chosen.point.command}")
        if chosen.point.stamped:
            print(f"    {area_command(chosen.point)}")


def _commands(text: str) -> list[Command]:
    """Operations with commas between them."""
    known = [command.name for command in Command if command.operation.computes]
    for name in text.split(","):
        if name not in known:
            raise argparse.ArgumentTypeError(f"there is no {name!r}; {hint(name, known)}")
    return [Command[name] for name in text.split(",")]


def _curves(options: argparse.Namespace) -> dict[Command, AnyCurve | None]:
    """The operations, each with the curve of --curve, or with None: its size is that of --bits.

    ValueError if a size is missing or is for none of them.
    """
    commands: list[Command] = options.operation
    if options.curve is None or not any(one.operation.on_curve for one in commands):
        curves = {one: chosen_curve(options, one) for one in commands}
    else:
        curves = {
            one: chosen_curve(options, one) if one.operation.on_curve else None for one in commands
        }
    of_bits = [one.name for one, curve in curves.items() if curve is None]
    if of_bits and options.bits is None:
        curve = " or --curve" if all(Command[one].operation.on_curve for one in of_bits) else ""
        raise ValueError(f"name the length of {' and '.join(of_bits)}: --bits{curve}")
    if options.bits is not None and not of_bits:
        raise ValueError("--curve names the size of all these operations: leave --bits out")
    return curves
