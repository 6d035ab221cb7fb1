"""The notebook runs as written on a report, and draws both plots."""

import json
import re

import pytest
from coprime_evidence.papers.published import tables
from coprime_evidence.report.report import write_report

from bench.page import DOCS
from tests.evidence.report.samples import points_beside, sample_points

pytestmark = pytest.mark.xdist_group("reports")

NOTEBOOK = json.loads((DOCS / "tutorials" / "report.ipynb").read_text("utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_it_is_a_notebook_without_results():
    """Plots of other measurements would be out of date."""
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(names)) == len(names)
    for cell in NOTEBOOK["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == (
            [],
            None,
        )


@pytest.mark.clients
def test_it_draws_two_plots(tmp_path, monkeypatch, capsys):
    own = [table for table in tables() if table.paper.name in ("FDFM", "KARATSUBA")]
    points = [*sample_points(), *points_beside(own)]
    write_report(points, tmp_path / "report")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "notebook"}
    for cell in CODE:
        exec(compile(cell, "report.ipynb", "exec"), names)
    assert f"{len(points) - 1:,} points" in capsys.readouterr().out  # one of them failed
    for plot, rows in (("area_time", "rows"), ("ratios", "compared")):
        picture = names[plot]._repr_svg_()
        (marks,) = re.findall(r'class="mark-symbol role-mark marks".*?</g>', picture, re.S)
        assert marks.count("<path") == len(names[rows]) > 10
