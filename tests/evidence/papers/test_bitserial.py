"""BITSERIAL's figures agree with each other, and contradict each other, where the remarks say."""

import pytest
from coprime_evidence.papers import bitserial
from coprime_evidence.papers.bitserial import INTERLEAVED, NAMES, ONE_CSA, TWO_CSA, area_time
from coprime_evidence.report.side_by_side import compare

from tests.evidence.report.samples import point

SIZES = (32, 64, 128, 256, 512, 1024)
DEVICE = "LFE5U-85F-6 CABGA381"


def table(number):
    (found,) = [one for one in bitserial.TABLES if one.number == number]
    return found


def interval(figure):
    """What a figure printed with one decimal may have been."""
    return figure - 0.05, figure + 0.05


def product_interval(family, bits):
    area = interval(bitserial.AREA_PERCENT[family][bits])
    period = interval(bitserial.PERIOD_NS[family][bits])
    return area[0] * period[0], area[1] * period[1]


@pytest.mark.parametrize("family", NAMES)
def test_tables_1_and_2_hold_all_sizes(family):
    for figures in (bitserial.AREA_PERCENT, bitserial.PERIOD_NS, bitserial.MEGAHERTZ):
        assert tuple(figures[family]) == SIZES


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("bits", SIZES)
def test_periods_and_frequencies_of_table_2_agree(family, bits):
    shortest, longest = interval(bitserial.PERIOD_NS[family][bits])
    slowest, fastest = interval(bitserial.MEGAHERTZ[family][bits])
    assert 1000 / fastest < longest
    assert 1000 / slowest > shortest


def test_growth_of_table_1():
    for figures in bitserial.AREA_PERCENT.values():
        assert all(1.9 < figures[2 * bits] / figures[bits] < 2.1 for bits in (32, 64, 128))
        assert 1.45 < figures[512] / figures[256] < 1.75
        assert 2.55 < figures[1024] / figures[512] < 3.05


def test_table_3_contradicts_table_2():
    """Clock and time of the Montgomery multipliers stand in each other's row; with CRT they do not.

    The rows are right when exchanged, and only then.
    """
    for family, (megahertz, time, time_crt) in bitserial.RUNNING_TIMES.items():
        moved = {ONE_CSA: TWO_CSA, TWO_CSA: ONE_CSA}.get(family, family)
        assert megahertz == bitserial.MEGAHERTZ[moved][1024]
        assert round(bitserial.running_time(moved), 1) == time
        assert round(bitserial.running_time_crt(family), 1) == time_crt
        if moved != family:
            assert megahertz != bitserial.MEGAHERTZ[family][1024]
            assert round(bitserial.running_time(family), 1) != time
            assert round(bitserial.running_time_crt(moved), 1) != time_crt


@pytest.mark.parametrize(
    ("extra", "wrong"), [(0, 4), (1, 1), (2, 1), (bitserial.EXTRA_CYCLES, 0), (4, 2)]
)
def test_cycles_that_table_3_counts(monkeypatch, extra, wrong):
    """n + 3 is what gives all six times; n + 1 all but 32.2 ms."""
    monkeypatch.setattr(bitserial, "EXTRA_CYCLES", extra)
    differing = [
        printed
        for family, (_, time, time_crt) in bitserial.CORRECTED.items()
        for printed, computed in (
            (time, bitserial.running_time(family)),
            (time_crt, bitserial.running_time_crt(family)),
        )
        if round(computed, 1) != printed
    ]
    assert len(differing) == wrong
    if extra == 1:
        assert differing == [32.2]
        # The period's rounding allows it.
        longest = interval(bitserial.PERIOD_NS[ONE_CSA][1024])[1]
        assert round(1536 * 1025 * longest / 1e6, 1) == 32.2


def test_time_of_the_abstract_belongs_to_another_clock():
    time = bitserial.RUNNING_TIMES[INTERLEAVED][2]
    cycles = 768 * (512 + bitserial.EXTRA_CYCLES)
    assert round(cycles / bitserial.MEGAHERTZ[INTERLEAVED][512] / 1000, 1) == time
    assert round(cycles / bitserial.MEGAHERTZ[INTERLEAVED][1024] / 1000, 1) != time


@pytest.mark.parametrize(
    ("bits", "least", "decided"),
    [
        (32, INTERLEAVED, False),
        (64, ONE_CSA, True),
        (128, ONE_CSA, True),
        (256, INTERLEAVED, False),
        (512, INTERLEAVED, True),
        (1024, INTERLEAVED, True),
    ],
)
def test_least_area_time_product_by_the_papers_own_tables(bits, least, decided):
    """The interleaved multiplier has not the least one 'for all implementations'."""
    assert min(NAMES, key=lambda family: area_time(family, bits)) == least
    highest = product_interval(least, bits)[1]
    others = [product_interval(family, bits)[0] for family in NAMES if family != least]
    assert (highest < min(others)) is decided


def test_advantage_at_512_and_1024_bits_is_the_clock():
    for bits in (512, 1024):
        areas = bitserial.AREA_PERCENT
        assert areas[INTERLEAVED][bits] >= areas[ONE_CSA][bits]
        assert area_time(INTERLEAVED, bits) < area_time(ONE_CSA, bits)


def test_figure_3_is_normalized_to_two_csas():
    for row, bits in zip(table("Figure 3").rows, SIZES, strict=True):
        assert row.x == bits
        for family in (ONE_CSA, INTERLEAVED):
            areas, periods = bitserial.AREA_PERCENT, bitserial.PERIOD_NS
            area = areas[family][bits] / areas[TWO_CSA][bits]
            period = periods[family][bits] / periods[TWO_CSA][bits]
            assert row.published[NAMES[family]] == pytest.approx(area * period)
    assert table("Figure 3").drawn == (NAMES[ONE_CSA], NAMES[INTERLEAVED])


