"""Figures on pages: drawn from records, and the records of today's hardware."""

import random
import re
from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import pytest

from bench import figures, records, ring_projection
from bench.figures import NOT_YET, OTHERS, ROOT, draw, named, pages, unrecorded
from bench.records import Record, read_records, write_records
from coprime.explore.points import read_points
from coprime.explore.shipped import measured_points, shipped_points
from coprime.flow.sources import sources
from coprime.flow.tool_errors import ToolError
from coprime.flow.verilog import digest_of

RECORDS = read_records()
TEXTS = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in pages()}
MEASURED = sorted(name for name, one in RECORDS.items() if one.verilog is not None)
PREDICTED = sorted(name for name, one in RECORDS.items() if one.is_predicted)
SLOW = ("curve", "ring", "X_MULTIPLY")
"""Words of commands whose programs take many seconds: none of these is drawn."""
DRAWN = 3
"""Records that a version of the sources compares, besides those of the README. All of them are
slow: making the Verilog of one takes seconds."""


def complaint(one, today):
    """What to do about a record whose Verilog is another today; empty if it is not."""
    if one.verilog == today:
        return ""
    on = [page for page, text in TEXTS.items() if one.name in named(text, RECORDS)]
    return (
        f"{one.name} ({one.command}) was measured on other Verilog: `make figures NAMES={one.name}`"
        f" measures it again, and writes {', '.join(on) or 'no page'}"
    )


def drawn(names):
    """Some of these, others for other sources."""
    quick = [name for name in names if not any(word in RECORDS[name].command for word in SLOW)]
    return random.Random(sources()).sample(quick, DRAWN)


def family_of(name):
    """The first word after the verb of a record's command."""
    return RECORDS[name].command.split()[2]


def records_of(family, names):
    """Those of a family."""
    return [RECORDS[name] for name in names if family_of(name) == family]


def check_digest(name):
    said = complaint(RECORDS[name], RECORDS[name].verilog_today())
    assert not said, said


def check_cycles(name):
    again = RECORDS[name].again()
    assert again == RECORDS[name], f"{name}: {again.cycles:,} cycles; `make figures` writes pages"


def with_readme(names):
    """Those that are drawn, and those of the README."""
    return sorted({*drawn(names), *(named(TEXTS["README.md"], RECORDS).keys() & names)})


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("name", with_readme(MEASURED))
def test_a_record_is_of_todays_verilog(name):
    check_digest(name)


@pytest.mark.route
@pytest.mark.parametrize("family", sorted({*map(family_of, MEASURED)}))
def test_every_record_is_of_todays_verilog(family):
    said = [complaint(one, one.verilog_today()) for one in records_of(family, MEASURED)]
    assert not any(said), "\n".join(filter(None, said))


LONG = ("ring_6_p256", "ring_24_2048")
"""Whose predictions take seconds."""


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=[pytest.mark.matrix] * one.endswith(LONG))
        for one in with_readme(PREDICTED)
    ],
)
def test_cycles_are_predicted(name):
    check_cycles(name)


@pytest.mark.route
@pytest.mark.parametrize("family", sorted({*map(family_of, PREDICTED)}))
def test_all_cycles_are_predicted(family):
    for one in records_of(family, PREDICTED):
        check_cycles(one.name)


def test_a_changed_design_names_record_and_pages():
    one = RECORDS["compact_2048_xc7"]
    assert complaint(one, one.verilog) == ""
    said = complaint(one, "another digest")
    assert said.startswith("compact_2048_xc7 (coprime synth compact -p max_bits=2048 --target xc7)")
    assert "README.md" in said and "docs/compact.md" in said
    assert "docs/cluster.md" not in said


def test_the_digest_is_of_hardware_alone():
    """Comments do not count, which have the version and the command."""
    text = "// Coprime 0.2.0\nmodule a; // top\n  wire b;\nendmodule\n"
    assert digest_of(text) == digest_of(text.replace("0.2.0", "0.3.0").replace(" // top", ""))
    assert digest_of(text) != digest_of(text.replace("wire b", "wire c"))
    assert re.fullmatch("[0-9a-f]{16}", digest_of(text))


@pytest.mark.parametrize("page", TEXTS)
def test_pages_are_as_their_records(page):
    assert draw(TEXTS[page], RECORDS) == TEXTS[page], f"{page}: `make figures` writes it"


@pytest.mark.parametrize("page", TEXTS)
def test_every_figure_has_a_record(page):
    path = ROOT / page
    if path.name not in (*NOT_YET, *OTHERS) and path.parent.name not in OTHERS:
        assert unrecorded(TEXTS[page], RECORDS) == []


def test_the_projection_is_of_the_shipped_measurements():
    said = "`python -m bench.ring_projection` writes it"
    assert f"\n{ring_projection.projection()}\n<!-- end -->" in TEXTS["docs/results.md"], said


