"""CITATION.cff says what is true of this version, and cites the papers that it is built on."""

import tomllib
from pathlib import Path

import pytest
import yaml
from coprime_evidence.papers.views import views

from coprime import __version__

ROOT = Path(__file__).parents[1]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PAPERS = [view.paper for view in views()]


def test_version_and_licence():
    """The package's version is `coprime.__version__` by pyproject.toml."""
    assert "version" in PROJECT["dynamic"]
    assert CITATION["version"] == __version__
    assert CITATION["license"] == PROJECT["license"]


def test_what_version_1_2_0_of_the_format_requires():
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] == "software"
    assert CITATION["authors"] == [{"name": "The Coprime developers"}]
    assert CITATION["message"] and CITATION["title"]
    for one in CITATION["references"]:
        assert {"authors", "title", "type"} <= one.keys()
        assert one["type"] in ("article", "conference-paper", "thesis")


@pytest.mark.parametrize("paper", PAPERS, ids=[paper.name for paper in PAPERS])
def test_the_papers_are_cited(paper):
    (cited,) = [one for one in CITATION["references"] if one["title"] == paper.title]
    names = [f"{one['given-names']} {one['family-names']}" for one in cited["authors"]]
    assert ", ".join(names) == paper.authors
    assert paper.venue.endswith(str(cited["year"]))


def test_nothing_else_is_cited():
    assert len(CITATION["references"]) == len(PAPERS)
