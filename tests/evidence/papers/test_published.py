"""The papers' tables: read from their files, found, and compared only with what exists."""

import importlib
import sys

import pytest
from coprime_evidence import papers
from coprime_evidence.papers.published import (
    Column,
    Computed,
    Derived,
    Measured,
    Paper,
    Publication,
    Row,
    Table,
    tables,
)

from coprime.bus.kinds import Bus
from coprime.catalog import CLUSTER, FAMILIES
from coprime.engine.contract import Command
from coprime.explore.points import COLUMNS
from coprime.flow.part_names import ALONE, PARTS, SYSTEM
from coprime.flow.targets import DEVICES

PAPER = Paper(name="SOME", authors="A. Author", title="A title", venue="A venue")


def sources():
    return [
        (table, one)
        for table in tables()
        for row in table.rows
        for found in row.here.values()
        for source in found
        if not isinstance(source, Derived)
        for one in (source.of if isinstance(source, Computed) else (source,))
    ]


def test_tables_are_told_apart():
    names = [(table.paper.name, table.number) for table in tables()]
    assert len(names) == len(set(names))
    assert {"Table 1", "Table 2", "Table 3", "Figure 6"} == {
        number for name, number in names if name == "FDFM"
    }


def test_every_paper_of_the_catalogue_is_there():
    assert {family.paper for family in FAMILIES.values()} - {""} <= {
        table.paper.name for table in tables()
    }


def test_sources_name_what_exists():
    for table, source in sources():
        where = f"{table.paper.name}, {table.number}"
        if isinstance(source, Computed):
            assert source.value() > 0, where
            continue
        assert source.column in COLUMNS, where
        family = FAMILIES[source.family]
        assert source.part in (*PARTS, CLUSTER, SYSTEM), where
        assert source.bus in [bus.value for bus in Bus], where
        assert (source.cores > 0) is (source.part == CLUSTER), where
        # A multiplier by itself multiplies, and nothing else does only that; and so for others.
        alone = source.operation in ALONE.values()
        assert ALONE.get(source.part) == (source.operation if alone else None), where
        settings = {name: str(value) for name, value in source.parameters.items()}
        choice = family.choose(settings)
        if not alone:
            assert Command[source.operation] in choice.design.capabilities.required, where
        assert source.target in (None, "xc7", "ecp5", "unit-gate"), where
        assert source.device in (None, *(device.title for device in DEVICES.values())), where
        assert source.exponents in (None, "worst", "random"), where
        # What measures it is then known: an area is of a target, a time of a device.
        counted = ("cycles", "predicted_cycles", "software_cycles", "utilization")
        if source.column not in counted:
            assert source.target is not None, where


def test_charts_have_numbers_over_numbers():
    for table in tables():
        if table.drawn:
            assert set(table.drawn) <= {column.name for column in table.columns}
            for row in table.rows:
                assert row.x is not None
                for name in table.drawn:
                    assert isinstance(row.published[name], int | float)


def test_a_new_module_declares_itself(tmp_path, monkeypatch):
    (tmp_path / "newcomer.py").write_text(
        "from coprime_evidence.papers.published import Column, Paper, Row, Table\n"
        'PAPER = Paper(name="NEW", authors="", title="", venue="")\n'
        'TABLES = (Table(paper=PAPER, number="Table 9", title="", row_title="",\n'
        '                columns=(Column(name="Area"),), rows=(Row("one", {"Area": 1}),)),)\n'
    )
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    monkeypatch.setitem(sys.modules, "coprime_evidence.papers.newcomer", None)
    del sys.modules["coprime_evidence.papers.newcomer"]
    importlib.invalidate_caches()
    assert ("NEW", "Table 9") in [(table.paper.name, table.number) for table in tables()]


def test_a_figure_of_no_column_is_refused():
    def make(published, here=None):
        return Table(
            paper=PAPER,
            number="Table 1",
            title="",
            row_title="",
            columns=(Column(name="Area"),),
            rows=(Row("one", published, here or {}),),
        )

    make({"Area": 1})
    with pytest.raises(ValueError, match="SOME, Table 1: 'Time' in row 'one' is no column"):
        make({"Area": 1, "Time": 2})
    with pytest.raises(ValueError, match="'Time' in row 'one' is no column"):
        make({"Area": 1}, {"Time": (Measured(column="lut", family="fdfm", bits=64),)})


PRINTED = """
name = "SOME"
authors = "A. Author"
title = "A title"
venue = "A venue"

[[table]]
number = "Table 1"
title = "What it takes"
row_title = "Length"
columns = ["Area [LUTs]", "Time in [4] [ms]", "k"]
rows = '''
  64    12  0.50  '101'
1024  1200  -     two words
'''
remarks = '''
One that
is wrapped.

Another.
'''
"""


def test_a_table_is_read_as_it_is_printed():
    printed = Publication(PRINTED)
    source = Measured(column="lut", family="fdfm", bits=64)
    table = printed.table("Table 1", {64: {"Area": (source,)}}, computed=lambda bits: {"k": bits})
    assert table.columns == (
        Column(name="Area", unit="LUTs"),
        Column(name="Time in [4]", unit="ms"),
        Column(name="k"),
    )
    assert table.rows == (
        Row("64 bits", {"Area": 12, "Time in [4]": 0.5, "k": 64}, {"Area": (source,)}, x=64),
        Row("1,024 bits", {"Area": 1200, "k": 1024}, {}, x=1024),
    )
    assert table.remarks == ("One that is wrapped.", "Another.")
    assert printed.column("Table 1", "k") == {64: "101", 1024: "two words"}
    assert next(iter(printed.cells("Table 1"))) == ("64", "12", "0.50", "'101'")


REASONS = """
[[reason]]
text = "in words"
columns = ["k"]
rows = ["1024"]

[[reason]]
text = "not ours"
tables = ["Table 1"]
"""


def test_reasons_are_those_of_tables_rows_and_columns():
    """The first one that holds counts; without any there is none."""
    (row, other) = Publication(PRINTED + REASONS).table("Table 1").rows
    assert set(row.reasons.values()) == {"not ours"}
    assert other.reasons == dict.fromkeys(("Area", "Time in [4]"), "not ours") | {"k": "in words"}
    assert Publication(PRINTED).table("Table 1").rows[0].reasons == {}


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [('"1024"', '"2048"', "2048, k"), ('"k"', '"K"', "1024, K"), ("Table 1", "Table 2", "Table 2")],
)
def test_a_reason_of_no_figure_is_refused(old, new, names):
    text = PRINTED + REASONS.replace(f'["{old}"]', f'["{new}"]').replace(f"[{old}]", f"[{new}]")
    with pytest.raises(ValueError, match=f"SOME: the reason .* is of no figure with {names}"):
        Publication(text)


def test_tables_that_no_module_makes_are_as_printed():
    second = PRINTED[PRINTED.index("[[table]]") :].replace("Table 1", "Table 0")
    printed = Publication(PRINTED + second)
    made = printed.table("Table 0", {64: {"Area": ()}})
    assert printed.complete([made]) == (printed.table("Table 1"), made)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "What', 'titel = "What', "title"),
        ("0.50  '101'", "0.50", "Table 1: row '64' must have 3 figures, a column each, not 2"),
        ('"Length"', "7", "row_title"),
    ],
)
def test_a_file_of_another_shape_is_refused(old, new, message):
    assert old in PRINTED
    with pytest.raises(ValueError, match=message):
        Publication(PRINTED.replace(old, new))
