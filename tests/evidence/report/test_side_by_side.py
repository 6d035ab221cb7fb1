"""Published figures find their measured points, and nothing else's."""

import dataclasses

import pytest
from coprime_evidence.papers import fdfm
from coprime_evidence.papers.published import Column, Computed, Derived, Measured, Paper, Row, Table
from coprime_evidence.report.side_by_side import DERIVED, compare, reasons

from coprime.catalog import NODES
from tests.evidence.report.samples import point

PAPER = Paper(name="SOME", authors="A. Author", title="A title", venue="A venue")


def table(*sources, published=200, reasons=None):
    return Table(
        paper=PAPER,
        number="Table 1",
        title="A title",
        row_title="Row",
        columns=(Column(name="Figure", unit="ms"), Column(name="Other")),
        rows=(
            Row("one", {"Figure": published}, {"Figure": sources}, reasons=reasons or {}),
            Row("two", {"Other": 1}),
        ),
    )


def only(sources, points, **options):
    line, other = compare(table(sources, **options), points)
    assert (other.row, other.measurements) == ("two", ())
    (measurement,) = line.measurements
    return measurement


WORST = (
    "coprime run fdfm RSA_PRIVATE -p max_bits=64 -p width=1 --bits 64 --seed 1 --exponents worst"
)


def test_value_ratio_and_way():
    points = [point("fdfm", 64, 1), point("fdfm", 256, 1)]
    cycles = only(Measured(column="cycles", family="fdfm", bits=64, exponents="worst"), points)
    assert cycles.value == points[0].cycles
    assert cycles.ratio == points[0].cycles / 200
    assert cycles.where == "Simulation"
    assert cycles.how == "counted in simulation: fdfm, RSA_PRIVATE of 64 bits, every exponent bit 1"
    assert cycles.command == WORST


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
        {"part": "cluster", "cores": 8},
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
    assert (missing.value, missing.ratio, missing.kind) == (None, None, "routed")
    assert missing.command == "coprime synth fdfm -p max_bits=64 --target ecp5 --route"
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


def test_a_cluster_of_so_many_cores():
    source = Measured(column="lut", family="fdfm", bits=64, target="xc7", part="cluster", cores=8)
    right = point("fdfm", 64, 1, "xc7", part="cluster", cores=8, lut=7000)
    others = [
        point("fdfm", 64, 1, "xc7"),
        dataclasses.replace(right, cores=1, lut=900),
        dataclasses.replace(right, part="engine", cores=0, lut=800),
    ]
    assert only(source, others).value is None
    assert only(source, others).how.startswith("not in these results: lut of a cluster of fdfm")
    found = only(source, [*others, right])
    assert (found.value, found.ratio, found.where) == (7000, 35, "xc7, mapped")
    assert found.how == "mapped with Yosys: a cluster of fdfm with cores 8 to a device of xc7"
    words = "coprime synth cluster -p engine=fdfm -p cores=8 -p max_bits=64 -p width=1 --target xc7"
    assert found.command == words
    # Its cycles are those of an engine by itself.
    cycles = Measured(column="cycles", family="fdfm", bits=64, part="cluster", cores=8)
    random = dataclasses.replace(right, exponents="random")
    assert only(cycles, [random]).command == (
        "coprime run fdfm RSA_PRIVATE -p max_bits=64 -p width=1 --bits 64 --seed 1"
    )


def test_the_bus_counts():
    source = Measured(
        column="lut", family="fdfm", bits=64, target="xc7", part="accelerator", bus="axi4"
    )
    lite = point("fdfm", 64, 1, "xc7", part="accelerator", lut=7000)
    assert only(source, [lite]).value is None
    found = only(source, [lite, dataclasses.replace(lite, bus="axi4", lut=8000)])
    assert found.value == 8000
    assert found.how == (
        "mapped with Yosys: the accelerator of fdfm with bus axi4 to a device of xc7"
    )
    assert found.command.endswith(" --target xc7 --part accelerator --bus axi4")


