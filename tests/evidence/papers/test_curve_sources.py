"""Published figures of curves, and that the remarks beside them say what ours are."""

import re
from pathlib import Path

import pytest
from coprime_evidence.papers import caliptra, curve25519_verilog, ipecc, otbn
from coprime_evidence.report.side_by_side import compare

from bench import curves as page
from coprime.explore.shipped import shipped_points

COMPACT = "compact, 1 DSP slice"
RING_6, RING_18 = "ring, 6 DSP slices", "ring, 18 DSP slices"


def ratios(table):
    """Ours over what is published, by row and place."""
    return {
        (one.row, own.where): own.ratio
        for one in compare(table, shipped_points())
        for own in one.measurements
    }


def test_every_figure_of_ours_is_measured():
    for module in (caliptra, curve25519_verilog, ipecc, otbn):
        for table in module.TABLES:
            assert None not in ratios(table).values(), table.paper.name


def test_where_otbn_is_faster():
    (table,) = otbn.TABLES
    found = ratios(table)
    assert min(ratio for (_, place), ratio in found.items() if place == COMPACT) > 1
    assert found["X25519", COMPACT] == pytest.approx(10, rel=0.02)
    assert found["X25519", RING_6] == pytest.approx(2.2, abs=0.05)
    for row in ("ECDH-P256 verify", "ECDSA-P384 verify"):
        assert 4 < found[row, COMPACT] < 4.5
    assert {row for (row, place), ratio in found.items() if place == RING_6 and ratio >= 1} == {
        "X25519"
    }


def test_where_caliptra_is_faster():
    found = ratios(caliptra.TABLES[0])
    assert {4 < ratio < 5 for (_, place), ratio in found.items() if place == COMPACT} == {True}
    on_six_slices = [ratio for (_, place), ratio in found.items() if place == RING_6]
    assert (min(on_six_slices), max(on_six_slices)) == pytest.approx((0.656, 0.784), abs=0.005)


def test_where_ipecc_is_faster():
    (table,) = ipecc.TABLES
    slower = [
        (one.row, one.quantity)
        for one in compare(table, shipped_points())
        for own in one.measurements
        if own.ratio < 1
    ]
    assert slower == [("SECP521R1", "Verifications")]


def test_where_curve25519_verilog_is_faster():
    found = ratios(curve25519_verilog.TABLES[0])
    places = {place: ratio for (_, place), ratio in found.items()}
    assert int(places[COMPACT]) == 16
    assert (places[RING_6], places[RING_18]) == pytest.approx((3.6, 2.1), abs=0.05)


def test_the_page_has_what_it_is_made_of():
    results = Path(page.__file__).parents[1].joinpath("docs", "results.md").read_text("utf-8")
    assert page.measure() in results
    links = re.findall(r"\]\((\w+\.md)", page.measure())
    assert links == ["curves.md", "sweeps.md"]
