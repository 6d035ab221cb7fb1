"""Runs commands as a user does."""

import json
from unittest.mock import patch

from coprime.cli import main
from coprime.flow import long_work


def run(capsys, *arguments):
    """Exit status, standard output and standard error."""
    # Whether a compilation takes long depends on the machine, and on what it has kept.
    with patch.object(long_work, "PATIENCE", 3600):
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


def files_in(folder):
    """All files of a folder, as `coprime build` prints them."""
    return {str(path) for path in folder.rglob("*") if path.is_file()}


RUN_FIELDS = {
    *("family", "parameters", "operation", "bits", "result", "ok", "cycles"),
    *("predicted_cycles", "utilization", "seconds", "cycles_per_second"),
}
