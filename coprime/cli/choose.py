"""`coprime choose`: the best measured designs under a budget."""

import argparse
import sys

from coprime.engine.contract import Command
from coprime.explore.choose import DEVICES, OTHER_PART, Budget, choose
from coprime.explore.on_curve import on_curve
from coprime.flow.targets import DEVICES as ALL_DEVICES

from .options import Parser, add_results, chosen_curve, chosen_points

SUMMARY = "Find the best measured design under a budget."


def add_options(parser: Parser) -> None:
    """Add the options of `coprime choose`."""
    size = parser.add_mutually_exclusive_group(required=True)
    text = "length of the modulus; of an operation on a curve, of its field: 256 is P-256"
    size.add_argument("--bits", type=int, metavar="N", help=text)
    text = "curve of the operation, such as P-256: cycles are predicted for it"
    size.add_argument("--curve", metavar="NAME", help=text)
    parser.add_argument("--target", choices=list(DEVICES), required=True)
    operations = [command.name for command in Command if command.operation.computes]
    text = "operation that is to be fast (RSA_PRIVATE)"
    parser.choice("--operation", operations, text, "RSA_PRIVATE")
    text = (
        "whose area and clock count: the complete accelerator's (accelerator), those of the"
        " engine without registers and bus, or a cluster's of many cores"
    )
    parser.choice("--part", OTHER_PART, text, next(iter(OTHER_PART)))
    text = "device that counts of those that the target was placed and routed on"
    parser.choice(
        "--device", ALL_DEVICES, f"{text} (ecp5: {DEVICES['ecp5']}; others: the smallest)"
    )
    parser.number("--max-dsp", "maximum number of DSP slices")
    parser.number("--max-lut", "maximum number of LUTs")
    parser.number("--max-ms", "maximum milliseconds of an operation", metavar="T", kind=float)
    add_results(parser)


def run(options: argparse.Namespace) -> None:
    """Print the best measured designs under a budget, each with the command that builds it."""
    command, bits = Command[options.operation], options.bits
    curve = chosen_curve(options, command)
    points, source = chosen_points(options)
    if curve is not None:
        here = [point for point in points if point.target == options.target]
        points, bits = on_curve(here, command, curve), curve.p.bit_length()
    best = choose(
        points,
        bits=bits,
        target=options.target,
        operation=options.operation,
        part=options.part,
        device=options.device,
        budget=Budget(options.max_dsp, options.max_lut, options.max_ms),
    )
    print(source, file=sys.stderr)
    for chosen in best:
        print(f"{chosen.time}, {chosen.security}")
        print(f"    {chosen.area}")
        print(f"    {chosen.point.command}")
