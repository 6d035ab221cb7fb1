"""The report: one page of measured points, and the same figures as PNG and CSV."""

import base64
import csv
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup, escape

from coprime import __version__
from coprime.explore.points import Point, unproved, versions, write_points
from coprime.flow.files import replacing, write_file
from coprime.flow.part_names import PARTS
from coprime.flow.targets import DEVICES, FLOWS
from coprime_evidence.papers.published import Paper, Table, tables
from coprime_evidence.papers.views import views
from coprime_evidence.report.panels import DrawnPanel, draw_view
from coprime_evidence.report.plots import (
    STYLE,
    Figure,
    Plotted,
    Row,
    chart,
    dark_rules,
    draw,
    pareto_front,
    plot_rows,
)
from coprime_evidence.report.side_by_side import Comparison, Counterpart, compare, reasons
from coprime_evidence.report.verdict import judge, spread

Compared = tuple[Table, Sequence[Comparison]]
"""A paper's table, and its figures with their counterparts."""
Picture = tuple[str, str]
"""An SVG for a wide page and one for a telephone, as data addresses."""

_PAGE = Path(__file__).parent / "page"
_PNG_SCALE = 2.0
_EXPONENTS = {"worst": "every exponent bit 1", "random": "random exponents"}
_COLUMNS = (
    ("family", "Family", "text"),
    ("settings", "Parameters", "text"),
    ("bits", "Bits", ""),
    ("lut", "LUTs", ""),
    ("ff", "Flip-flops", ""),
    ("dsp", "DSP", ""),
    ("bram", "Block RAM", ""),
    ("gate_area", "Unit gates", ""),
    ("fmax_mhz", "MHz", ""),
    ("count", "Cycles", ""),
    ("milliseconds", "ms", ""),
    ("product", "Area × time", ""),
)


def write_report(
    points: Sequence[Point],
    folder: Path,
    *,
    progress: Callable[[str, float], None] = lambda what, share: None,
) -> list[Path]:
    """Write index.html, points.csv, papers.csv and figures/ into a folder; return their paths.

    Without points there are the papers' figures beside what needs no measurement. The folder is
    made if it does not exist; files of these names are overwritten. `progress` is called with what
    is being written, and the share of all that has been. Raises OSError if a file cannot be
    written.
    """
    rows, plotted = plot_rows(points)
    compared = [(table, compare(table, points)) for table in tables()]
    drawn = _draw_views(compared)
    steps = 1 + sum(len(target.figures) for target in plotted)
    steps += sum(bool(table.drawn) for table, _ in compared) + sum(map(len, drawn.values()))
    count = itertools.count()

    def begin(what: str) -> None:
        progress(what, next(count) / steps)

    written = [folder / "points.csv"]
    write_points(points, written[0])
    written.append(_write_papers(compared, folder / "papers.csv"))
    for target in plotted:
        for figure in target.figures:
            begin(f"{figure.name} on {target.target}")
            written += _write_figure(figure, target, rows, folder / "figures")
    pictures: dict[str, Picture] = {}
    for table, comparisons in compared:
        if table.drawn:
            begin(f"{table.paper.name}, {table.number}")
            name, drawing = _anchor(table), partial(_chart, table, comparisons)
            pictures[name] = _picture(drawing)
            written.append(_write_png(drawing(), name, folder))
    for panel in itertools.chain(*drawn.values()):
        begin(panel.name)
        pictures[panel.name] = _picture(panel.chart)
        written.append(_write_png(panel.chart(panel.panel.title), panel.name, folder))
        written.append(_write_panel(panel, folder / "figures"))
    begin("the page")
    page = folder / "index.html"
    write_file(page, _page(points, rows, plotted, compared, drawn, pictures))
    return [page, *written]


def _draw_views(compared: Sequence[Compared]) -> Mapping[str, Sequence[DrawnPanel]]:
    """The panels of each paper that has a view, by its name."""
    return {
        view.paper.name: draw_view(
            view, {table.number: lines for table, lines in compared if table.paper == view.paper}
        )
        for view in views()
    }


# --- Files --------------------------------------------------------------------------------------


def _write_csv(path: Path, names: Sequence[str], lines: Iterable[Sequence[object]]) -> Path:
    with replacing(path) as fresh, fresh.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(lines)
    return path


