"""The documentation as a site: `make docs`."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import ziamath
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from coprime import __version__

logger = logging.getLogger(__name__)

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
copybutton_prompt_text = "$ "  # of a session only its commands are copied

highlight_language = "none"  # of blocks that name no language
smartquotes = False  # else --board becomes a dash, and the prime of M' a quotation mark
# Markdown as GitHub shows it, with links to headings, and formulas: $...$ and $$...$$.
myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_heading_anchors = 4

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
default_role = "literal"  # `name` in a docstring

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"Coprime {version}"
html_theme_options = {"navigation_with_keys": True}
html_show_sphinx = False
html_math_renderer = "svg"


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
    if what in ("attribute", "data", "property") and lines:
        lines[0] = f": {lines[0]}"  # no type: else Napoleon takes the words before a colon for it
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
            if section in ("Parameters", "Attributes") and not line and following[:1].isupper():
                found.append("")  # two blank lines end a section: this is a sentence, not a name
    lines[:] = found


ziamath.config.svg2 = False  # pictures in one page share no names
_SIZE = 17
"""Of formulas, where text has 16."""


def draw_formula(tex: str, *, inline: bool) -> str:
    """A formula as SVG, in the colour of the text: a page needs no script and no font for it."""
    # A sign is an operator only between two operands.
    spaced = re.sub(r"([=(])\s*-", r"\1 {-}", tex)
    spaced = spaced.replace(r"\bmod", r"\;\mathrm{mod}\;")
    spaced = re.sub(r"\\pmod\{?(\w)\}?", r"\\quad (\\mathrm{mod}\\; \1)", spaced)
    formula = ziamath.Latex(spaced, size=_SIZE, inline=inline)
    picture = formula.svgxml()
    width, height = (float(picture.attrib.pop(name)) / 16 for name in ("width", "height"))
    _, top, *_ = map(float, picture.attrib["viewBox"].split())
    below = height + top / 16  # the base line is at 0
    picture.set(
        "style", f"width: {width:.3f}em; height: {height:.3f}em; vertical-align: {-below:.3f}em"
    )
    for part in picture.iter():
        part.attrib.pop("fill", None)
    picture.set("fill", "currentColor")
    picture.set("role", "img")
    picture.set("aria-label", tex)
    return ElementTree.tostring(picture, encoding="unicode")


def keep_together(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put what follows a formula without a blank, such as a comma, on its line."""
    for formula in doctree.findall(nodes.math):
        after = formula.next_node(siblings=True, descend=False)
        if isinstance(after, nodes.Text) and (tail := re.match(r"[.,;:)]+", after)):
            formula["tail"] = tail[0]
            after.parent.replace(after, nodes.Text(after[tail.end() :]))


def set_dashes(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Sphinx writes two hyphens between a parameter and its description: make them a dash."""
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


_WHOLE = 36
"""Characters of code that fit into a line of a narrow page."""
_PHRASE, _PROSE = 24, 60
"""Characters from which a cell needs room for some words, and for a sentence."""


def mark_lengths(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Give code that fits into a line, and long cells, the classes by which site.css sets them."""
    for code in doctree.findall(nodes.literal):
        if max(map(len, code.astext().split()), default=0) <= _WHOLE:
            code["classes"].append("whole")
    for cell in doctree.findall(nodes.entry):
        length = len(cell.astext())
        if length > _PHRASE:
            cell["classes"].append("prose" if length > _PROSE else "phrase")


def write_formula(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line."""
    drawn = draw_formula(node.astext(), inline=True)
    translator.body.append(
        f'<span style="white-space: nowrap">{drawn}{node.get("tail", "")}</span>'
    )
    raise nodes.SkipNode


def write_display(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own, which can be scrolled where it is wider than the page."""
    drawn = draw_formula(node.astext(), inline=False)
    style = "overflow-x: auto; overflow-y: hidden; text-align: center; margin: 1em 0"
    translator.body.append(f'<div style="{style}">{drawn}</div>\n')
    raise nodes.SkipNode


def add_report(app: Sphinx, error: Exception | None) -> None:
    """Put the report of the measurements that ship with Coprime beside the pages."""
    if error is None and app.builder.name == "html":
        from coprime_evidence.report.report import write_report

        from coprime.explore.shipped import measured_points

        def progress(what: str, share: float) -> None:
            logger.info("drawing the report... [%3.0f%%] %s", 100 * share, what)

        write_report(measured_points(), Path(app.outdir) / "measured", progress=progress)


def setup(app: Sphinx) -> None:
    """Connect with Sphinx."""
    app.connect("doctree-resolved", keep_together)
    app.connect("doctree-resolved", mark_lengths)
    app.connect("doctree-resolved", set_dashes)
    app.add_html_math_renderer("svg", (write_formula, None), (write_display, None))
    app.connect("autodoc-process-docstring", describe_parameters, priority=400)
    app.connect("build-finished", add_report)
