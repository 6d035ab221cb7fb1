"""The module's C files include each other one way: a file and its header count as one."""

import re

import pytest

from coprime.token import build


def includes(folder):
    """By a file's stem, the stems of ours that it or its header includes."""
    found = {}
    for path in sorted(folder.glob("*.[ch]")):
        names = re.findall(r'^#include "(\w+)\.h"', path.read_text("utf-8"), re.MULTILINE)
        found.setdefault(path.stem, set()).update(set(names) - {path.stem})
    return {stem: {name for name in names if name in found} for stem, names in found.items()}


def circles(graph):
    """Sets of files that lead back to each other."""
    reached = {stem: {stem} for stem in graph}
    while True:
        wider = {
            stem: known.union(*(graph[name] for name in known)) for stem, known in reached.items()
        }
        if wider == reached:
            break
        reached = wider
    groups = {
        frozenset(other for other in reached[stem] if stem in reached[other]) for stem in graph
    }
    return sorted(sorted(group) for group in groups if len(group) > 1)


def test_no_files_include_each_other_in_a_circle():
    assert circles(includes(build._SOURCES)) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.c": '#include "a.h"\n#include "b.h"', "a.h": "", "b.h": ""}, []),
        ({"a.c": '#include "b.h"', "a.h": "", "b.c": '#include "a.h"', "b.h": ""}, [["a", "b"]]),
        ({"a.h": '#include "b.h"', "b.h": '#include "c.h"', "c.c": '#include "a.h"', "c.h": ""},
         [["a", "b", "c"]]),
    ],
)  # fmt: skip
def test_circles_are_found(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert circles(includes(tmp_path)) == expected