# --- What stands beside -------------------------------------------------------------------------


def multiplier(family, bits, **figures):
    return point(
        *(family, bits, 1),
        **{
            "operation": "MULTIPLICATION",
            "exponents": "random",
            "part": "multiplier",
            "device": DEVICE,
            "parameters": {"max_bits": bits, "word": 32, "multipliers": 1},
            **figures,
        },
    )


def places(number, row, quantity, points):
    (line,) = [
        one for one in compare(table(number), points) if (one.row, one.quantity) == (row, quantity)
    ]
    return {own.where: own for own in line.measurements}


def test_areas_are_parts_of_the_papers_device():
    points = [
        multiplier(ONE_CSA, 64, lut=384, slices_estimate=192),
        multiplier(ONE_CSA, 64, target="xc7", device="AMD 7 series", lut=96, slices_estimate=24),
    ]
    found = places("Table 1", "64 bits", NAMES[ONE_CSA], points)
    values = {where.partition(":")[0]: [] for where in found}
    for where, one in found.items():
        values[where.partition(":")[0]].append(one.value)
    assert values == {"ecp5, mapped": [1.0, 1.0], "xc7, mapped": [0.125, 0.25]}
    (slices,) = [one for where, one in found.items() if where.startswith("ecp5, mapped: slices")]
    assert slices.ratio == pytest.approx(1 / 1.4)
    assert slices.how == (
        "mapped with Yosys: the multiplier of montgomery-1csa with max_bits 64, word 32,"
        f" multipliers 1 to {DEVICE}, slices_estimate 192, in % of 19,200"
    )
    assert slices.command == (
        "coprime synth montgomery-1csa -p max_bits=64 -p word=32 -p multipliers=1 --target ecp5"
        " --part multiplier --route --device LFE5U-85F"
    )


def test_clocks_are_of_one_device():
    small = multiplier(ONE_CSA, 64, fmax_mhz=200.0, device="LFE5U-25F-6 CABGA381")
    large = multiplier(ONE_CSA, 64, fmax_mhz=160.0)
    for quantity, value in (("period", 6.25), ("frequency", 160.0)):
        found = places("Table 2", "64 bits", f"{NAMES[ONE_CSA]}: {quantity}", [small, large])
        assert [one.value for one in found.values()] == [value]
        found = places("Table 2", "64 bits", f"{NAMES[ONE_CSA]}: {quantity}", [small])
        assert [one.value for one in found.values()] == [None]


def test_products_are_over_those_of_two_csas():
    points = [
        multiplier(TWO_CSA, 64, lut=400, fmax_mhz=100.0, cycles=80),
        multiplier(ONE_CSA, 64, lut=300, fmax_mhz=150.0, cycles=60),
    ]
    found = places("Figure 3", "64 bits", NAMES[ONE_CSA], points)
    assert {where: one.value for where, one in found.items()} == pytest.approx(
        {
            "LFE5U-85F: LUTs": 0.5,
            "LFE5U-85F: LUTs, with loading": 0.375,
        }
    )
    # Nothing to compare with: no figure.
    for missing in (points[:1], points[1:]):
        found = places("Figure 3", "64 bits", NAMES[ONE_CSA], missing)
        assert {one.value for one in found.values()} == {None}


def test_times_of_a_design_with_the_papers_cycles():
    """At the paper's clock, a circuit that only multiplies takes the time that is corrected."""

    def engine(family, operation, multipliers, cycles):
        parameters = {"max_bits": 1024, "word": 32, "multipliers": multipliers}
        figures = {"cycles": cycles, "fmax_mhz": 50.0, "milliseconds": cycles / 50_000}
        return point(
            *(family, 1024, 1),
            operation=operation,
            exponents="random",
            parameters=parameters,
            device=DEVICE,
            **figures,
        )

    points = [
        one
        for family in NAMES
        for one in (
            engine(family, "MODEXP", 1, 1536 * 1027),
            engine(family, "RSA_PRIVATE", 2, 768 * 515),
            # What must not be taken for these.
            engine(family, "MODEXP", 2, 7),
            engine(family, "RSA_PRIVATE", 1, 7),
        )
    ]
    points += [multiplier(family, 1024, fmax_mhz=100.0) for family in NAMES]
    lines = compare(table("Table 3"), points)
    assert len(lines) == 3 * 5
    labels = {
        row.label: family
        for row, family in zip(table("Table 3").rows, bitserial.RUNNING_TIMES, strict=True)
    }
    cycles = {"T_res": 1536 * 1027, "T_res,crt": 768 * 515}
    quantities = ("Frequency", "T_res", "T_res,crt")
    for line in lines:
        family = labels[line.row]
        values = {own.where: own.value for own in (*line.derived, *line.measurements)}
        quantity, comma, _ = line.quantity.partition(", as printed")
        place = quantities.index(quantity)
        if comma:
            assert line.published == bitserial.RUNNING_TIMES[family][place]
            assert values == {"Corrected": bitserial.CORRECTED[family][place]}
            continue
        # Ratios are over the corrected figure.
        assert line.published == bitserial.CORRECTED[family][place]
        own_clock = values["At the multiplier's clock on LFE5U-85F"]
        if quantity == "Frequency":
            assert values["From Table 2"] == line.published
            assert own_clock == 100
            continue
        assert round(values["From Table 2"], 1) == line.published
        assert round(values["Simulation, at the paper's clock"], 1) == line.published
        count = cycles[quantity]
        assert own_clock == count / 100 / 1000
        assert values["LFE5U-85F, the whole engine routed"] == count / 50_000
