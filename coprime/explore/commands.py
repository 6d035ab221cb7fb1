"""`coprime sweep` and `coprime choose`: their options, and what they print."""

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from coprime.flow.ecp5 import DEFAULT_DEVICE, DEVICES

__all__ = ["RESULTS", "add_choose", "add_sweep", "run_choose", "run_sweep"]

RESULTS = Path("results.parquet")
"""Where results are looked for if no file is named."""


def add_sweep(parser: argparse.ArgumentParser) -> None:
    """Add the options of `coprime sweep`."""
    parser.add_argument(
        "specification",
        metavar="SPEC.toml",
        help="what to measure; all: the one of the report; full: whole engines of all families too",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="RESULTS.parquet", help="results file"
    )
    cluster = parser.add_mutually_exclusive_group()
    cluster.add_argument(
        "--workers", type=int, metavar="N", help="processes here (as many as there are cores)"
    )
    cluster.add_argument("--scheduler", metavar="ADDRESS", help="use an existing Dask cluster")


def run_sweep(options: argparse.Namespace) -> int:
    """Measure what a specification asks for; 1 if every point failed."""
    # Dask and Arrow take a second to import: only these commands wait for them.
    from .specification import read_specification
    from .sweep import sweep

    planned = read_specification(options.specification)
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown = bar.add_task("measuring", total=None)

        def progress(done: int, total: int, failed: int) -> None:
            what = f"measuring ({failed} failed)" if failed else "measuring"
            bar.update(shown, completed=done, total=total, description=what)

        summary = sweep(
            planned,
            options.output,
            workers=options.workers,
            scheduler=options.scheduler,
            progress=progress,
        )
    failed = summary.failed
    print(
        f"{options.output}: {len(summary.points)} points, {len(failed)} of them failed;"
        f" {summary.measured} measurements done, {summary.kept} known before"
    )
    for point in failed:
        what = f"{point.command.removesuffix(' -o DIR')}, {point.operation} at {point.bits} bits"
        print(f"failed: {what}: {point.reason}", file=sys.stderr)
    return 1 if len(failed) == len(summary.points) else 0


def add_choose(parser: argparse.ArgumentParser) -> None:
    """Add the options of `coprime choose`."""
    parser.add_argument(
        "--bits", type=int, required=True, metavar="N", help="length of the modulus"
    )
    parser.add_argument("--target", choices=["xc7", "ecp5"], required=True)
    parser.add_argument(
        "--operation",
        choices=["MODMUL", "MODEXP", "RSA_PUBLIC", "RSA_PRIVATE"],
        default="RSA_PRIVATE",
        help="what is to be fast (RSA_PRIVATE)",
    )
    parser.add_argument(
        "--device",
        choices=list(DEVICES),
        default=DEFAULT_DEVICE,
        help=f"that ecp5 was placed and routed on ({DEFAULT_DEVICE})",
    )
    parser.add_argument("--max-dsp", type=int, metavar="N", help="DSP slices")
    parser.add_argument("--max-lut", type=int, metavar="N", help="LUTs")
    parser.add_argument("--max-ms", type=float, metavar="T", help="milliseconds of an operation")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="FILE", help=f"of a sweep ({RESULTS})"
    )


def run_choose(options: argparse.Namespace) -> int:
    """Print the best measured designs under a budget, each with the command that builds it."""
    from .choose import Budget, choose, describe
    from .points import read_points

    if not options.results.is_file():
        raise ValueError(
            f"there is no file {options.results}; make it: coprime sweep all -o {options.results}"
        )
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
    return 0
