"""Every file of a package has its licence."""

import re

import pytest

from coprime.package.license import licensed

TAG = "SPDX-License-Identifier: Apache-2.0"


@pytest.mark.matrix(quick=2)
def test_every_file_has_its_licence(contents):
    for path, text in contents.items():
        if path.startswith("LICENSES/") or path.endswith((".json", ".sha256")):
            continue
        if path == "REUSE.toml":
            assert re.search(r'^path = "\*\*"$', text, re.M)  # the JSON files, too
            continue
        first = "\n".join(text.splitlines()[:2])
        assert re.search(rf"^\W+{TAG}(?: -->| \*/)?$", first, re.M), path


def test_the_text_of_the_licence_is_there():
    text = licensed({})["LICENSES/Apache-2.0.txt"]
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.v", "module a;\n", f"// {TAG}\nmodule a;\n"),
        ("a.h", "int a;\n", f"/* {TAG} */\nint a;\n"),
        (
            "a.svd",
            "<?xml version='1.0'?>\n<a/>\n",
            f"<?xml version='1.0'?>\n<!-- {TAG} -->\n<a/>\n",
        ),
        ("a.core", "CAPI=2:\nname: a\n", f"CAPI=2:\n# {TAG}\nname: a\n"),
        ("sim/Makefile", "all:\n", f"# {TAG}\nall:\n"),
        ("a.vhd", "package a is\n", f"-- {TAG}\npackage a is\n"),
        ("a.json", "{}\n", "{}\n"),
        ("a.v", f"// {TAG}\nmodule a;\n", f"// {TAG}\nmodule a;\n"),
    ],
)
def test_licences_are_comments(path, text, expected):
    assert licensed({path: text})[path] == expected


def test_unknown_kinds_of_files_are_refused():
    with pytest.raises(ValueError, match=r"a\.bin: the licence of files of the kind '\.bin'"):
        licensed({"a.bin": ""})
