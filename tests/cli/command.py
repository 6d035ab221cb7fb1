"""Runs commands as a user does."""

import json

from coprime.cli import main


def run(capsys, *arguments):
    """Exit status, standard output and standard error."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as leave:
        status = leave.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def run_json(capsys, *arguments):
    status, out, err = run(capsys, *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


RUN_FIELDS = {
    *("family", "parameters", "operation", "bits", "result", "ok", "cycles"),
    *("predicted_cycles", "utilization", "seconds", "cycles_per_second"),
}


PROJECT_FILES = {
    name: [f"coprime_{name}.{kind}" for kind in ("svd", "xml", "core", "zynq.tcl")]
    for name in ("fdfm", "cluster")
}
