"""`coprime choose`: the best measured designs under a budget."""

import argparse
from pathlib import Path

from coprime.flow.ecp5 import DEFAULT_DEVICE, DEVICES

from .options import RESULTS, check_results

__all__ = ["SUMMARY", "add_options", "run"]

SUMMARY = "Find the best measured design under a budget."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `coprime choose`."""
    parser.add_argument(
        "--bits", type=int, required=True, metavar="N", help="length of the modulus"
    )
    parser.add_argument("--target", choices=["xc7", "ecp5"], required=True)
    parser.add_argument(
        "--operation",
        choices=["MODMUL", "MODEXP", "RSA_PUBLIC", "RSA_PRIVATE"],
        default="RSA_PRIVATE",
        help="operation that is to be fast (RSA_PRIVATE)",
    )
    parser.add_argument(
        "--device",
        choices=list(DEVICES),
        default=DEFAULT_DEVICE,
        help=f"device that ecp5 was placed and routed on ({DEFAULT_DEVICE})",
    )
    parser.add_argument("--max-dsp", type=int, metavar="N", help="maximum number of DSP slices")
    parser.add_argument("--max-lut", type=int, metavar="N", help="maximum number of LUTs")
    parser.add_argument(
        "--max-ms", type=float, metavar="T", help="maximum milliseconds of an operation"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=RESULTS,
        metavar="FILE",
        help=f"results of a sweep ({RESULTS})",
    )


def run(options: argparse.Namespace) -> None:
    """Print the best measured designs under a budget, each with the command that builds it."""
    from coprime.explore.choose import Budget, choose, describe
    from coprime.explore.points import read_points

    check_results(options.results)
    best = choose(
        read_points(options.results),
        bits=options.bits,
        target=options.target,
        operation=options.operation,
        device=options.device,
        budget=Budget(options.max_dsp, options.max_lut, options.max_ms),
    )
    for point in best:
        print(describe(point))
        print(f"    {point.command}")
