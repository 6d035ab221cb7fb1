"""Imports point down: a folder imports only from the folders below it.

So they do between distributions: coprime imports nothing of coprime_evidence.
"""

import ast
from pathlib import Path

import coprime_evidence
import pytest

import coprime
from coprime.catalog import CALL_FAMILIES

ROOT = Path(coprime.__file__).parent
EVIDENCE = Path(coprime_evidence.__file__).parent
LAYERS = [
    "cli",
    "explore",
    "runs",
    "soc",
    "token",
    "package",
    "pqc",
    "ec",
    "rsa",
    "device",
    "flow",
    "catalog",
    "suites",
    "bus",
    "cluster",
    "padding",
    "fixed_modulus",
    *(family.builder.split(".")[1] for family in CALL_FAMILIES.values()),
    "calls",
    "engine",
    "operations",
    "exponentiators",
    "program",
    "multipliers",
    "random",
    "cells",
    "parameters",
    "model",
    "encodings",
    "errors",
]
LAYERS_OF_EVIDENCE = ["cli", "assess", "report", "papers", "sweeps", "sources", "__init__"]
MODULES = sorted(ROOT.rglob("*.py"))
MODULES_OF_EVIDENCE = sorted(EVIDENCE.rglob("*.py"))


def root_of(path):
    """The folder of the package that has a file."""
    return ROOT if path.is_relative_to(ROOT) else EVIDENCE


def package_of(path):
    """The package that has a file, and those that this one is in."""
    root = root_of(path)
    return [root.name, *path.relative_to(root).parts[:-1]]


def imported(path):
    """Names of the modules of ours that a file imports."""
    package = package_of(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (
                alias.name
                for alias in node.names
                if alias.name.startswith(("coprime.", "coprime_evidence"))
            )
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            if name == "coprime":
                yield from (f"coprime.{alias.name}" for alias in node.names)
            elif name.startswith(("coprime.", "coprime_evidence")):
                yield name


def layer(name):
    return name.split(".")[1]


def shown(path):
    return str(path.relative_to(root_of(path).parent))


@pytest.mark.parametrize("path", MODULES, ids=shown)
def test_imports_point_down(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] in ("__init__", "__main__"):
        return
    own = LAYERS.index(parts[0])
    for name in imported(path):
        if layer(name) == "__version__":
            continue
        assert name.startswith("coprime."), f"{path} imports {name} of another distribution"
        assert LAYERS.index(layer(name)) >= own, f"{path} imports {name} from above"


@pytest.mark.parametrize("path", MODULES_OF_EVIDENCE, ids=shown)
def test_imports_of_evidence_point_down(path):
    own = LAYERS_OF_EVIDENCE.index(path.relative_to(EVIDENCE).with_suffix("").parts[0])
    for name in imported(path):
        if name.startswith("coprime_evidence."):
            below = LAYERS_OF_EVIDENCE.index(layer(name))
            assert below >= own, f"{path} imports {name} from above"


def test_model_imports_nothing_of_ours():
    for path in (ROOT / "model").glob("*.py"):
        assert not list(imported(path))


def test_a_program_needs_nothing_that_is_of_its_numbers():
    files = list((ROOT / "program").glob("*.py"))
    assert ROOT / "program" / "assembler.py" in files
    for path in files:
        assert not [name for name in imported(path) if name.startswith("coprime.program.numbers")]


def test_every_folder_is_a_layer():
    for root, layers in ((ROOT, LAYERS), (EVIDENCE, LAYERS_OF_EVIDENCE)):
        folders = {path.name for path in root.iterdir() if (path / "__init__.py").exists()}
        assert folders <= set(layers)


def module_name(path):
    parts = path.relative_to(root_of(path).parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path, known):
    """Modules of ours that a file imports: anywhere in it, for types only, too."""
    package = package_of(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{name}.{alias.name}"
                if inner in known:
                    yield inner
                elif name in known:
                    yield name


def test_there_is_no_circle_of_imports():
    """Not even one of imports for types only: what is left after taking away those without any."""
    files = MODULES + MODULES_OF_EVIDENCE
    known = {module_name(path) for path in files}
    left = {
        module_name(path): {*imported_modules(path, known)} - {module_name(path)} for path in files
    }
    assert left["coprime.catalog"]
    while free := {name for name, needed in left.items() if not needed}:
        left = {name: needed - free for name, needed in left.items() if name not in free}
    assert not left, f"these import each other: {sorted(left)}"