def test_combination_of_measured_figures():
    cycles = Measured(column="cycles", family="fdfm", bits=64)
    clock = Measured(column="fmax_mhz", family="karatsuba", bits=256)
    source = Computed(
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
    routed = "coprime synth karatsuba -p max_bits=256 -p width=2 --target ecp5 --route"
    assert (found.kind, found.command) == ("simulated, routed", f"{WORST}; {routed}")
    for one in points:
        missing = only(source, [one])
        assert (missing.value, missing.ratio) == (None, None)
        assert "not in these results" in missing.how


def test_computed_figures_may_have_a_place():
    assert only(Computed(value=lambda: 1.0, how="a count"), []).where == "Computed"
    assert only(Computed(value=lambda: 1.0, how="", where="Corrected"), []).where == "Corrected"


def test_what_follows_from_the_papers_own_figures_is_not_measured():
    source = Derived(value=lambda: 100.0, where="From Table 8", how="half its figure")
    (line, _) = compare(table(source), [])
    assert line.measurements == ()
    (own,) = line.derived
    assert (own.value, own.ratio, own.kind) == (100, 0.5, DERIVED)
    assert (own.where, own.how, own.command) == ("From Table 8", "half its figure", "")


def test_a_reason_is_that_of_a_figure_without_a_counterpart_of_ours():
    reasons = {"Figure": "another circuit", "Other": "a name"}
    derived = Derived(value=lambda: 100.0, where="From Table 8", how="half its figure")
    missing = Measured(column="cycles", family="fdfm", bits=64)
    for sources, reason in (((), "another circuit"), ((derived,), "another circuit")):
        (line, other) = compare(table(*sources, reasons=reasons), [])
        assert (line.reason, other.reason) == (reason, "")
    for ours in (missing, Computed(value=lambda: 1.0, how="a count")):
        (line, _) = compare(table(ours, derived, reasons=reasons), [])
        assert line.reason == ""


def test_cycles_that_were_not_simulated_are_predicted():
    """A simulated one counts first, wherever it is."""
    source = Measured(column="cycles", family="fdfm", bits=64)
    predicted = point("fdfm", 64, 1, cycles=None)
    found = only(source, [predicted])
    assert (found.value, found.kind) == (predicted.predicted_cycles, "predicted")
    assert found.how == "predicted: fdfm, RSA_PRIVATE of 64 bits"
    simulated = only(source, [predicted, point("fdfm", 64, 2)])
    assert (simulated.value, simulated.kind) == (point("fdfm", 64, 2).cycles, "simulated")


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


def fdfm_points():
    """One engine, without and with CRT, and 320 of them, with the paper's own figures."""
    settings = {"parameters": {"max_bits": 2176, "multipliers": 1}, "target": "xc7", "dsp": 1}
    direct = round(36.402 * fdfm.EARLIER_MEGAHERTZ * 1000)
    engine = {"cycles": fdfm.CRT_CYCLES[1024], "slices_estimate": 140, "bram": 1.0}
    many = {"part": "cluster", "cores": 320, "slices_estimate": 34_635, "bram": 320.0, "dsp": 320}
    return [
        point("fdfm", 1024, 1, **settings | engine),
        point("fdfm", 1024, 1, **settings | {"operation": "MODEXP", "cycles": direct}),
        *(point("fdfm", 1024, 1, **settings | engine | many, node=node) for node in NODES),
    ]


@pytest.mark.parametrize("number", ["Table 1", "Table 3"])
def test_320_cores_beside_the_papers(number):
    (own,) = [one for one in fdfm.TABLES if one.number == number]
    lines = [one for one in compare(own, fdfm_points()) if one.row.endswith("320 cores")]
    ratios = {
        line.quantity: [(one.where, one.ratio) for one in line.measurements]
        for line in lines
        if line.measurements
    }
    assert len(ratios) == {"Table 1": 3, "Table 3": 5}[number]
    for quantity, beside in ratios.items():
        if quantity in ("Execution time", "Throughput"):
            ((where, ratio),) = beside
            assert where == "Simulation, at the paper's clock"
            assert ratio == pytest.approx(1, abs=1e-4), quantity
        else:
            assert beside == [(f"xc7, mapped: {node} nodes", 1) for node in ("lean", "full")]
    # Nothing here is clocked with as many cores.
    assert not any("requency" in quantity for quantity in ratios)
    # Without the cluster's point its area is not taken from another one.
    (engine, *_) = fdfm_points()
    for line in compare(own, [engine]):
        if line.row.endswith("320 cores") and line.quantity.startswith(("Slices", "Logic", "DSP")):
            assert [one.value for one in line.measurements] == [None, None]


def test_throughput_of_320_cores_says_what_it_assumes():
    (work,) = [one for one in fdfm.TABLES if one.number == "Table 3"]
    (line,) = [
        one
        for one in compare(work, fdfm_points())
        if (one.row, one.quantity) == ("This work, 320 cores", "Throughput")
    ]
    (own,) = line.measurements
    assert own.value == pytest.approx(320 * 1024 / (fdfm.CRT_CYCLES[1024] / 325_098))
    assert own.how.endswith("at 325.098 MHz, times 320 cores that are busy all the time")


def test_earlier_work_beside_this_circuit_without_crt():
    (work,) = [one for one in fdfm.TABLES if one.number == "Table 3"]
    lines = {
        line.quantity: {one.where: one for one in line.measurements}
        for line in compare(work, fdfm_points())
        if line.row == "Our previous work [4]" and line.measurements
    }
    assert set(lines) == {"Execution time", "Throughput"}
    for line in lines.values():
        own = line["Simulation, at the paper's clock"]
        assert own.ratio == pytest.approx(1, abs=1e-4)
        assert "MODEXP of 1024 bits" in own.how
        assert "at 447.027 MHz" in own.how
        assert line["ecp5, routed"].value is None  # no point is routed


def test_reasons_name_their_figures():
    """All rows of a table need no names."""
    rows = (
        Row("one", {"Figure": 1, "Other": 2}, reasons={"Figure": "why", "Other": "so"}),
        Row("two", {"Other": 1}, reasons={"Other": "so"}),
    )
    lines = compare(dataclasses.replace(table(), rows=rows), [])
    assert reasons(lines) == [("why", "Figure (rows: one)"), ("so", "Other")]
