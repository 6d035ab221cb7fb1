"""Published figures find their measured points, and nothing else's."""

import dataclasses

import pytest

from coprime.explore.side_by_side import compare
from coprime.papers import fdfm
from coprime.papers.published import Column, Combined, Computed, Measured, Paper, Row, Table
from tests.explore.samples import point

PAPER = Paper(name="SOME", authors="A. Author", title="A title", venue="A venue")


def table(*sources, published=200):
    return Table(
        paper=PAPER,
        number="Table 1",
        title="A title",
        row_title="Row",
        columns=(Column(name="Figure", unit="ms"), Column(name="Other")),
        rows=(Row("one", {"Figure": published}, {"Figure": sources}), Row("two", {"Other": 1})),
    )


def only(sources, points, **options):
    line, other = compare(table(sources, **options), points)
    assert (other.row, other.measurements) == ("two", ())
    (measurement,) = line.measurements
    return measurement


def test_value_ratio_and_way():
    points = [point("fdfm", 64, 1), point("fdfm", 256, 1)]
    cycles = only(Measured(column="cycles", family="fdfm", bits=64, exponents="worst"), points)
    assert cycles.value == points[0].cycles
    assert cycles.ratio == points[0].cycles / 200
    assert cycles.where == "Simulation"
    assert cycles.how == "counted in simulation: fdfm, RSA_PRIVATE of 64 bits, every exponent bit 1"
    assert cycles.command == ""


def test_conversion_and_names():
    source = Measured(
        column="cycles",
        family="fdfm",
        bits=64,
        convert=lambda cycles: cycles / 1000,
        where="Simulation, at a clock",
        note="at 1 MHz",
    )
    points = [point("fdfm", 64, 1)]
    time = only(source, points)
    assert time.value == points[0].cycles / 1000
    assert time.where == "Simulation, at a clock"
    assert time.how.endswith(f", cycles {points[0].cycles:,}, at 1 MHz")


@pytest.mark.parametrize(
    "other",
    [
        {"family": "karatsuba"},
        {"bits": 128},
        {"operation": "MODEXP"},
        {"exponents": "random"},
        {"target": "xc7"},
        {"part": "accelerator"},
        {"device": "another device of ecp5"},
        {"parameters": {"max_bits": 2048, "width": 1}},
        {"status": "failed", "reason": "it does not fit"},
        {"fmax_mhz": None},
    ],
)
def test_another_point_does_not_count(other):
    source = Measured(
        column="fmax_mhz",
        family="fdfm",
        bits=64,
        exponents="worst",
        target="ecp5",
        device="a device of ecp5",
        parameters={"max_bits": 64},
    )
    right = point("fdfm", 64, 1)
    wrong = dataclasses.replace(right, **other)
    missing = only(source, [wrong])
    assert (missing.value, missing.ratio, missing.command) == (None, None, "")
    assert missing.how.startswith("not in these results: fmax_mhz of fdfm with max_bits 64")
    found = only(source, [wrong, right])
    assert found.value == right.fmax_mhz
    assert found.how == "placed and routed: fdfm with max_bits 64 on a device of ecp5"
    assert found.where == missing.where == "ecp5, routed"
    assert found.command == "coprime synth fdfm -p max_bits=64 -p width=1 --target ecp5 --route"


def test_time_from_predicted_cycles_says_so():
    points = [point("fdfm", 64, 1, cycles=None)]
    source = Measured(column="milliseconds", family="fdfm", bits=64, target="ecp5")
    assert only(source, points).how.startswith("predicted cycles of RSA_PRIVATE of 64 bits")


def test_part_and_device_are_told():
    source = Measured(column="fmax_mhz", family="fdfm", bits=64, part="multiplier")
    device = "LFE5U-45F-6 CABGA381"
    found = only(source, [point("fdfm", 64, 1, part="multiplier", device=device)])
    assert found.how == f"placed and routed: the multiplier of fdfm on {device}"
    assert found.command.endswith("--part multiplier --route --device LFE5U-45F")
    default = only(source, [point("fdfm", 64, 1, part="multiplier", device="LFE5U-25F-6 CABGA381")])
    assert default.command.endswith("--part multiplier --route")


def test_combination_of_measured_figures():
    cycles = Measured(column="cycles", family="fdfm", bits=64)
    clock = Measured(column="fmax_mhz", family="karatsuba", bits=256)
    source = Combined(
        of=(cycles, clock),
        value=lambda count, megahertz: count / megahertz,
        where="Of two",
        how="a quotient",
    )
    points = [point("fdfm", 64, 1), point("karatsuba", 256, 2)]
    found = only(source, points)
    assert found.value == points[0].cycles / points[1].fmax_mhz
    assert found.ratio == found.value / 200
    assert found.where == "Of two"
    assert found.how.startswith("a quotient; counted in simulation: fdfm, ")
    assert found.how.endswith("; placed and routed: karatsuba on a device of ecp5")
    words = "coprime synth karatsuba -p max_bits=256 -p width=2 --target ecp5 --route"
    assert found.command == words
    for one in points:
        missing = only(source, [one])
        assert (missing.value, missing.ratio) == (None, None)
        assert "not in these results" in missing.how


def test_computed_figures_may_have_a_place():
    assert only(Computed(value=lambda: 1.0, how="a count"), []).where == "Computed"
    assert only(Computed(value=lambda: 1.0, how="", where="Corrected"), []).where == "Corrected"


def test_words_have_no_ratio():
    source = Computed(value=lambda: 3.0, how="a count")
    assert only(source, [], published="about 3").ratio is None
    assert only(source, [], published=0).ratio is None
    assert only(source, [], published=2).ratio == 1.5


def test_fdfm_against_its_own_cycles():
    """A circuit with exactly the paper's cycles gets the ratio 1, at the paper's clock too."""
    parameters = {"max_bits": 2176, "multipliers": 1}
    settings = {"parameters": parameters, "device": "LFE5U-25F-6 CABGA381"}
    points = [
        point("fdfm", bits, 1, cycles=cycles, **settings)
        for bits, cycles in fdfm.CRT_CYCLES.items()
    ]
    (execution,) = [one for one in fdfm.TABLES if one.number == "Table 2"]
    lines = compare(execution, points)
    assert len(lines) == 5 * len(fdfm.CRT_CYCLES)
    for line in lines:
        ratios = {one.where: one.ratio for one in line.measurements}
        if line.quantity == "Clock cycles":
            assert ratios == {"Simulation": 1}
        elif line.quantity == "Time with CRT":
            assert ratios["Simulation, at the paper's clock"] == pytest.approx(1, abs=0.02)
            assert ratios["ecp5, routed"] is not None
        elif line.quantity.startswith("Digits"):
            assert ratios == {"Computed": 1}
        else:  # no point is a MODEXP
            assert set(ratios.values()) == {None}
