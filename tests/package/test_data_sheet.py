"""The data sheet: its tables in Markdown, the same in JSON, and where its figures come from."""

import json
import re
from dataclasses import replace

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import CLUSTER, FAMILIES, choose
from coprime.cells.target import Target
from coprime.engine.design import EngineDesign
from coprime.flow.mapping import Resources
from coprime.package.data_sheet import files, sheet_of
from coprime.package.describe import describe
from coprime.package.figures import (
    Assessed,
    ClockFigures,
    Figures,
    OperationFigures,
    PartFigures,
    SoftwareFigures,
)
from coprime.package.sheet import Section
from coprime.padding.scheme import Padding

SECTIONS = {
    *("overview", "area", "operations", "capabilities", "parameters", "ports", "requirements"),
    *("timing", "registers", "assessed"),
}
HEAD = {"name", "summary", "version", "command", "target", "bus", "clock_mhz", "notes"}
FIGURES = Figures(
    parts=[
        PartFigures(
            part=part,
            resources=Resources(
                lut=lut, lutram=0, ff=900, carry=80, dsp=1, bram=1.5, slices_estimate=400
            ),
            found="mapped by Yosys 1.2 for ecp5",
            clock=ClockFigures(
                mean_mhz=80.0, best_mhz=84.25, seeds=4, found="routed by nextpnr 3.4"
            ),
        )
        for part, lut in (("engine", 688), ("accelerator", 1319))
    ],
    operations=[
        OperationFigures(
            operation=name,
            bits=2048,
            engine_cycles=cycles,
            command_cycles=cycles + 1000,
            moving_cycles=600,
        )
        for name, cycles in (("RSA_PUBLIC", 398_400), ("RSA_PRIVATE", 10_000_000))
    ],
    software=[SoftwareFigures(bits=2048, private_per_second=1000.5, public_per_second=30000.0)],
    software_found="OpenSSL 5.6, one core of a processor",
)


def described(family="fdfm", target=Target.ECP5, bus=Bus.AXI4_LITE, paddings=(), **more):
    settings = more.pop("settings", {})
    return describe(choose(family, settings), target, bus, paddings, **more)


