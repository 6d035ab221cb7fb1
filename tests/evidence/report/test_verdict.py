"""Verdicts are counted and computed from the comparisons."""

import re

import pytest
from coprime_evidence.papers.published import (
    Column,
    Computed,
    Derived,
    Measured,
    Paper,
    Row,
    Table,
    tables,
)
from coprime_evidence.report.side_by_side import compare
from coprime_evidence.report.verdict import SUBJECTS, judge

from tests.evidence.report.samples import point, points_beside

PAPER = Paper(name="SOME", authors="A. Author", title="A title", venue="A venue")
DEVICE = "a device of ecp5"


def verdict(rows, points):
    """Of one table; a row is a quantity with its unit, a published figure, sources, a reason."""
    names = [re.fullmatch(r"(.*?)(?: \[(.*)\])?", row[0]) for row in rows]
    table = Table(
        paper=PAPER,
        number="Table 1",
        title="A title",
        row_title="Row",
        device="Virtex (as printed)",
        columns=tuple(Column(name=one[1], unit=one[2] or "") for one in names),
        rows=(
            Row(
                "all",
                {one[1]: row[1] for one, row in zip(names, rows, strict=True)},
                {one[1]: row[2] for one, row in zip(names, rows, strict=True)},
                reasons={one[1]: row[3] for one, row in zip(names, rows, strict=True) if row[3:]},
            ),
        ),
    )
    return judge(PAPER, [(table, compare(table, points))])


def measured(column, target="ecp5", **options):
    return Measured(column=column, family="fdfm", bits=64, target=target, **options)


DERIVED = Derived(value=lambda: 1, where="From Table 2", how="their product")
POINT = point("fdfm", 64, 1)  # 4000 cycles, 554 LUTs, 121 MHz


def test_every_figure_is_counted_once():
    found = verdict(
        [
            ("Cycles", 4000, [measured("cycles"), DERIVED]),
            ("LUTs", 100, [measured("lut", "xc7")]),
            ("Product", 3, [DERIVED]),
            ("Device", "XC", [], "another device"),
            ("Year", 2000, []),
        ],
        [POINT],
    )
    count = found.count
    assert count.published == 5
    assert (count.measured, count.missing, count.derived, count.reasoned, count.bare) == (1,) * 5
    assert found.sentences[0] == (
        "5 published figures: 1 with ours next to it (1 simulated), 1 that can be measured and are "
        "not in these results, 1 that follow from the paper's other figures alone, 1 without a "
        "counterpart, each with the reason and 1 without a counterpart."
    )


def test_ratios_are_of_costs():
    """Clocks and throughputs are no costs: theirs over ours."""
    found = verdict(
        [
            ("Cycles", 5000, [measured("cycles")]),
            ("LUTs", 277, [measured("lut")]),
            ("Clock [MHz]", 242, [measured("fmax_mhz")]),
            ("Period [ns]", 1, [measured("fmax_mhz", convert=lambda mhz: 1000 / mhz)]),
            ("Utilization [%]", 45, [measured("utilization", convert=lambda part: 100 * part)]),
            ("Time [ms]", POINT.milliseconds, [measured("milliseconds")]),
            ("DSP slices", 2, [measured("dsp")]),
        ],
        [POINT],
    )
    ratios = [(cost.subject, round(cost.ratio, 3)) for cost in found.costs]
    assert ratios == [
        ("cycles", 0.8),
        ("area", 2.0),
        ("period", 2.0),
        ("period", 8.264),
        ("cycles", 0.5),
        ("time", 1.0),
        ("DSP slices and block RAMs", 0.5),
    ]
    _, ranges, worse = (one.replace("\N{NO-BREAK SPACE}", " ") for one in found.sentences)
    assert ranges == (
        "Ours over theirs: cycles × 0.50 to 0.80 (simulated); area × 2.00 (ecp5, mapped); DSP "
        f"slices and block RAMs × 0.50 (ecp5, mapped); period × 2.00 to 8.26 ({DEVICE}; theirs "
        f"Virtex); time × 1.00 ({DEVICE}; theirs Virtex)."
    )
    assert worse == (
        "Ours is worse in 3 of 7 comparisons: area in 1 of 1, at most × 2.00 (Table 1, all, LUTs); "
        "period in 2 of 2, at most × 8.26 (Table 1, all, Period)."
    )


def test_nothing_is_worse():
    found = verdict([("Cycles", 5000, [measured("cycles")])], [POINT])
    assert found.sentences[-1] == "Ours is worse in none of 1 comparisons."


def test_places_are_apart():
    """Six inputs are not four: ranges of places are in a table, not one range."""
    points = [POINT, point("fdfm", 64, 2, "xc7")]
    found = verdict([("LUTs", 277, [measured("lut"), measured("lut", "xc7")])], points)
    assert [(row.place, row.worse, len(row.costs)) for row in found.rows] == [
        ("ecp5, mapped", 1, 1),
        ("xc7, mapped", 1, 1),
    ]
    assert "in 2 places, see the table" in found.sentences[1]


def test_predicted_cycles_are_no_simulated_ones():
    found = verdict([("Cycles", 5000, [measured("predicted_cycles")])], [POINT])
    assert [row.place for row in found.rows] == ["predicted"]


def test_what_is_computed_has_no_cost():
    digits = Computed(value=lambda: 4, how="digits")
    found = verdict([("Digits", 4, [digits])], [])
    assert (found.costs, found.count.kinds) == ([], {"computed": 1})


@pytest.mark.parametrize("name", ["FDFM", "BITSERIAL", "COMPRESSION", "KARATSUBA"])
def test_the_papers(name):
    """With every point no figure is missing, and each ratio is one of the comparisons'."""
    own = [table for table in tables() if table.paper.name == name]
    compared = [(table, compare(table, points_beside(own))) for table in own]
    found = judge(own[0].paper, compared)
    assert found.count.missing == 0
    assert sum(len(row.costs) for row in found.rows) == len(found.costs) > 0
    lines = [line for _, lines in compared for line in lines]
    assert found.count.published == len(lines)
    ratios = {own.ratio for line in lines for own in line.measurements if own.ratio}
    for cost in found.costs:
        assert cost.subject in SUBJECTS
        assert cost.ratio in ratios or any(abs(1 / cost.ratio - one) < 1e-9 * one for one in ratios)
    assert len(found.sentences) == 3