def test_stamped_clusters_are_as_shipped():
    """Their clocks and rates; other figures of that page are of experiments without a record."""
    page = TEXTS["docs/stamping.md"]
    said = {*re.findall(r"[\d.,]*\d", page)}
    wanted = ("RSA_PRIVATE", "random", 2048)
    stamped = [
        one
        for one in shipped_points()
        if one.stamped and (one.operation, one.exponents, one.bits) == wanted
    ]
    assert len(stamped) == 3
    for one in stamped:
        rate = round(one.cores * one.fmax_mhz * 1e6 / one.predicted_cycles)
        assert {f"{one.fmax_mhz:.1f}", f"{one.predicted_cycles:,}", f"{rate}"} <= said


AREA_COLUMNS = ("lut", "lutram", "ff", "carry", "dsp", "bram", "slices_estimate")


def test_records_and_points_are_the_same_measurements():
    """Of the same Verilog on the same target: pages, report and data sheets do not differ."""
    points = {}
    for one in measured_points():
        if one.verilog and one.status == "ok":
            points.setdefault((one.verilog, one.target), []).append(one)
    compared = 0
    for one in RECORDS.values():
        target = next((name for name in ("xc7", "ecp5") if f"--target {name}" in one.command), "")
        for point in points.get((one.verilog, target), ()):
            compared += 1
            for column in AREA_COLUMNS:
                assert getattr(point, column) == getattr(one, column), (one.name, column)
            placed = point.placements == 1 and "--seeds" not in one.command
            if placed and one.fmax_mhz and point.fmax_mhz and point.device == one.device:
                assert point.fmax_mhz == one.fmax_mhz, one.name
    assert compared > 100


def test_every_record_is_on_a_page():
    used = {name for text in TEXTS.values() for name in named(text, RECORDS)}
    assert used == RECORDS.keys()


# --- How it is done -------------------------------------------------------------------------------

AREA = Record(
    name="area", command="coprime synth fdfm --target ecp5", lut=1234, bram=1.5, verilog="0"
)
CLOCK = replace(AREA, name="clock", fmax_mhz=100.04, verilog=None)
RUN = Record(name="run", command="coprime run fdfm RSA_PRIVATE --bits 64", cycles=4000)
THREE = {one.name: one for one in (AREA, CLOCK, RUN)}


def block(template):
    return f"before\n\n<!-- figures\n{template}\n-->\nold\n<!-- end -->\n\nafter\n"


def drawn_block(template):
    text = draw(block(template), THREE)
    assert draw(text, THREE) == text
    return text.partition("-->\n\n")[2].partition("\n\n<!-- end -->")[0]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{area.lut} LUTs", "1,234 LUTs"),
        ("{area.bram}", "1.5"),
        ("{area.lut / 8:.1f}", "154.2"),
        ("| x | {lut} | {run.cycles / bram} | area", "| x | 1,234 | 2,666.7 |"),
        ("{clock.fmax_mhz:.1f} MHz", "100.0† MHz"),
    ],
)
def test_templates(template, text):
    assert drawn_block(template).split("\n")[0] == text


def test_a_figure_of_earlier_hardware_is_marked():
    assert "make figures" in drawn_block("{clock.lut}")
    assert "make figures" not in drawn_block("{area.lut} {run.cycles}")


@pytest.mark.parametrize(
    "template", ["{area.fmax_mhz}", "{none.lut}", "{area.luts}", "| {lut} | none", "{open('x')}"]
)
def test_templates_that_cannot_be(template):
    with pytest.raises(ValueError, match=r"\{|no record"):
        draw(block(template), THREE)


@pytest.mark.parametrize(
    "text",
    [
        "It has 1,234 LUTs.",
        "It has 1,234\nLUTs at 100.0 MHz.",
        "| engine | LUTs |\n|---|---|\n| x | 1,234 |",
        "| | |\n|---|---|\n| LUTs | 1,234 |",
        "`fdfm --clock 5 MHz`",
        "The paper has 99 LUTs.",
        "[Its source](https://example.org) has 99 LUTs.",
        "| whose | LUTs |\n|---|---|\n| the paper's | 99 |",
    ],
)
def test_figures_with_a_record(text):
    assert unrecorded(f"<!-- figures of area, clock -->\n\n{text}\n", THREE) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It has 1,235 LUTs.", (3, "1,235 LUTs")),
        ("The paper has 99 LUTs. Ours\nhas 98 LUTs.", (4, "98 LUTs")),
        ("It has 7 more LUTs.", (3, "7 LUTs")),
        ("At 99.9 MHz", (3, "99.9 MHz")),
        ("| engine | LUTs |\n|---|---|\n| x | 99 |", (5, "99 LUTs")),
        ("| | |\n|---|---|\n| LUTs of x | 99 |", (5, "99 LUTs")),
        (block("| x | LUTs |\n|---|---|\n| {lut} | 99 | area"), (8, "99 LUTs")),
        (block("| x | {lut} | 99 LUTs | area\n| x | {lut} | 99 LUTs | area"), (7, "99 LUTs")),
    ],
)
def test_figures_without_a_record(text, found):
    assert unrecorded(f"<!-- figures of area, clock -->\n\n{text}\n", THREE) == [found]


