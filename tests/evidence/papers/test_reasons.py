"""Every published figure has a counterpart of ours, or a reason why it has none."""

from functools import cache
from importlib import resources

import pytest
from coprime_evidence import papers
from coprime_evidence.papers.published import read_publication, tables
from coprime_evidence.report.side_by_side import compare

pytestmark = pytest.mark.xdist_group("papers' reasons")
NAMES = sorted(
    one.name.removesuffix(".toml")
    for one in resources.files(papers).iterdir()
    if one.name.endswith(".toml")
)


@cache
def every():
    """Each figure with its table; it takes seconds."""
    return [(table, line) for table in tables() for line in compare(table, [])]


def test_no_figure_is_without_a_counterpart_or_a_reason():
    assert len(every()) > 800
    blank = [
        (table.paper.name, table.number, line.row, line.quantity)
        for table, line in every()
        if not line.measurements and not line.reason
    ]
    assert blank == []


def test_a_figure_that_is_not_measured_yet_has_a_command():
    """Each dash: with no points at all, every figure that rests on a measurement."""
    for table, line in every():
        for own in line.measurements:
            where = (table.paper.name, table.number, line.row, line.quantity, own.where)
            assert (own.value is None) is bool(own.command), where
            for command in own.command.split("; ") if own.command else ():
                assert command.startswith(("coprime synth ", "coprime run ", "coprime soc ")), where


@pytest.mark.parametrize("name", NAMES)
def test_every_reason_is_that_of_a_figure(name):
    """Each one is a phrase in words, and stands beside at least one figure."""
    printed = read_publication(name)
    shown = {line.reason for table, line in every() if table.paper == printed.paper} - {""}
    texts = [one.text for one in printed.reasons]
    assert len(texts) == len(set(texts))
    assert set(texts) == shown
    assert all(len(text) < 90 and not text.endswith(".") for text in texts)
