"""The files of a campaign: every run, what they sum up to, and a plot."""

import json
from pathlib import Path

import vl_convert
from pyarrow import parquet

from coprime.flow.files import replacing, write_file

from .faults_figure import draw_faults
from .faults_summary import FaultSummary

_PNG_SCALE = 1.5


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
