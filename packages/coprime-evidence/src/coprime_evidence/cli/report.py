"""`coprime report`: a page of what was measured, beside the papers' figures."""

import argparse
import sys

from rich.console import Console

from coprime.cli.output import check_folder
from coprime.cli.progress import line_without_terminal
from coprime.cli.results import chosen_points
from coprime.explore.shipped import measured_points


def run(options: argparse.Namespace) -> None:
    """Write the report and print the paths of its files, the page first."""
    # Vega takes a second to import: only this command waits for them.
    from coprime_evidence.report.report import write_report

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
