"""`coprime report`: a page of what was measured, beside the papers' figures."""

import argparse
from pathlib import Path

from rich.console import Console

from .options import RESULTS, check_results
from .output import check_folder, line_without_terminal

__all__ = ["SUMMARY", "add_options", "run"]

SUMMARY = "Write the report of what was measured."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `coprime report`."""
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help=f"results of a sweep ({RESULTS} if it exists, else only the papers' figures)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="DIR", help="folder to write to"
    )


def run(options: argparse.Namespace) -> None:
    """Write the report and print the paths of its files, the page first."""
    # Arrow and Vega take a second to import: only this command waits for them.
    from coprime.explore.report import write_report

    check_folder("-o", options.output)
    results = options.results
    if results is not None:
        check_results(results)
    elif RESULTS.is_file():
        results = RESULTS
    console = Console(stderr=True)
    with line_without_terminal("writing the report"), console.status("writing") as status:
        paths = write_report(
            results, options.output, progress=lambda what: status.update(f"writing {what}")
        )
    for path in paths:
        print(path)
