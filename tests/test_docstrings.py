"""Docstrings name the errors that a caller has to expect."""

import ast
import builtins
import inspect
from pathlib import Path

import coprime_evidence

import coprime

ROOT = Path(coprime.__file__).parent
ROOTS = (ROOT, Path(coprime_evidence.__file__).parent)


def bases():
    """Base classes of our own errors, by name."""
    return {
        node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
        for root in ROOTS
        for path in root.rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    }


def base_names(name, own):
    """Names of an exception and its base classes, but for `Exception` and its bases."""
    if name in own:
        return {name}.union(*(base_names(base, own) for base in own[name]))
    found = inspect.getmro(getattr(builtins, name, Exception))
    return {name, *(one.__name__ for one in found)} - {"Exception", "BaseException", "object"}


def raised(function):
    """Names of the errors that are raised in a function itself, not in one inside it."""
    pending = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Raise) and node.exc is not None:
            error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = ast.unparse(error).rpartition(".")[2]
            # An abstract method raises NotImplementedError; a variable has no error's name.
            if name[0].isupper() and name != "NotImplementedError":
                yield name
        pending += ast.iter_child_nodes(node)


def functions(tree):
    """Public functions and methods: name, node, and the docstrings that may name its errors."""

    def inside(nodes, prefix, documents):
        for node in nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                document = ast.get_docstring(node) or ""
                yield from inside(node.body, f"{prefix}{node.name}.", document)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                own = ast.get_docstring(node) or ""
                if node.name in ("__init__", "__post_init__", "__new__"):
                    yield f"{prefix}{node.name}", node, documents + own
                elif not node.name.startswith("_"):
                    yield f"{prefix}{node.name}", node, own

    yield from inside(tree.body, "", "")


def unnamed(tree, own):
    """Public functions whose docstring names neither an error nor one of its base classes."""
    for name, node, document in functions(tree):
        missing = sorted(
            error
            for error in set(raised(node))
            if not any(base in document for base in base_names(error, own))
        )
        if missing:
            yield f"{name} (line {node.lineno}): {', '.join(missing)}"


def test_docstrings_name_what_is_raised():
    own = bases()
    missing = [
        f"{path.relative_to(root.parent)}: {line}"
        for root in ROOTS
        for path in sorted(root.rglob("*.py"))
        for line in unnamed(ast.parse(path.read_text("utf-8")), own)
    ]
    assert not missing, "errors that no docstring names:\n" + "\n".join(missing)


def test_an_error_that_is_not_named_is_found():
    tree = ast.parse(
        "class One:\n"
        '    """One. Raises ValueError."""\n'
        "    def __init__(self): raise ValueError('x')\n"
        "    def good(self):\n"
        '        """OSError."""\n'
        "        raise FileNotFoundError('x')\n"
        "    def bad(self):\n"
        '        """Nothing."""\n'
        "        raise ValueError('x')\n"
        "def inner():\n"
        '    """Nothing."""\n'
        "    def hidden(): raise ValueError('x')\n"
        "def again():\n"
        '    """Nothing."""\n'
        "    raise\n"
    )
    assert list(unnamed(tree, {})) == ["One.bad (line 7): ValueError"]
