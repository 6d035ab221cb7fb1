"""Functions are short enough to be read at once."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "coprime", *sorted(ROOT.glob("packages/*/src")))
MOST_LINES = 80
LONGER: dict[str, str] = {}
"""Functions that may be longer, such as "coprime/soc/riscv.py: System.elaborate", each with the
reason."""


def lengths(tree, prefix=""):
    """The name of each function and method, with its number of lines."""
    for node in ast.iter_child_nodes(tree):
        name = prefix
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{node.name}"
            if not isinstance(node, ast.ClassDef):
                yield name, node.end_lineno - node.lineno + 1
            name += "."
        yield from lengths(node, name)


@cache
def longer():
    """Functions of more than MOST_LINES lines, with their number of lines."""
    return {
        f"{path.relative_to(ROOT).as_posix()}: {name}": lines
        for folder in FOLDERS
        for path in sorted(folder.rglob("*.py"))
        for name, lines in lengths(ast.parse(path.read_text("utf-8")))
        if lines > MOST_LINES
    }


def test_functions_are_short():
    found = {name: lines for name, lines in longer().items() if name not in LONGER}
    assert not found, (
        f"more than {MOST_LINES} lines: look for a part that has a name of its own, such as the"
        f" states of one phase or the registers of one side, and give it a method: {found}"
    )


def test_functions_that_may_be_longer_are_longer_for_a_reason():
    assert set(LONGER) <= set(longer()), "shorter now, or gone: leave it out"
    assert all(LONGER.values())


def test_lines_of_functions_are_counted():
    tree = ast.parse(
        "class One:\n"
        "    def method(self):\n"
        "        def inner():\n"
        "            pass\n"
        "        return inner\n"
        "if True:\n"
        "    def conditional(): pass\n"
    )
    assert dict(lengths(tree)) == {
        "One.method": 4,
        "One.method.inner": 2,
        "conditional": 1,
    }
