"""The licence of a package's files, as the REUSE specification wants it (https://reuse.software).

Every file that can have a comment has its licence there. The others, and the copyright of all, are
in REUSE.toml.
"""

import importlib.metadata
from collections.abc import Mapping
from pathlib import PurePosixPath

LICENSE = "Apache-2.0"
_LICENSE_TEXT = f"LICENSES/{LICENSE}.txt"
_TAG = "SPDX-License-Identifier"
_REUSE = f"""\
version = 1

[[annotations]]
path = "**"
SPDX-FileCopyrightText = "The Coprime contributors"
{_TAG} = "{LICENSE}"
"""
_COMMENTS = {
    **dict.fromkeys((".v", ".vh", ".sv", ".vlt"), "// {}"),
    **dict.fromkeys((".c", ".h", ".cpp"), "/* {} */"),
    **dict.fromkeys((".md", ".svd", ".svg", ".xml"), "<!-- {} -->"),
    **dict.fromkeys((".core", ".lpf", ".mk", ".py", ".sdc", ".tcl", ".toml", ".xdc", ""), "# {}"),
    ".vhd": "-- {}",
}
_WITHOUT_COMMENTS = (".json", ".sha256", ".txt")
# What must be the first line of a file, if it is there.
_FIRST = ("<?xml", "CAPI=2:", "#!", "`verilator_config")


def licensed(contents: Mapping[str, str]) -> dict[str, str]:
    """Add the licence to the files of a package, and the files that hold its text and its owner.

    Raises ValueError for a file of a kind whose comments are not known here.
    """
    marked = {path: _marked(path, text) for path, text in contents.items()}
    return marked | {"REUSE.toml": _REUSE, _LICENSE_TEXT: _license_text()}


def _marked(path: str, text: str) -> str:
    suffix = PurePosixPath(path).suffix
    if suffix in _WITHOUT_COMMENTS or _TAG in text:
        return text
    if suffix not in _COMMENTS:
        raise ValueError(f"{path}: the licence of files of the kind {suffix!r} is not set up")
    tag = _COMMENTS[suffix].format(f"{_TAG}: {LICENSE}") + "\n"
    first, rest = text.split("\n", 1) if text.startswith(_FIRST) else ("", text)
    return f"{first}\n{tag}{rest}" if first else tag + text


def _license_text() -> str:
    # `pip install .` leaves a folder in the checkout that looks like an installation.
    for installed in importlib.metadata.distributions(name="coprime"):
        text = installed.read_text("licenses/LICENSE")
        if text is not None:
            return text
    raise FileNotFoundError("the installed package coprime lacks its LICENSE")
