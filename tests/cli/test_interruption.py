"""Ctrl-C: status 130 and not a word, from the first moment on."""

import gc
import signal
import subprocess
import sys
import time
import warnings

import pytest
from amaranth.hdl import Module

from coprime import __main__ as program

READY = b"ready\n"
PROGRAM = """
import signal
import sys
from coprime import __main__ as program
handle = signal.signal
def handle_and_say(*words):
    handle(*words)
    print("ready", flush=True)
signal.signal = handle_and_say
sys.argv[0] = "coprime"
sys.exit(program.main())
"""
"""The program, which says each time that it has set a handler."""


def start(*arguments):
    """A command as it begins to import its modules."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Of a test in the background, it may be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout.readline() == READY
    return process


@pytest.fixture(scope="module")
def seconds():
    """How long a command takes that only imports its modules."""
    begin = time.monotonic()
    with start("--version") as process:
        process.communicate()
    return time.monotonic() - begin


@pytest.mark.parametrize("part", [0, 0.2, 0.4, 0.6, 0.8])
def test_while_modules_are_imported(seconds, part):
    """And a little later, where at most what takes long has been said."""
    process = start("simulate-board", "compact")
    time.sleep(part * seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out.replace(READY, b"")) == (program.INTERRUPTED, b"")
    for line in err.decode().splitlines():
        assert line.startswith("coprime: ")
        assert line.endswith(" ...")


@pytest.fixture
def handlers(monkeypatch):
    """Handlers as in a process of its own, and as they were after it."""
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.matrix(quick=1)
@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("module", [1, 8, 20])
def test_while_a_design_is_elaborated(tmp_path, monkeypatch, capfd, module):
    """What has been made of it so far is deleted without a warning that it is not used."""
    elaborate, calls = Module.elaborate, []

    def interrupt(self, platform):
        calls.append(self)
        if len(calls) == module:
            signal.raise_signal(signal.SIGINT)
        return elaborate(self, platform)

    monkeypatch.setattr(Module, "elaborate", interrupt)
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path / "cache"))  # where no Verilog of it is kept
    size = f"max_bits={90 + module}"  # of which no other test has a design in this process
    words = ["coprime", "build", "fdfm", "-p", size, "-o", str(tmp_path / "folder")]
    monkeypatch.setattr(sys, "argv", words)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert program.main() == program.INTERRUPTED
        calls.clear()
        gc.collect()
    assert [str(warning.message) for warning in warned] == []
    assert capfd.readouterr() == ("", "")
    assert not (tmp_path / "folder").exists()


class InterruptedAsDeleted:
    """Python ignores an exception that is raised as an object is deleted."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("handlers")
def test_while_an_object_is_deleted(monkeypatch, capfd):
    def command():
        InterruptedAsDeleted()
        time.sleep(60)
        return 0

    monkeypatch.setattr("coprime.cli.main", command)
    with warnings.catch_warnings():
        start = time.monotonic()
        assert program.main() == program.INTERRUPTED
    assert time.monotonic() - start < 30
    assert capfd.readouterr() == ("", "")


class FailsAsDeleted:
    def __del__(self):
        raise ValueError("as it is deleted")


@pytest.mark.usefixtures("handlers")
def test_other_errors_while_an_object_is_deleted_are_shown(monkeypatch, capfd):
    monkeypatch.setattr("coprime.cli.main", lambda: FailsAsDeleted() and 0)
    assert program.main() == 0
    assert "ValueError: as it is deleted" in capfd.readouterr().err


@pytest.mark.usefixtures("handlers")
def test_the_handlers(monkeypatch):
    """What was ignored stays ignored; a command is interrupted by an exception."""
    seen = []
    monkeypatch.setattr("coprime.cli.main", lambda: seen.append(signal.getsignal(signal.SIGINT)))
    for handler in (signal.SIG_IGN, signal.default_int_handler):
        signal.signal(signal.SIGINT, handler)
        program.main()
        after = signal.getsignal(signal.SIGINT)
        assert after is (handler if handler is signal.SIG_IGN else program._leave)
    assert seen == [signal.SIG_IGN, program._interrupt]


@pytest.mark.usefixtures("handlers")
def test_an_interruption_that_a_command_does_not_catch(monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("coprime.cli.main", interrupt)
    assert program.main() == 130


@pytest.mark.usefixtures("handlers")
def test_as_the_handler_is_set(monkeypatch):
    """The first moment in which an interruption is an exception, before a command has begun."""
    set_handler = signal.signal

    def set_and_interrupt(number, handler):
        set_handler(number, handler)
        if handler is program._interrupt:
            signal.raise_signal(number)

    monkeypatch.setattr(signal, "signal", set_and_interrupt)
    assert program.main() == program.INTERRUPTED
