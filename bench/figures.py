"""Figures on pages, drawn from records: `make figures`.

python -m bench.figures           measure the records that are not of today's hardware; write pages
python -m bench.figures --all     measure every record again
python -m bench.figures --pages   write pages from the records as they are
python -m bench.figures --mark    mark records of other hardware as such, measure none; and so the
                                  points of coprime/explore/measured.csv

A page has its figures in blocks. The template is in the comment, with Python's expressions over
records and their columns (bench/records.py) in braces, and a format if need be:

    <!-- figures
    | engine | LUTs | flip-flops | MHz | RSA-2048, ms |
    |---|---:|---:|---:|---:|
    | `compact` | {lut} | {ff} | {fmax_mhz} | {rsa_2048.cycles / fmax_mhz / 1e3:.1f} | compact_2048
    -->
    ...
    <!-- end -->

After the last bar of a row stands the record whose columns need no name in this row. A figure that
is not known to be of today's hardware is written with a dagger.

Blocks of papers' tables are drawn, too: bench/compared.py.

In a sentence, or a table, outside of blocks a figure with a unit is that of a record of the page:
one that a block draws, or that is named in `<!-- figures of NAME, NAME -->`.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from coprime.errors import CoprimeError
from coprime.explore.points import write_points
from coprime.explore.rebuild import area_command
from coprime.explore.shipped import SHIPPED, measured_points

from . import compared
from .page import DOCS
from .records import Record, read_records, write_records

__all__ = ["NOT_YET", "OTHERS", "Finding", "draw", "named", "pages", "unrecorded"]

ROOT = DOCS.parent
NOT_YET = ("stamping.md",)
"""Pages whose figures outside of blocks are not compared with records yet."""
OTHERS = (
    *("boards.md", "errors.md", "integration.md", "soc.md", "synthesis.md", "token.md"),
    "user_results.md",  # whose figures are not ours
    *("boards", "token"),  # folders
)
"""Pages whose figures are of devices, settings of clocks, or of other records."""

STALE = "†"
_NOTE = f"{STALE} Not known to be of the present hardware; `make figures` measures it again.\n"
_BLOCK = re.compile(
    r"^<!-- figures\n(?P<template>.*?)^-->\n(?P<drawn>.*?)^<!-- end -->\n", re.M | re.S
)
_BENCH = re.compile(r"^<!-- make bench: [^\n]*-->\n.*?^<!-- end -->\n", re.M | re.S)
_EXTRA = re.compile(r"^<!-- figures of (?P<names>[\w, \n]+?) -->\n", re.M)
_PLACE = re.compile(r"\{(?P<expression>[^{}]+?)(?::(?P<format>[,.\d]*[a-z%]?))?\}")
_ROW = re.compile(r"^(?P<cells>\|.*\|) *(?P<name>[A-Za-z_]\w*)$", re.M)
_COLUMN = re.compile(rf"(?<![.\w])(?:{'|'.join(field.name for field in fields(Record))})\b")
_NAME = re.compile(r"[A-Za-z_]\w*")


def pages() -> list[Path]:
    """README and every page of docs/."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


# --- Blocks -------------------------------------------------------------------------------------


def draw(text: str, records: Mapping[str, Record]) -> str:
    """A page with every block written anew. Raises ValueError for a template that cannot be."""
    return compared.draw(_BLOCK.sub(lambda block: _drawn(block["template"], records), text))


def _drawn(template: str, records: Mapping[str, Record]) -> str:
    body = _ROW.sub(lambda row: row["cells"], _named_in_full(template, records))
    body = _PLACE.sub(lambda place: _figure(place, records), body)
    note = f"\n{_NOTE}" if STALE in body else ""
    return f"<!-- figures\n{template}-->\n\n{body}{note}\n<!-- end -->\n"


