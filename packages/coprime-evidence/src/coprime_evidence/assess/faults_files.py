"""The files of a campaign: every run, what they sum up to, and a plot."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow
import vl_convert
from pyarrow import compute, parquet

from coprime.flow.files import replacing, write_file
from coprime_evidence.report.plots import STYLE

from .faults_summary import FaultSummary
from .subject import Outcome

_PNG_SCALE = 1.5
_COLUMNS = 120
_PLOT = Path(__file__).with_name("faults_plot.json")


def write_files(found: FaultSummary, folder: Path) -> list[Path]:
    """Write faults.parquet, faults.json, faults.svg and faults.png into a folder; their paths.

    Raises OSError if they cannot be written.
    """
    runs, record, svg, png = (
        folder / f"faults.{suffix}" for suffix in ("parquet", "json", "svg", "png")
    )
    with replacing(runs) as fresh:
        parquet.write_table(found.runs, fresh)
    write_file(record, json.dumps(found.record(), indent=2) + "\n")
    drawing = draw_faults(found.runs, found.title)
    write_file(svg, vl_convert.vegalite_to_svg(drawing))
    write_file(png, vl_convert.vegalite_to_png(drawing, scale=_PNG_SCALE))
    return [runs, record, svg, png]


# --- The plot -----------------------------------------------------------------------------------


def draw_faults(runs: pyarrow.Table, title: str) -> dict[str, Any]:
    """Draw runs, with the columns of `batches.SCHEMA`: a Vega-Lite specification with its data.

    The darker a cell, the larger the part of the runs in its place and cycles that ended with an
    error; a circle is in cells where some have no end, and each wrong result is a cross.
    """
    drawing: dict[str, Any] = json.loads(_PLOT.read_text("utf-8"))
    drawing["title"]["text"] = title
    cells = _cells(runs)
    no_end = [{**cell, "outcome": "no end"} for cell in cells if cell["no_end"]]
    datasets = {"cells": cells, "marks": [*no_end, *_wrong(runs)]}
    return {**drawing, "config": STYLE, "datasets": datasets}


def _cells(runs: pyarrow.Table) -> list[dict[str, Any]]:
    width = compute.max(runs["cycle"]).as_py() // _COLUMNS + 1
    columns = (runs[name].to_pylist() for name in ("place", "cycle", "outcome"))
    found: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for place, cycle, outcome in zip(*columns, strict=True):
        found[place, cycle // width][outcome] += 1
    return [
        {
            "place": place,
            "first": column * width,
            "last": (column + 1) * width,
            "errors": outcomes[Outcome.ERROR] / outcomes.total(),
            "no_end": outcomes[Outcome.NO_END],
        }
        for (place, column), outcomes in sorted(found.items())
    ]


def _wrong(runs: pyarrow.Table) -> list[dict[str, Any]]:
    chosen = runs.filter(compute.equal(runs["outcome"], Outcome.WRONG.value))
    columns = (chosen[name].to_pylist() for name in ("place", "cycle"))
    return [
        {"place": place, "first": cycle, "outcome": "wrong"}
        for place, cycle in zip(*columns, strict=True)
    ]
