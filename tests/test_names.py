"""One name, one thing: a public class name is defined once, in any of our packages."""

import ast
from collections import defaultdict
from pathlib import Path

import coprime_evidence

import coprime

ROOT = Path(coprime.__file__).parent
ROOTS = (ROOT, Path(coprime_evidence.__file__).parent)


def test_a_public_class_name_is_defined_once():
    places = defaultdict(list)
    for root in ROOTS:
        for path in sorted(root.rglob("*.py")):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(str(path.relative_to(root.parent)))
    assert places["EngineDesign"] == ["coprime/engine/design.py"]
    twice = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert not twice, f"the same name in several files: {twice}"
