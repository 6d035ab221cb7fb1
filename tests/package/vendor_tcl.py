"""Runs a script in Tcl with a double of its tool."""

import functools
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.package.vendor_doubles import CommandError, Double

_PRELUDE = """
rename puts to_file
proc puts {args} {
    if {[llength $args] == 1} { return [said out {*}$args] }
    if {[lindex $args 0] in {stdout stderr}} { return [said {*}$args] }
    uplevel 1 [list to_file {*}$args]
}
proc step {command operation} {
    set frame [info frame -2]
    if {[dict exists $frame file]} {
        set ::lines([dict get $frame file],[dict get $frame line]) executed
    }
}
proc defined {command args} {
    trace add execution [lindex $command 1] enterstep ::step
}
proc clock {what args} { return [expr {$what eq "seconds" ? 1 : "2026-12-24"}] }
proc exit {status} { ended $status }
proc of_tool {name arguments} {
    lassign [call_tool $name {*}$arguments] code value
    return -code $code $value
}
"""


@dataclass
class Outcome:
    """What a script did.

    Parameters
    ----------
    status : with which it ended; None if it did not call exit
    said, errors : lines on the standard output and on that of errors
    lines : numbers of the lines of each file that were executed in procedures
    """

    status: int | None = None
    said: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    lines: dict[str, set[int]] = field(default_factory=dict)


def run_tcl(double: Double, script: Path, *arguments: str, trace: bool = False) -> Outcome:
    """Run a script in the current folder."""
    tkinter = pytest.importorskip("tkinter", reason="this Python has no Tcl")
    tcl, outcome = tkinter.Tcl(), Outcome()
    commands = double.all_commands()

    def call(name: str, *words: str) -> tuple[str, str]:
        try:
            return "ok", commands[name](*words) or ""
        except CommandError as failure:
            return "error", str(failure)
        except Exception as wrong:
            failures.append(wrong)
            return "error", repr(wrong)

    def said(channel: str, text: str) -> str:
        (outcome.errors if channel == "stderr" else outcome.said).append(text)
        return ""

    def ended(status: str) -> str:
        outcome.status = int(status)
        return ""

    failures: list[Exception] = []
    for name, function in (
        ("call_tool", call),
        ("said", said),
        ("ended", ended),
    ):
        tcl.createcommand(name, function)
    tcl.eval(_PRELUDE)
    tcl.eval(double.prelude())
    for name in commands:
        tcl.eval(f"proc {name} args {{ of_tool {name} $args }}")
    tcl.setvar(double.arguments, arguments)
    if trace:
        tcl.eval("trace add execution proc leave ::defined")
    tcl.call("source", str(script))
    for place in tcl.splitlist(tcl.eval("array names ::lines")):
        file, _, line = place.rpartition(",")
        outcome.lines.setdefault(Path(file).name, set()).add(int(line))
    if failures:
        raise failures[0]  # not one of a tool, but of the script or of this double
    return outcome


@functools.cache
def commands_of(text: str) -> frozenset[int]:
    """Numbers of the lines of a script on which a command of a procedure begins."""
    found, inside, continued = set(), False, False
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if line.startswith("proc "):
            inside = True
        elif line == "}":
            inside = False
        elif inside and not continued and words[:1].isalpha():
            found.add(number)
        continued = line.endswith("\\")
    return frozenset(found)
