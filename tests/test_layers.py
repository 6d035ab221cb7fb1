"""Imports point down: a folder imports only from the folders below it."""

import ast
from pathlib import Path

import pytest

import coprime
from coprime.catalog import CALL_FAMILIES

ROOT = Path(coprime.__file__).parent
LAYERS = [
    "cli",
    "assess",
    "explore",
    "papers",
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
MODULES = sorted(ROOT.rglob("*.py"))


def imported(path):
    """Names of the modules of ours that a file imports."""
    package = ["coprime", *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("coprime."))
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            if name == "coprime":
                yield from (f"coprime.{alias.name}" for alias in node.names)
            elif name.startswith("coprime."):
                yield name


def layer(name):
    return name.split(".")[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] in ("__init__", "__main__"):
        return
    own = LAYERS.index(parts[0])
    for name in imported(path):
        if layer(name) == "__version__":
            continue
        assert LAYERS.index(layer(name)) >= own, f"{path} imports {name} from above"


def test_model_imports_nothing_of_ours():
    for path in (ROOT / "model").glob("*.py"):
        assert not list(imported(path))


def test_a_program_needs_nothing_that_is_of_its_numbers():
    files = list((ROOT / "program").glob("*.py"))
    assert ROOT / "program" / "assembler.py" in files
    for path in files:
        assert not [name for name in imported(path) if name.startswith("coprime.program.numbers")]


def test_every_folder_is_a_layer():
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert folders <= set(LAYERS)


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path, known):
    """Modules of ours that a file imports: anywhere in it, for types only, too."""
    package = ["coprime", *path.relative_to(ROOT).parts[:-1]]
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
    known = {module_name(path) for path in MODULES}
    left = {
        module_name(path): {*imported_modules(path, known)} - {module_name(path)}
        for path in MODULES
    }
    assert left["coprime.catalog"]
    while free := {name for name, needed in left.items() if not needed}:
        left = {name: needed - free for name, needed in left.items() if name not in free}
    assert not left, f"these import each other: {sorted(left)}"