def _named_in_full(template: str, records: Mapping[str, Record]) -> str:
    """The template with the record of a row before each column that has none."""

    def row(found: re.Match[str]) -> str:
        if found["name"] not in records:
            raise ValueError(f"there is no record {found['name']}")
        full = partial(_COLUMN.sub, lambda column: f"{found['name']}.{column[0]}")
        return str(_PLACE.sub(lambda place: full(place[0]), found["cells"]) + found["name"])

    return _ROW.sub(row, template)


def _figure(place: re.Match[str], records: Mapping[str, Record]) -> str:
    expression, spec = place["expression"], place["format"]
    used = _used(expression, records)
    try:
        value = eval(expression, {"__builtins__": {"min": min, "max": max}}, used)  # our own page
    except (AttributeError, NameError, SyntaxError, TypeError) as error:
        raise ValueError(f"{{{expression}}}: {error}") from error
    if value is None:
        raise ValueError(f"{{{expression}}}: not measured yet")
    if spec is None:
        spec = "" if isinstance(value, str) else "," if value == int(value) else ",.1f"
        value = int(value) if spec == "," else value
    return f"{value:{spec}}{STALE if any(one.is_stale for one in used.values()) else ''}"


def _used(text: str, records: Mapping[str, Record]) -> dict[str, Record]:
    return {name: records[name] for name in _NAME.findall(text) if name in records}


def named(text: str, records: Mapping[str, Record]) -> dict[str, Record]:
    """The records of a page: those that its blocks draw, and those that it names."""
    places = (
        place["expression"]
        for block in _BLOCK.finditer(text)
        for place in _PLACE.finditer(_named_in_full(block["template"], records))
    )
    names = (extra["names"] for extra in _EXTRA.finditer(text))
    return _used(" ".join((*places, *names)), records)


# --- Figures without a record -------------------------------------------------------------------

Finding = tuple[int, str]
"""The number of a line, and what there is no record of."""

