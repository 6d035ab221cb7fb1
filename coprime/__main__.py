"""The command line, as `coprime` or `python -m coprime`.

Its modules take a second to import. Ctrl-C ends the process then, too: silently, with status 130.
"""

import os
import signal
import sys

INTERRUPTED = 130  # exit status


def main() -> int:
    """Run a command; return its exit status."""
    # Of a process that was started to ignore the signal, it stays ignored.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return _run()
    signal.signal(signal.SIGINT, _leave)
    try:
        return _run()
    finally:  # the interpreter's own end can be interrupted, too
        signal.signal(signal.SIGINT, _leave)


def _run() -> int:
    from coprime.cli import main as run_command

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return run_command()
    except KeyboardInterrupt:
        return INTERRUPTED


def _leave(*_: object) -> None:
    """End at once: nothing has been started, or all is done."""
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
