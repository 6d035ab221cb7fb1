"""`coprime report`: its options, and what it prints."""

import argparse
from pathlib import Path

from rich.console import Console

from .commands import RESULTS

__all__ = ["add_report", "run_report"]


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of `coprime report`."""
    parser.add_argument(
        "--results",
        type=Path,
        metavar="RESULTS.parquet",
        help=f"of a sweep ({RESULTS} if it exists, else the papers' figures alone)",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder")


def run_report(options: argparse.Namespace) -> int:
    """Write the report and print the paths of its files, the page first."""
    # Arrow and Vega take a second to import: only this command waits for them.
    from .report import write_report

    results = options.results
    if results is None and RESULTS.is_file():
        results = RESULTS
    elif results is not None and not results.is_file():
        raise ValueError(f"there is no file {results}; make it: coprime sweep all -o {results}")
    console = Console(stderr=True)
    with console.status("writing") as status:
        paths = write_report(
            results, options.output, progress=lambda what: status.update(f"writing {what}")
        )
    for path in paths:
        print(path)
    return 0
