"""What `import coprime` offers, the errors of its own, and `python -m coprime`."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import coprime_evidence
import pytest

import coprime

ROOT = Path(coprime.__file__).parent


def python(*arguments):
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, cwd=ROOT.parent
    )
    return done.stdout


def test_an_import_loads_nothing_more():
    script = "import coprime, sys; print([m for m in sys.modules if m.startswith('coprime.')])"
    assert python("-c", script) == "[]\n"


def test_what_is_offered_is_what_the_modules_have():
    assert {"Accelerator", "CoprimeError", "family_named", "open_simulation"} < set(coprime.__all__)
    assert set(coprime.__all__) <= set(dir(coprime))
    for name, module in coprime._OFFERED.items():
        assert getattr(coprime, name) is getattr(importlib.import_module(module), name)
    with pytest.raises(AttributeError, match="module 'coprime' has no attribute 'accelerator_'"):
        coprime.accelerator_  # noqa: B018


def test_the_types_are_those_of_what_is_offered():
    stub = ast.parse((ROOT / "__init__.pyi").read_text("utf-8"))
    typed = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == coprime._OFFERED


def test_every_error_of_its_own_is_a_coprime_error():
    """None is derived from Python's alone."""
    bases = {}
    for path in [*ROOT.rglob("*.py"), *Path(coprime_evidence.__file__).parent.rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [one.id for one in node.bases if isinstance(one, ast.Name)]
    raised = {name for name in bases if name.endswith(("Error", "Timeout"))} - {"Error"}
    assert len(raised) > 14

    def is_own(name):
        return name == "CoprimeError" or any(is_own(base) for base in bases.get(name, ()))

    assert {name for name in raised if not is_own(name)} == set()
    assert bases["CoprimeError"] == ["Exception"]
    for name in ("MessageTooLongError", "DamagedError"):
        assert bases[name] == ["CoprimeError", "ValueError"]


def test_as_a_module():
    assert python("-m", "coprime", "--version") == f"coprime {coprime.__version__}\n"
