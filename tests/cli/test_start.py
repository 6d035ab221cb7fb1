"""What each command imports before it has something to do."""

import json
import subprocess
import sys

import pytest

from coprime.cli import parser
from coprime.cli.commands import entries

HEAVY = (
    *("amaranth", "amaranth_boards", "cryptography", "dask", "distributed", "jinja2", "numpy"),
    *("pyarrow", "pydantic", "pyosys", "pysat", "rich", "serial", "vl_convert"),
    "coprime.device",  # the drivers
)
PROGRAM = """
import contextlib, io, json, sys
from coprime.cli import main

cases, packages = json.load(sys.stdin)
found = []
for words in cases:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            status = main(words)
        except SystemExit as error:
            status = error.code
    found.append([status, sorted(name for name in packages if name in sys.modules)])
print(json.dumps(found))
"""


def leaves():
    """Each command with each of its verbs, as words."""
    for name in entries():
        (commands,) = parser([name])._subparsers._group_actions
        verbs = commands.choices[name]._subparsers
        yield [name]
        if verbs is not None:
            (action,) = verbs._group_actions
            yield from ([name, verb] for verb in action.choices)


def outcomes(cases, packages=HEAVY):
    """Status of each command line, and which of the packages are imported after it."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([cases, packages]),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


HELP = [["--help"], ["--version"], *([*words, "--help"] for words in leaves())]
WRONG = [
    [],
    ["buildx"],
    ["build"],
    ["build", "fdfn", "-o", "x"],
    ["build", "fdfm", "-p", "size=1", "-o", "x"],
    ["build", "fdfm", "-p", "max_bits=1", "-o", "x"],
    ["build", "ring", "-p", "dsp=0", "-o", "x"],
    ["build", "cluster", "-p", "cores=0", "-o", "x"],
    ["run", "fdfm", "MODMULL"],
    ["run", "fdfm", "MODMUL", "--x", "g"],
    ["synth", "fdfm", "--target", "xc8"],
    ["synth", "fdfm", "--board", "none"],
    ["assess", "faults", "compact", "--kind", "none"],
    ["choose"],
    ["choose", "--target", "xc7", "--operation", "RSA"],
    ["choose", "--target", "xc7", "--curve", "P-255"],
    ["choose", "--target", "xc7", "--bits", "1"],
    ["rsa", "sign", "--key", "k", "--device", "none"],
    ["rsa", "sign", "--key", "k", "--device", "sim:compact,size=1"],
    ["rsa", "sign", "--key", "k", "--hash", "md5"],
    ["ec", "keygen", "--curve", "P-255", "-o", "k"],
    ["soc", "fdfm", "--bits", "512", "--exponents", "none"],
    ["sweep"],
    ["token", "init"],
    ["cache", "clear", "none"],
    ["completion", "tcsh"],
]
LIGHT = [
    ["list"],
    ["list", "--json"],
    ["cache"],
    ["cache", "--json"],
    ["completion", "bash"],
    ["completion", "zsh"],
    ["completion", "fish"],
    ["choose", "--target", "xc7", "--bits", "2048"],
    ["choose", "--target", "ecp5", "--bits", "2048", "--json"],
    ["choose", "--target", "xc7", "--operation", "ECDSA_SIGN", "--curve", "P-256"],
]


@pytest.mark.parametrize(
    ("cases", "status"), [(HELP, 0), (WRONG, 2), (LIGHT, 0)], ids=["help", "wrong", "light"]
)
def test_nothing_is_imported_before_it_is_needed(cases, status):
    for words, (left, imported) in zip(cases, outcomes(cases), strict=True):
        assert (left, imported) == (status, []), words


def test_no_operation_is_imported_for_what_names_none():
    cases = [["--help"], ["build", "--help"], ["cache"]]
    assert outcomes(cases, ["coprime.operations"]) == [[0, []]] * len(cases)


def test_a_command_that_does_something_imports_what_it_needs():
    """So the test above sees what is imported."""
    ((status, imported),) = outcomes([["soc", "fdfm"]])
    assert status == 2
    assert {"amaranth", "coprime.device"} <= {*imported}


@pytest.mark.parametrize("words", [*leaves()], ids=" ".join)
def test_each_command_and_verb_has_its_function(words):
    """The parser knows it by name only, and `main` looks it up."""
    module = entries()[words[0]].module()
    verbs = [verb for name, *verb in leaves() if name == words[0] and verb]
    if words[1:]:
        assert callable(getattr(module, "run_" + words[1].replace("-", "_")))
    elif not verbs or words[0] == "cache":
        assert callable(module.run)
