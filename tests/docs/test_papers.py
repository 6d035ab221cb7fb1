"""The pages that go through a paper part by part name what exists, and leave no table out."""

import re
from pathlib import Path

import pytest
from coprime_evidence.papers.published import tables

from coprime.catalog import FAMILIES
from coprime.cli.commands import entries

ROOT = Path(__file__).parents[2]
EVIDENCE = ROOT / "packages" / "coprime-evidence" / "src"
FILES = [*(ROOT / "coprime").rglob("*"), *EVIDENCE.rglob("*")]
PAGES = ("fdfm", "bitserial", "compression", "karatsuba")
SOURCES = "\n".join(path.read_text("utf-8") for path in sorted(FILES) if path.suffix == ".py")
PARAMETERS = {one.name for family in FAMILIES.values() for one in family.parameters}


def rows(page):
    """The rows of the table below 'part by part', without its head."""
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    (section,) = re.findall(
        r"^## The (?:paper|thesis), part by part\n(.*?)(?=^## |\Z)", text, re.M | re.S
    )
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


def numbers(cell, kind):
    """Of 'Tables 7 to 9, 12 and 18' 7, 8, 9, 12 and 18."""
    found = set()
    for listed in re.findall(rf"{kind}s? (\d+(?:(?:, | and | to )\d+)*)", cell):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", listed):
            found.update(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_row_has_the_part_its_place_and_the_difference(page):
    assert len(rows(page)) > 15
    assert all(len(row) == 3 and row[0] and (row[1] or row[2]) for row in rows(page))


@pytest.mark.parametrize("page", PAGES)
def test_every_table_and_figure_with_numbers_is_there(page):
    parts = [row[0] for row in rows(page)]
    published = [one.number for one in tables() if one.paper.name == page.upper()]
    assert published
    for table in published:
        kind, number = table.split()
        assert any(int(number) in numbers(part, kind) for part in parts), table


@pytest.mark.parametrize("page", PAGES)
def test_what_a_row_names_exists(page):
    """Files, classes and their attributes, families, parameters and commands."""
    for row in rows(page):
        for code in re.findall(r"`([^`]+)`", " ".join(row[1:])):
            assert exists(code), (row[0], code)


def exists(code):
    if code.endswith((".py", "/", ".c")):
        return any(path.as_posix().endswith(f"/{code.rstrip('/')}") for path in FILES)
    if words := re.match(r"coprime (\S+)", code):
        return words[1] in entries()
    if code in FAMILIES or code.startswith(("--", "...", "x * y")):
        return True
    if settings := re.fullmatch(r"(?:-p )?([a-z0-9_]+)=\S+", code):
        return settings[1] in PARAMETERS
    called = re.sub(r"\(.*\)", "", code)
    return all(re.search(rf"\b{re.escape(name)}\b", SOURCES) for name in called.split("."))
