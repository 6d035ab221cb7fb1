"""`coprime choose`: the best measured designs under a budget."""

import argparse
import sys

from coprime.explore.choose import DEVICES, OTHER_PART, Budget, choose
from coprime.flow.targets import DEVICES as ALL_DEVICES

from .options import Parser, add_results, chosen_points

SUMMARY = "Find the best measured design under a budget."


def add_options(parser: Parser) -> None:
    """Add the options of `coprime choose`."""
    parser.add_argument(
        "--bits", type=int, required=True, metavar="N", help="length of the modulus"
    )
    parser.add_argument("--target", choices=list(DEVICES), required=True)
    parser.add_argument(
        "--operation",
        choices=["MODMUL", "MODEXP", "RSA_PUBLIC", "RSA_PRIVATE"],
        default="RSA_PRIVATE",
        help="operation that is to be fast (RSA_PRIVATE)",
    )
    parser.add_argument(
        "--part",
        choices=list(OTHER_PART),
        default=next(iter(OTHER_PART)),
        help="whose area and clock count: the complete accelerator's (accelerator), or those of the"
        " engine without registers and bus",
    )
    parser.add_argument(
        "--device",
        choices=list(ALL_DEVICES),
        help="device that counts of those that the target was placed and routed on"
        f" (ecp5: {DEVICES['ecp5']}; others: the smallest)",
    )
    parser.number("--max-dsp", "maximum number of DSP slices")
    parser.number("--max-lut", "maximum number of LUTs")
    parser.add_argument(
        "--max-ms", type=float, metavar="T", help="maximum milliseconds of an operation"
    )
    add_results(parser)


def run(options: argparse.Namespace) -> None:
    """Print the best measured designs under a budget, each with the command that builds it."""
    points, source = chosen_points(options)
    best = choose(
        points,
        bits=options.bits,
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
