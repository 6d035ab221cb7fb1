"""The papers' views: published figures and ours on the paper's axes, labelled by place."""

from dataclasses import replace

import pytest
from coprime_evidence.papers.published import tables
from coprime_evidence.papers.views import number_in, views
from coprime_evidence.report.panels import draw_view
from coprime_evidence.report.side_by_side import compare

from tests.evidence.report.samples import points_beside

VIEWS = {view.paper.name: view for view in views()}


def drawn(name, change=lambda point: point):
    own = [table for table in tables() if table.paper.name == name]
    points = [change(point) for point in points_beside(own)]
    compared = {table.number: compare(table, points) for table in own}
    return {one.panel.name: one for one in draw_view(VIEWS[name], compared)}


def places(panel):
    return {row["where"] for row in panel.rows}


def test_the_four_papers_have_views():
    assert set(VIEWS) == {"FDFM", "BITSERIAL", "COMPRESSION", "KARATSUBA"}


@pytest.mark.parametrize("name", VIEWS)
def test_published_figures_and_ours(name):
    for panel in drawn(name).values():
        published = {where for where in places(panel) if where.startswith("Published")}
        assert len(published) == 1
        assert places(panel) - published, panel.name
        assert panel.rows[0]["where"] in published  # so that it has the first colour
        assert all(row["x"] > 0 and row["y"] > 0 for row in panel.rows)


def test_fdfm():
    panels = drawn("FDFM")
    published = [row for row in panels["slices"].rows if row["where"] == "Published"]
    assert [(row["x"], row["y"]) for row in published] == [(1, 140), (320, 34635)]
    nodes = {f"xc7, mapped: {node} nodes" for node in ("lean", "full")}
    assert places(panels["slices"]) == {"Published", "xc7, mapped", *nodes}
    published = [row["y"] for row in panels["throughput"].rows if row["where"] == "Published"]
    assert published == [0.074542, 23.03137]
    published = [row["y"] for row in panels["period"].rows if row["where"] == "Published"]
    assert published == [1000 / 336.7, 1000 / 325.098]


def test_karatsuba():
    """Its latency is the printed time at the printed clock: 294 cycles are (16 + 1)^2 and 5."""
    panel = drawn("KARATSUBA")["latency"]
    published = {
        (row["plot"], row["x"]): round(row["y"])
        for row in panel.rows
        if row["where"] == "Published: time x clock"
    }
    assert published["512 bits", 32] == 294
    assert published["1,024 bits", 64] == 293
    assert places(panel) == {"Published: time x clock", "Simulation"}
    assert panel.plots == ["512 bits", "1,024 bits", "2,048 bits"]


def test_predicted_cycles_are_labelled():
    panel = drawn("KARATSUBA", lambda point: replace(point, cycles=None))["latency"]
    assert places(panel) == {"Published: time x clock", "Prediction"}


def test_compression_draws_each_circuit():
    panels = drawn("COMPRESSION")
    assert len(panels["delay"].plots) == 6
    assert {row["plot"] for row in panels["area"].rows} == set(panels["area"].plots)
    assert not any("Grown" in where for where in places(panels["area"]))


def test_a_telephone_has_one_column():
    panel = drawn("COMPRESSION")["area"]
    assert panel.chart()["columns"] == 3
    assert panel.chart(narrow=True)["columns"] == 1


def test_a_label_without_a_number():
    assert number_in("1,024 bits (Test 512)") == 1024
    with pytest.raises(ValueError, match="a number, not 'Modulus'"):
        number_in("Modulus")
