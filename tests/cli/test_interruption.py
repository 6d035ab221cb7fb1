"""Ctrl-C: status 130 and not a word, from the first moment on."""

import signal
import subprocess
import sys
import time

import pytest

from coprime import __main__ as program

COMMAND = [sys.executable, "-m", "coprime"]


def interrupted(arguments, seconds):
    """Exit status and what was printed, of a command that is interrupted after so long."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Of a test in the background, it may be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def until_python_runs():
    """Seconds from the start of an interpreter to its first line: in them it is not ours yet."""
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", ""], check=True)
    return 2 * (time.monotonic() - start)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, 0.3, 0.6, 0.9])
def test_while_modules_are_imported(part):
    """And a little later, where at most what takes long has been said."""
    begin = until_python_runs()
    start = time.monotonic()
    subprocess.run([*COMMAND, "--version"], check=True, capture_output=True)
    whole = time.monotonic() - start
    arguments = ["simulate-board", "compact"]
    status, out, err = interrupted(arguments, begin + part * max(0, whole - begin))
    assert (status, out) == (program.INTERRUPTED, b"")
    for line in err.decode().splitlines():
        assert line.startswith("coprime: ")
        assert line.endswith(" ...")


def test_the_handlers(monkeypatch):
    """What was ignored stays ignored; a command is interrupted by an exception, as before."""
    seen = []
    monkeypatch.setattr("coprime.cli.main", lambda: seen.append(signal.getsignal(signal.SIGINT)))
    before = signal.getsignal(signal.SIGINT)
    try:
        for handler in (signal.SIG_IGN, signal.default_int_handler):
            signal.signal(signal.SIGINT, handler)
            program.main()
            after = signal.getsignal(signal.SIGINT)
            assert after is (handler if handler is signal.SIG_IGN else program._leave)
        assert seen == [signal.SIG_IGN, signal.default_int_handler]
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interruption_that_a_command_does_not_catch(monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("coprime.cli.main", interrupt)
    before = signal.getsignal(signal.SIGINT)
    try:
        assert program.main() == 130
    finally:
        signal.signal(signal.SIGINT, before)
