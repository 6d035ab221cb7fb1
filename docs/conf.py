"""The documentation as a site: `make docs`."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from coprime import __version__

project = "Coprime"
copyright = "the Coprime authors, Apache-2.0"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinxarg.ext",
    "sphinx_copybutton",
]
exclude_patterns = ["conf.py"]

highlight_language = "none"  # of blocks that name no language
# Markdown as GitHub shows it, with links to headings.
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
default_role = "literal"  # `name` in a docstring

html_theme = "furo"
html_title = f"Coprime {version}"
html_theme_options = {"navigation_with_keys": True}
html_show_sphinx = False


_ITEM = re.compile(r"(?P<name>\w+(?:, \w+)*) : (?P<text>.+)")
_TYPE_WORDS = 5
"""A longer text after the colon of an item describes the parameter rather than its type."""
_TYPED = re.compile(r"(?P<name>\w+(?:, \w+)*) \((?P<type>[^()]+)\)(?:: (?P<text>.+))?")
_RAISED = re.compile(r"(?P<name>\w+): (?P<text>.+)")


def describe_parameters(
    app: Sphinx, what: str, name: str, object_: Any, options: Any, lines: list[str]
) -> None:
    """Move one-line descriptions of parameters to where Napoleon expects them.

    Our docstrings have "name : description" in one line where the signature has the type, and else
    "name (type): description"; of exceptions "Name: when it is raised".
    """
    section, found = "", []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following.startswith("---"):
            section = line
        item = _ITEM.fullmatch(line) if section == "Parameters" else None
        typed = _TYPED.fullmatch(line) if section in ("Parameters", "Attributes") else None
        raised = _RAISED.fullmatch(line) if section == "Raises" else None
        continued = following.startswith("    ")
        if typed:
            found.append(f"{typed['name']} : {typed['type']}")
            found += [f"    {typed['text']}"] if typed["text"] else []
        elif raised or (item and not (continued and len(item["text"].split()) <= _TYPE_WORDS)):
            one = raised or item
            found += [one["name"], f"    {one['text']}"]
        else:
            found.append(line)
    lines[:] = found


def add_report(app: Sphinx, error: Exception | None) -> None:
    """Put the report of the measurements that ship with Coprime beside the pages."""
    if error is None and app.builder.name == "html":
        from coprime.cli import main

        if main(["report", "-o", str(Path(app.outdir) / "measured")]):
            raise RuntimeError("coprime report failed")


def setup(app: Sphinx) -> None:
    """Connect with Sphinx."""
    app.connect("autodoc-process-docstring", describe_parameters, priority=400)
    app.connect("build-finished", add_report)
