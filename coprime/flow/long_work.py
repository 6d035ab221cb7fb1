"""Saying what takes long: one line for work that is not over in two seconds.

Work is wrapped in `long_work` where it is done; `reporting` says where the lines go. Without it, as
in a program that uses Coprime as a library, nothing is said.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PATIENCE = 2.0  # seconds after which work is long

_report: ContextVar[Callable[[str], None] | None] = ContextVar("report", default=None)
_current: ContextVar["_Notice | None"] = ContextVar("current", default=None)


@contextmanager
def reporting(report: Callable[[str], None]) -> Iterator[None]:
    """Give `report`, from another thread, what is being done once that takes long."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def report(what: str) -> None:
    """Report what happens at once, if anybody listens."""
    tell = _report.get()
    if tell is not None:
        tell(what)


@contextmanager
def long_work(what: str) -> Iterator[None]:
    """Report `what` if the block takes long, without what is reported inside of it."""
    report, outer = _report.get(), _current.get()
    if report is None:
        yield
        return
    notice = _Notice(what, report)
    token = _current.set(notice)
    if outer is not None:
        outer.stop()
    notice.start()
    try:
        yield
    finally:
        notice.stop()
        _current.reset(token)
        if outer is not None:
            outer.start()


class _Notice:
    """A line that is due after PATIENCE seconds, once."""

    def __init__(self, what: str, report: Callable[[str], None]):
        self._what, self._report = what, report
        self._said = False
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        if not self._said:
            self._timer = threading.Timer(PATIENCE, self._say)
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _say(self) -> None:
        self._said = True
        self._report(self._what)