def test_tables_of_papers_are_drawn_from_the_shipped_points():
    text = figures.draw("before\n<!-- compared: OTBN -->\nold\n<!-- end -->\nafter\n", {})
    assert text.startswith("before\n<!-- compared: OTBN -->\n\n### OTBN, Performance")
    assert text.endswith("\n<!-- end -->\nafter\n")
    assert "| X25519 | Cycles | 114,488 | 1,145,873 (× 10.01) |" in text
    assert unrecorded(text, {}) == []


def test_what_is_derived_is_named_so():
    text = figures.draw("<!-- compared: COMPRESSION, Table 7 -->\n<!-- end -->\n", {})
    head = next(line for line in text.split("\n") if line.startswith("| length of the key"))
    assert "derived: Grown from its 32 bits" in head
    assert "ecp5, mapped: LUTs of 4 inputs" in head


@pytest.mark.parametrize(
    ("what", "message"), [("OTBN, Table 9", "OTBN has no Table 9; it has"), ("X", "no paper X")]
)
def test_tables_that_are_not_there(what, message):
    with pytest.raises(ValueError, match=message):
        figures.draw(f"<!-- compared: {what} -->\n<!-- end -->\n", {})


def test_a_record_of_another_page_does_not_count():
    assert unrecorded("It has 1,234 LUTs.\n", THREE) == [(1, "1,234 LUTs")]


def test_records_are_kept(tmp_path):
    write_records(THREE.values(), tmp_path / "records.csv")
    assert read_records(tmp_path / "records.csv") == THREE


def test_points_of_other_hardware_lose_their_digest(tmp_path, monkeypatch):
    known = [one for one in shipped_points() if one.verilog and one.target == "xc7"]
    same, other = known[0], next(one for one in known if one.family != known[0].family)
    monkeypatch.setattr(figures, "SHIPPED", tmp_path / "measured.csv")
    monkeypatch.setattr(figures, "measured_points", lambda: [same, other])
    monkeypatch.setattr(Record, "verilog_today", lambda one: same.verilog)
    figures.mark_shipped()
    marked = [same, replace(other, verilog=None)]
    assert read_points(tmp_path / "measured.csv") == marked


@pytest.fixture
def one_page(tmp_path, monkeypatch):
    """A page with a figure of each record, and `make figures` for it; new areas are 99 LUTs."""
    path, page = tmp_path / "records.csv", tmp_path / "page.md"
    write_records(THREE.values(), path)
    page.write_text(block("{area.lut} {clock.lut} {run.cycles}"), "utf-8")

    def again(one):
        if one.name == "run":
            raise ToolError("it failed")
        return replace(one, lut=99, verilog="1")

    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "pages", lambda: [page])
    monkeypatch.setattr(figures, "read_records", lambda: read_records(path))
    monkeypatch.setattr(figures, "write_records", lambda records: write_records(records, path))
    monkeypatch.setattr(figures, "mark_shipped", lambda: None)
    monkeypatch.setattr(Record, "again", again)
    monkeypatch.setattr(Record, "verilog_today", lambda one: "0")

    def make_figures(*arguments):
        monkeypatch.setattr("sys.argv", ["figures", *arguments])
        status = figures.main()
        return status, page.read_text("utf-8").partition("-->\n\n")[2].split("\n")[0]

    return make_figures


def test_what_changed_is_measured_again(one_page, capsys):
    assert one_page("--pages") == (0, "1,234 1,234† 4,000")
    assert one_page("clock") == (0, "1,234 99 4,000")
    assert one_page() == (1, "1,234 99 4,000")
    assert "run: it failed" in capsys.readouterr().err
    assert one_page("--all") == (1, "99 99 4,000")


def test_a_record_keeps_its_date_if_no_figure_changes(monkeypatch):
    measured = SimpleNamespace(
        resources={"lut": 1234, "bram": 1.5},
        fmax_mhz=None,
        critical_path=None,
        device="LFE5U-25F",
        tools={"Yosys": "1"},
    )
    monkeypatch.setattr(records.synth, "area_of", lambda options: measured)
    monkeypatch.setattr(Record, "verilog_today", lambda one: "0")
    kept = replace(AREA, device="LFE5U-25F", tools="Yosys 1", measured="2020-01-01")
    assert kept.again() is kept
    assert replace(kept, lut=1235).again() == replace(kept, measured=date.today().isoformat())


def test_what_changed_is_marked(one_page, monkeypatch):
    monkeypatch.setattr(Record, "verilog_today", lambda one: "2")
    assert one_page("--mark") == (0, "1,234† 1,234† 4,000")
    assert one_page("clock") == (0, "1,234† 99 4,000")


def test_an_unknown_record_is_refused(one_page, capsys):
    with pytest.raises(SystemExit):
        one_page("nothing")
    assert "docs/records.csv has no nothing" in capsys.readouterr().err


def test_two_records_of_a_name_are_refused(tmp_path):
    write_records([AREA, AREA], tmp_path / "records.csv")
    with pytest.raises(ValueError, match="area"):
        read_records(tmp_path / "records.csv")


def test_another_command_is_refused():
    with pytest.raises(ValueError, match="not coprime synth or coprime run"):
        replace(AREA, command="coprime list").verilog_today()
