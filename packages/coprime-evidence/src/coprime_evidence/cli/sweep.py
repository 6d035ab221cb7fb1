"""`coprime sweep`: many points of the design space, measured into a results file."""

import argparse
import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from coprime.cli.options import FAILED, chosen_workers
from coprime.cli.output import check_file
from coprime.cli.progress import line_without_terminal
from coprime_evidence.sweeps.specification_names import SPECIFICATIONS


def run(options: argparse.Namespace) -> int:
    """Measure what a specification asks for; 1 if every point failed."""
    # Dask and Arrow take seconds to import: nobody waits for them to learn of a wrong input.
    from coprime.explore.points import check_format
    from coprime_evidence.sweeps.specification import read_specification

    check_format(options.output)
    check_file("-o", options.output)
    workers = chosen_workers(options)
    planned = read_specification(options.specification)
    from coprime_evidence.sweeps.sweep import sweep

    console = Console(stderr=True)
    text = TextColumn("{task.description}")
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        line_without_terminal(f"measuring {len(planned)} points"),
        Progress(*columns, console=console, disable=not console.is_terminal) as bar,
    ):
        shown = bar.add_task("measuring", total=None)

        def progress(done: int, total: int, failed: int) -> None:
            what = f"measuring ({failed} failed)" if failed else "measuring"
            bar.update(shown, completed=done, total=total, description=what)

        summary = sweep(
            planned,
            options.output,
            name=name if (name := options.specification) in SPECIFICATIONS else "",
            update=options.update,
            workers=workers,
            scheduler=options.scheduler,
            announce=lambda work: console.print(work.text, soft_wrap=True),
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
    return FAILED if len(failed) == len(summary.points) else 0
