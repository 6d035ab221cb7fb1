"""`coprime report`: a page of what was measured, beside the papers' figures."""

import argparse
import sys

from rich.console import Console

from coprime.explore.shipped import measured_points

from .options import Parser, add_folder, add_results, chosen_points
from .output import check_folder, line_without_terminal

SUMMARY = "Write the report of what was measured."


def add_options(parser: Parser) -> None:
    """Add the options of `coprime report`."""
    add_results(parser)
    add_folder(parser, "folder to write to", required=True)


def run(options: argparse.Namespace) -> None:
    """Write the report and print the paths of its files, the page first."""
    # Vega takes a second to import: only this command waits for them.
    from coprime.explore.report import write_report

    check_folder("-o", options.output)
    points, source = chosen_points(options, measured_points)
    print(source, file=sys.stderr)
    console = Console(stderr=True)
    with line_without_terminal("writing the report"), console.status("writing") as status:
        paths = write_report(
            points,
            options.output,
            progress=lambda what, share: status.update(f"writing {what} ({share:.0%})"),
        )
    for path in paths:
        print(path)