_UNITS = {
    "LUT": "lut",
    "LUTs": "lut",
    "flip-flops": "ff",
    "FF": "ff",
    "MHz": "fmax_mhz",
    "RAMB36E1": "bram",
    "DP16KD": "bram",
}
_UNIT = "|".join(sorted(map(re.escape, _UNITS), reverse=True))
_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_IN_PROSE = re.compile(rf"(?<![\w.,=])({_NUMBER})(?: more| fewer)? ({_UNIT})\b")
_OF_PAPER = re.compile(r"\]\(https?:|\bpapers?\b|\bthesis\b|\b(?:FDFM|BITSERIAL|KARATSUBA|IPECC)\b")
_CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]*`", re.M | re.S)


def unrecorded(text: str, records: Mapping[str, Record]) -> list[Finding]:
    """Figures with a unit, outside of blocks and code, that no record of the page has.

    What `make bench` writes has no records: tables are measured whole, and so are those of papers
    next to ours. Figures of papers are
    excepted: those in a sentence, or a row of a table, that names one.
    """
    own = named(text, records).values()
    known = {
        column: {f"{value:.15g}" for one in own if (value := getattr(one, column)) is not None}
        | {f"{value:.1f}" for one in own if isinstance(value := getattr(one, column), float)}
        for column in set(_UNITS.values())
    }
    text = compared.BLOCK.sub(_blank, _BENCH.sub(_blank, _BLOCK.sub(_literals, text)))
    plain = _CODE.sub(_blank, text)
    found = [*_in_sentences(plain), *_in_tables(plain)]
    return sorted(
        (line, f"{number} {unit}")
        for line, number, unit in found
        if number.replace(",", "") not in known[_UNITS[unit]]
    )


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n|]", " ", found[0])


def _literals(block: re.Match[str]) -> str:
    """What a block has besides figures of records, in place of the block, as many lines."""
    template = _PLACE.sub("", _ROW.sub(lambda row: row["cells"], block["template"]))
    return "\n" + template + "\n" * (block[0].count("\n") - template.count("\n") - 1)


def _in_sentences(text: str) -> Iterator[tuple[int, str, str]]:
    for sentence in re.finditer(r"(?:(?!\.\s|\n\n|\n\||\n\* ).)+.", text, re.S):
        if sentence[0].lstrip().startswith("|") or _OF_PAPER.search(sentence[0]):
            continue
        for figure in _IN_PROSE.finditer(sentence[0]):
            before = text[: sentence.start() + figure.start()]
            yield before.count("\n") + 1, figure[1], figure[2]


def _in_tables(text: str) -> Iterator[tuple[int, str, str]]:
    """Numbers in columns, and in rows, whose head begins or ends with a unit; others with one."""
    heads: list[str | None] = []
    for line, row in enumerate(text.splitlines(), 1):
        if not row.startswith("|"):
            heads = []
            continue
        first, *cells = (cell.strip() for cell in row[1:].rstrip().removesuffix("|").split("|"))
        if not heads:
            heads = [_head(cell) for cell in cells]
        elif not _OF_PAPER.search(row):
            for head, cell in zip(heads, cells, strict=False):
                unit, figure = head or _head(first), re.match(_NUMBER, cell)
                if unit is not None and figure and not cell.endswith("%"):
                    yield line, figure[0], unit
                else:
                    yield from ((line, one[1], one[2]) for one in _IN_PROSE.finditer(cell))


def _head(cell: str) -> str | None:
    """The unit that a table's head begins or ends with."""
    found = re.match(rf"({_UNIT})(?![-\w]| [×x(])", cell) or re.search(
        rf"(?:^|[ :])({_UNIT})$", cell
    )
    return None if found is None else found[1]


# --- The command --------------------------------------------------------------------------------


def is_other(one: Record) -> bool:
    """Whether the record is of other Verilog than today's."""
    return one.is_stale or one.verilog != one.verilog_today()


def mark_shipped() -> None:
    """Empty the digests of measured.csv that are not those of today's Verilog."""
    known = {(area_command(one), one.verilog) for one in measured_points() if one.verilog}
    others = {
        command
        for command, digest in known
        if is_other(Record(name="shipped", command=command, verilog=digest))
    }
    write_points(
        [
            replace(one, verilog=None) if area_command(one) in others else one
            for one in measured_points()
        ],
        SHIPPED,
    )


def main() -> int:
    """Run the command; the exit status is 1 if a record could not be measured."""
    arguments = argparse.ArgumentParser(description="Draw the figures of pages from records.")
    way = arguments.add_mutually_exclusive_group()
    way.add_argument("--all", action="store_true", help="measure every record again")
    way.add_argument("--pages", action="store_true", help="write pages, measure nothing")
    way.add_argument("--mark", action="store_true", help="mark records of other hardware")
    arguments.add_argument("names", nargs="*", metavar="NAME", help="these records alone")
    options = arguments.parse_args()
    if unknown := set(options.names) - read_records().keys():
        arguments.error(f"docs/records.csv has no {', '.join(sorted(unknown))}")
    failed = 0
    for name in options.names or read_records():
        one = read_records()[name]
        if options.pages or not (options.all or one.is_predicted or is_other(one)):
            continue
        print(f"{name}: {one.command}", file=sys.stderr, flush=True)
        try:
            fresh = replace(one, verilog=None) if options.mark else one.again()
        except CoprimeError as error:  # a tool that is not installed, or a design that does not fit
            print(f"{name}: {error}", file=sys.stderr)
            failed = 1
            continue
        # Each record is kept at once: measuring may take hours, and be interrupted.
        write_records((read_records() | {name: fresh}).values())
    if options.mark and not options.names:
        mark_shipped()
    records = read_records()
    for path in pages():
        text = path.read_text("utf-8")
        if (fresh := draw(text, records)) != text:
            path.write_text(fresh, "utf-8")
            print(f"wrote {path.relative_to(ROOT)}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