def tables(text):
    """The tables of a page by their headings: lists of rows, the first one of titles."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        lines = [line for line in section.splitlines() if line.startswith("|")]
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
        found[section.splitlines()[0]] = [[cell.strip() for cell in row] for row in rows]
    return found


def written(own):
    """Both forms."""
    texts = files(own)
    return texts["doc/data_sheet.md"], json.loads(texts["doc/data_sheet.json"])


@pytest.mark.parametrize("target", Target)
@pytest.mark.parametrize("family", [*FAMILIES, CLUSTER])
def test_every_family_has_a_complete_sheet(family, target):
    own = described(family, target)
    page, record = written(own)
    has_lanes = isinstance(own.core.design, EngineDesign)
    assert set(record) == SECTIONS | HEAD | ({"memory"} if has_lanes else set())
    assert (record["name"], record["target"]) == (own.name, target.value)
    found = tables(page)
    for section in sheet_of(own).sections:
        assert record[section.key] == [dict(row) for row in section.rows]
        if section.rows and not section.pictures:
            titles, rule, *rows = found[section.title]
            assert titles == list(section.columns.values())
            assert all(set(cell) <= set("-:") for cell in rule)
            assert len(rows) == len(section.rows)
            assert all(len(row) == len(titles) for row in rows)
    assert [row["name"] for row in record["ports"]] == [port.name for port in own.ports]
    assert [row["name"] for row in record["registers"]] == [one.name for one in own.registers]
    shown = {row["name"]: row["value"] for row in record["parameters"]}
    assert {name: str(value) for name, value in own.choice.values.items()}.items() <= shown.items()


@pytest.mark.route
def test_blinded_scalars_are_shown():
    """And which ones are not."""
    given = {"curves": "all", "ecdsa": "hardened", "max_bits": "512"}
    _, record = written(described("compact", settings=given))
    row = next(one for one in record["overview"] if "scalars blinded" in one.values())
    names = "EC_MULTIPLY, ECDSA_SIGN, EC_BASE_MULTIPLY, ED_BASE_MULTIPLY"
    assert f"{names}: half the order's length in random bits" in row.values()
    assert "not X_MULTIPLY" in row.values()
    shown = {one["name"]: one["value"] for one in record["parameters"]}
    assert shown["ecdsa"] == "hardened"


def test_figures_are_shown_with_how_they_were_found():
    page, record = written(described(settings={"max_bits": "2048"}, figures=FIGURES))
    engine, accelerator = record["area"]
    assert (engine["lut"], accelerator["lut"]) == (688, 1319)
    assert accelerator["clock_mean_mhz"] == 80.0
    assert accelerator["clock_best_mhz"] == 84.25
    public, private = record["operations"]
    assert private["engine_cycles"] == 10_000_000
    assert private["milliseconds"] == pytest.approx((10_000_000 + 1000 + 600) / 80_000)
    assert public["per_second"] == pytest.approx(200.0)
    assert record["software"] == [
        {
            "bits": 2048,
            "private": pytest.approx(80e6 / 10_001_600),
            "public": pytest.approx(200.0),
            "openssl_private": 1000.5,
            "openssl_public": 30000.0,
            "found": "OpenSSL 5.6, one core of a processor",
        }
    ]
    for text in ("mapped by Yosys 1.2", "routed by nextpnr 3.4", "mean of 4 seeds", "10,000,000"):
        assert text in page
    assert "not measured" not in page


def test_what_was_assessed_is_shown_and_what_was_not_is_named():
    faults = Assessed(assessment="faults", what="of it", amount="12 runs", result="0 wrong results")
    page, record = written(described(figures=Figures(assessed=[faults])))
    shown = [(row["assessment"], row["what"], row["amount"]) for row in record["assessed"]]
    assert shown == [
        ("constant time", "not assessed", ""),
        ("faults", "of it", "12 runs"),
        ("power", "not assessed", ""),
    ]
    assert "0 wrong results" in page
    assert "glitches" in record["notes"]["assessed"]


@pytest.mark.parametrize(
    ("assessments", "found"),
    [
        (["constant time"], "proved, see Assessments"),
        (["faults"], "declared, not proved"),
        ([], "declared, not proved"),
    ],
)
def test_a_declaration_says_whether_it_is_proved(assessments, found):
    assessed = [
        Assessed(assessment=name, what="", amount="", result="proved") for name in assessments
    ]
    own = described(
        settings={"max_bits": "64", "exponentiator": "fixed-window"},
        figures=Figures(assessed=assessed),
    )
    _, record = written(own)
    (row,) = [one for one in record["overview"] if one["property"] == "constant time"]
    assert (row["value"], row["found"]) == (True, found)


def test_a_named_clock_counts_more_than_a_routed_one():
    _, record = written(described(settings={"max_bits": "2048"}, figures=FIGURES, clock_mhz=40.0))
    assert record["clock_mhz"] == 40.0
    assert record["operations"][0]["per_second"] == pytest.approx(100.0)


def test_no_clock_is_invented():
    figures = Figures(operations=FIGURES.operations, software=FIGURES.software)
    page, record = written(described(target=Target.XC7, figures=figures))
    assert record["clock_mhz"] is None
    assert all("milliseconds" not in row for row in record["operations"])
    assert "private" not in record["software"][0]
    assert "`--clock MHZ` sets it" in page


@pytest.mark.parametrize("family", ["fdfm", CLUSTER])
@pytest.mark.parametrize("clock", [None, 100.0])
def test_texts_promise_only_columns_that_are_there(family, clock):
    figures = Figures(
        operations=FIGURES.operations,
        software=FIGURES.software,
        software_found=FIGURES.software_found,
    )
    _, record = written(described(family, Target.XC7, figures=figures, clock_mhz=clock))
    there = clock is not None
    assert ("private" in record["software"][0]) is there
    assert ("of this design, from the times above" in record["notes"]["software"]) is there
    assert ("per_second" in record["operations"][0]) is there
    assert ('column "a second"' in record["notes"]["operations"]) is (there and family == CLUSTER)
    columns = {"command_cycles", "moving_cycles"} & {*record["operations"][0]}
    assert bool(columns) is ("COMMAND" in record["notes"]["operations"])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_parameter_is_listed_set_or_not(family):
    own = described(family)
    _, record = written(own)
    known = [*own.core.family.parameters, *own.core.family.operations]
    shown = {row["name"] for row in record["parameters"]}
    assert {one.name for one in known} <= shown
    assert ("modexp2" in shown) is any(one.name == "modexp2" for one in known)


def test_no_sentence_is_a_riddle():
    """Those that engineers asked about."""
    for family in ("compact", CLUSTER):
        page, _ = written(described(family, figures=FIGURES))
        for words in ("leaves the building", "A second counts", "side by side"):
            assert words not in page


@pytest.mark.matrix
def test_curves_are_named_that_the_numbers_are_long_enough_for():
    settings = {"curves": "weierstrass+montgomery", "max_bits": "512"}
    _, record = written(described("compact", settings=settings))
    (row,) = [one for one in record["overview"] if one["property"] == "curves"]
    names = row["value"].split(", ")
    assert {"P-256", "P-384", "secp256k1", "X25519", "X448"} <= {*names}
    assert "P-521" not in names and "Ed25519" not in names
    _, record = written(described("compact"))
    assert not [one for one in record["overview"] if one["property"] == "curves"]


def test_what_is_not_measured_names_the_command():
    own = described(target=Target.XC7)
    page, record = written(own)
    assert record["area"] == []
    assert f"Not measured: `{own.command} --measure -o DIR`" in page
    assert {"property": "area of the accelerator", "value": None} in [
        {name: row[name] for name in ("property", "value")} for row in record["overview"]
    ]


def test_a_part_that_was_not_measured_is_in_the_table():
    figures = Figures(parts=FIGURES.parts[1:])
    page, record = written(described(figures=figures))
    assert [row["lut"] for row in record["area"]] == [None, 1319]
    assert "measures the missing figures" in page


def test_a_clock_that_was_not_measured_names_the_command():
    engine, accelerator = FIGURES.parts
    page, record = written(
        described(figures=Figures(parts=[replace(engine, clock=None), accelerator]))
    )
    assert [row["clock_mean_mhz"] for row in record["area"]] == [None, 80.0]
    assert "measures the missing figures" in page


def test_ports_of_streams_and_bursts_are_explained():
    _, record = written(described(bus=Bus.AXI4, paddings=(Padding.OAEP,)))
    meanings = {row["name"]: row["meaning"] for row in record["ports"]}
    assert meanings["s_axi_awlen"] and meanings["s_axis_random_tdata"]
    assert {"random bytes"} <= {row["name"] for row in record["requirements"]}


def test_rows_must_have_the_columns():
    with pytest.raises(ValueError, match=r"a row of area has \['x'\], not \['part'\]"):
        Section(key="area", title="Area", columns={"part": "part"}, rows=[{"x": 1}])