_PAPER_COLUMNS = (
    *("paper", "table", "page", "row", "quantity", "unit", "published"),
    *("measured", "ratio", "derived", "kind", "place", "how", "command", "reason"),
)


def _write_papers(compared: Sequence[Compared], path: Path) -> Path:
    """A row for each counterpart, and for each figure without any.

    `measured` is a figure of ours, `derived` one that follows from the paper's others; `ratio` is
    either over published.
    """
    lines: list[list[object]] = []
    for table, comparisons in compared:
        for comparison in comparisons:
            what = (
                table.paper.name,
                table.number,
                table.page,
                comparison.row,
                comparison.quantity,
                comparison.unit,
            )
            head: list[object] = [*what, comparison.published]
            for own in comparison.measurements:
                lines.append([*head, own.value, own.ratio, "", *_told(own), ""])
            for own in comparison.derived:
                lines.append([*head, "", own.ratio, own.value, *_told(own), comparison.reason])
            if not comparison.measurements and not comparison.derived:
                lines.append([*head, *[""] * 7, comparison.reason])
    return _write_csv(path, _PAPER_COLUMNS, lines)


def _told(counterpart: Counterpart) -> tuple[str, ...]:
    return counterpart.kind, counterpart.where, counterpart.how, counterpart.command


def _write_png(drawing: Row, name: str, folder: Path) -> Path:
    path = folder / "figures" / f"{name}.png"
    write_file(path, vl_convert.vegalite_to_png(drawing, scale=_PNG_SCALE))
    return path


def _write_panel(panel: DrawnPanel, folder: Path) -> Path:
    """The points of a panel."""
    names = ("plot", "row", panel.panel.x_title, panel.panel.y_title, "place")
    lines = ([row[name] for name in ("plot", "row", "x", "y", "where")] for row in panel.rows)
    return _write_csv(folder / f"{panel.name}.csv", names, lines)


def _write_figure(
    figure: Figure, target: Plotted, rows: Sequence[Row], folder: Path
) -> Iterable[Path]:
    """Write the picture that the page starts with on this target, and its points."""
    chosen_rows = [row for row in rows if row["target"] == target.target]
    start = _opening(chosen_rows).items()
    chosen_rows = [row for row in chosen_rows if all(row[name] == value for name, value in start)]
    chosen_rows = [
        row for row in chosen_rows if row[figure.x] is not None and row[figure.y] is not None
    ]
    if not chosen_rows:
        return
    stem = f"{figure.name}-{target.target}"
    png = folder / f"{stem}.png"
    needed = {"id", "family", "settings", "bits", "area", "dsp", "count", "time", "product"}
    slim = [{name: row[name] for name in needed} for row in chosen_rows]
    write_file(png, vl_convert.vegalite_to_png(draw(figure, slim), scale=_PNG_SCALE))
    yield png
    front = pareto_front(chosen_rows, figure.x, figure.y)
    columns = dict.fromkeys(
        ("family", "settings", "bits", "operation", "exponents", figure.x, figure.y)
    )
    titles = {figure.x: figure.x_title, figure.y: figure.y_title}
    yield _write_csv(
        folder / f"{stem}.csv",
        [*(titles.get(name, name) for name in columns), "best"],
        ([*(row[name] for name in columns), row["id"] in front] for row in chosen_rows),
    )


_PREFERRED = {
    "operation": ("RSA_PRIVATE", "MODEXP", "MODMUL"),
    "device": tuple(device.title for device in DEVICES.values()),
    "exponents": ("random", "worst"),
    "part": ("accelerator", *PARTS),
}
"""What the page opens with: the first of these that there is."""


def _opening(rows: Sequence[Row]) -> dict[str, str]:
    """The value of each filter as the page opens: there are rows of a target with all of them."""
    start: dict[str, str] = {}
    own = list(rows)
    for name, preferred in _PREFERRED.items():
        values = sorted({row[name] for row in own})
        if values:
            start[name] = next(value for value in (*preferred, *values) if value in values)
            own = [row for row in own if row[name] == start[name]]
    return start


# --- The page -----------------------------------------------------------------------------------


@cache
def _library() -> str:
    """Vega as one script; bundling it takes seconds."""
    bundle: str = vl_convert.javascript_bundle("window.coprimeEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script")


