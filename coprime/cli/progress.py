"""Progress of work that takes long: bars on a terminal, else lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from coprime.catalog import AnyDesign, CallChoice, SuiteChoice
from coprime.explore.explain import tree_gates
from coprime.flow.long_work import long_work

_MANY_GATES = 300_000  # unit gates of compressor trees that take more than half a minute to build


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show progress on a terminal; in a pipe one line, if it takes long.

    Gives a function to call with what has passed since the last call: parts of `total`, or without
    a total anything, such as clock cycles.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        line_without_terminal(what),
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        task = bar.add_task(what, total=total)
        yield lambda passed: bar.update(task, advance=passed)


def line_without_terminal(what: str) -> AbstractContextManager[None]:
    """Report work that takes long in one line, where no terminal shows its progress."""
    return nullcontext() if Console(stderr=True).is_terminal else long_work(what)


def announce(choice: AnyDesign) -> None:
    """Warn before work if building the hardware takes minutes."""
    if isinstance(choice, SuiteChoice):
        for engine in choice.engines:
            announce(engine)
        return
    if isinstance(choice, CallChoice):
        return
    gates = tree_gates(choice.core)
    if gates > _MANY_GATES:
        print(
            f"coprime: building compressor trees of about {gates:,} unit gates, which takes"
            " minutes",
            file=sys.stderr,
        )
