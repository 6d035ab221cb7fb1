"""The command line, as `coprime` or `python -m coprime`.

Its modules take a second to import. Ctrl-C ends the process then, too: silently, with status 130.
"""

import os
import signal
import sys
import warnings

INTERRUPTED = 130  # exit status
_AGAIN = 0.01  # seconds after which an interruption that was ignored is repeated


def main() -> int:
    """Run a command; return its exit status."""
    # Of a process that was started to ignore the signal, it stays ignored.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return _run()
    signal.signal(signal.SIGINT, _leave)
    try:
        try:
            return _run()
        finally:  # the interpreter's own end can be interrupted, too
            signal.signal(signal.SIGINT, _leave)
    except KeyboardInterrupt:  # from the moment on in which _interrupt is the handler
        return INTERRUPTED


def _run() -> int:
    from coprime.cli import main as run_command

    if signal.getsignal(signal.SIGINT) is _leave:
        sys.unraisablehook = _interrupt_again
        signal.signal(signal.SIGINT, _interrupt)
    return run_command()


def _leave(*_: object) -> None:
    """End at once: nothing has been started, or all is done."""
    os._exit(INTERRUPTED)


def _interrupt(*_: object) -> None:
    """Raise KeyboardInterrupt, without warnings that what is left half built is not used."""
    warnings.simplefilter("ignore")
    raise KeyboardInterrupt


def _interrupt_again(ignored: "sys.UnraisableHookArgs") -> None:
    """Repeat an interruption that Python ignores, as it does while an object is deleted.

    Elaboratables check as they are deleted whether they were used, so one of ten meets that.
    """
    if ignored.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(ignored)
        return
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, _AGAIN)


if __name__ == "__main__":
    sys.exit(main())