def _page(
    points: Sequence[Point],
    rows: Sequence[Row],
    plotted: Sequence[Plotted],
    compared: Sequence[Compared],
    drawn: Mapping[str, Sequence[DrawnPanel]],
    pictures: Mapping[str, Picture],
) -> str:
    data = {
        "rows": rows,
        "targets": [
            target.__dict__ | {"figures": [figure.__dict__ for figure in target.figures]}
            for target in plotted
        ],
        "exponents": _EXPONENTS,
        "style": STYLE,
    }
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": _number,
        "ratio": _ratio,
        "coded": _coded,
        "spread": spread,
    }
    papers = [
        _paper(paper, list(group), drawn.get(paper.name, ()), pictures)
        for paper, group in itertools.groupby(compared, key=lambda pair: pair[0].paper)
    ]
    papers.sort(key=lambda paper: not paper["panels"])  # those that Coprime is built on first
    return environment.get_template("report.html").render(
        version=__version__,
        summary=_summary(points),
        data=data,
        json=json.dumps(data, allow_nan=False).replace("<", "\\u003c"),
        dark=dark_rules(".plot svg.marks "),
        css=(_PAGE / "report.css").read_text("utf-8"),
        script=(_PAGE / "report.js").read_text("utf-8"),
        library=_library(),
        selects=_selects(rows),
        families=plotted[0].families if plotted else (),
        columns=_COLUMNS,
        figures=plotted[0].figures if plotted else (),
        papers=papers,
        failed=[
            {**point.__dict__, "settings": point.settings}
            for point in points
            if point.status != "ok"
        ],
    )


def _summary(points: Sequence[Point]) -> str:
    if not points:
        return "No measured points: make some with “coprime sweep”."
    families = sorted({point.family for point in points})
    count = f"{len(points):,} point{'s' if len(points) > 1 else ''}"
    text = f"{count} of {', '.join(families)}; measured with "
    return f"{text}{versions(points)}{unproved(points)}."


def _selects(rows: Sequence[Row]) -> list[tuple[str, str, list[tuple[str, str]], str | None]]:
    """Name, label, values with their texts, and the value at the start."""
    targets = sorted({row["target"] for row in rows})
    words = {target.value: f"{target.value}: {flow.title}" for target, flow in FLOWS.items()}
    words["unit-gate"] = "unit gates"
    first = "ecp5" if "ecp5" in targets else next(iter(targets), None)
    sizes = sorted({row["bits"] for row in rows} - {0})
    start = _opening([row for row in rows if row["target"] == first])
    selects = [
        ("target", "Target", [(target, words.get(target, target)) for target in targets], first),
        ("bits", "Size", [("all", "all"), *((str(size), f"{size} bits") for size in sizes)], "all"),
    ]
    for name, label in (
        ("device", "Device"),
        ("operation", "Operation"),
        ("exponents", "Exponents"),
        ("part", "Part"),
    ):
        values = sorted({row[name] for row in rows})
        texts = [(value, _EXPONENTS.get(value, value)) for value in values]
        selects.append((name, label, texts, start.get(name)))
    return selects


# --- The papers ---------------------------------------------------------------------------------


def _anchor(table: Table) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{table.paper.name} {table.number}".lower())


def _number(value: float | int | str | None) -> str:
    """A figure as people read it: thousands set apart, three decimals or four digits."""
    if value is None or isinstance(value, str):
        return "–" if value is None else value
    if value and abs(value) < 1:
        return f"{value:.4g}"
    text = f"{value:,.3f}"
    return text.rstrip("0").rstrip(".")


def _in_both_lights(svg: str) -> str:
    """A picture with the colours for a dark page, too."""
    head, end, body = svg.partition(">")
    return f"{head}{end}<style>{dark_rules()}</style>{body}"


def _picture(drawing: Callable[..., Row]) -> Picture:
    """A drawing for a wide page, and with `narrow` for a telephone."""

    def source(chart: Row) -> str:
        svg = _in_both_lights(vl_convert.vegalite_to_svg(chart))
        return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"

    return source(drawing()), source(drawing(narrow=True))


def _chart(table: Table, comparisons: Sequence[Comparison], *, narrow: bool = False) -> Row:
    chosen = [
        comparison
        for comparison in comparisons
        if comparison.quantity in table.drawn and comparison.x is not None
    ]
    several = len(table.drawn) > 1
    lines: dict[str, list[Row]] = {}

    def add(comparison: Comparison, place: str, value: object) -> None:
        where = f"{comparison.quantity}: {place}" if several else place
        lines.setdefault(where, []).append({"where": where, "x": comparison.x, "y": value})

    for comparison in chosen:
        add(comparison, "Published", comparison.published)
    for comparison in chosen:
        for here in comparison.measurements:
            if here.value is not None:
                add(comparison, here.label, here.value)
    unit = f" in {chosen[0].unit}" if chosen[0].unit else ""
    rows = [row for line in lines.values() for row in line]
    return chart(
        "" if narrow else f"{table.paper.name}, {table.number}: {table.title}",
        f"{table.row_title} in bits",
        table.title if several else f"{table.drawn[0]}{unit}",
        rows,
        width=270 if narrow else 520,
    )


def _paper(
    paper: Paper,
    compared: Sequence[Compared],
    panels: Sequence[DrawnPanel],
    pictures: Mapping[str, Picture],
) -> Mapping[str, Any]:
    """What the page shows of a paper."""
    return {
        "paper": paper,
        "anchor": paper.name.lower(),
        "verdict": judge(paper, compared),
        "panels": [(panel, pictures[panel.name]) for panel in panels],
        "tables": [_table(table, lines, pictures) for table, lines in compared],
    }


def _table(
    table: Table, lines: Sequence[Comparison], pictures: Mapping[str, Picture]
) -> Mapping[str, Any]:
    """What the page shows of a table.

    Each row and each quantity that something is compared with; the other rows as published.
    """
    found = [line for line in lines if line.measurements or line.derived]
    rows, quantities = ({line.row for line in found}, {line.quantity for line in found})
    beside = [line for line in lines if line.row in rows and line.quantity in quantities]
    derived = _places(itertools.chain(*(line.derived for line in beside)))
    ours = _places(itertools.chain(*(line.measurements for line in beside)))
    spans = Counter(line.row for line in beside)
    compared: list[dict[str, Any]] = []
    for line in beside:
        first = not compared or compared[-1]["row"] != line.row
        of = {own.where: own for own in line.derived}, {own.where: own for own in line.measurements}
        cells = [
            (place, own.get(place.name))
            for places, own in zip((derived, ours), of, strict=True)
            for place in places
        ]
        compared.append(
            {
                "row": line.row,
                "span": spans[line.row] if first else 0,
                "quantity": f"{line.quantity} in {line.unit}" if line.unit else line.quantity,
                "published": line.published,
                "cells": cells,
            }
        )
    page = f", page {table.page}" if table.page else ""
    anchor = _anchor(table)
    return {
        "anchor": anchor,
        "heading": f"{table.number}{page}: {table.title}",
        "device": table.device,
        "picture": pictures.get(anchor),
        "row_title": table.row_title,
        "derived": derived,
        "ours": ours,
        "compared": compared,
        "found": sum(any(own.value is not None for own in line.measurements) for line in lines),
        "missing": any(own.value is None for line in lines for own in line.measurements),
        "figures": len(lines),
        "columns": [
            f"{column.name} [{column.unit}]" if column.unit else column.name
            for column in table.columns
        ],
        "only_published": [
            (row.label, [row.published.get(column.name) for column in table.columns])
            for row in table.rows
            if row.label not in spans
        ],
        "reasons": reasons(lines),
        "remarks": table.remarks,
        "ways": [(line, own) for line in beside for own in (*line.derived, *line.measurements)],
    }


@dataclass(frozen=True)
class _Place:
    """A column of a table on the page."""

    name: str
    has_ratios: bool  # not where nothing published is a number

    @property
    def span(self) -> int:
        """Columns: the figure's, and that of the ratio."""
        return 1 + self.has_ratios


def _places(counterparts: Iterable[Counterpart]) -> list[_Place]:
    found: dict[str, bool] = {}
    for own in counterparts:
        found[own.where] = found.get(own.where, False) or own.ratio is not None
    return [_Place(name, has_ratios) for name, has_ratios in found.items()]


def _coded(text: str) -> Markup:
    """A remark as HTML: what it has between backquotes is code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _ratio(ratio: float | None) -> str:
    if ratio is None:
        return ""
    return f"×\u00a0{ratio:,.0f}" if ratio >= 1000 else f"×\u00a0{ratio:.3g}"
