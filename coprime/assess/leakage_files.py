"""What `coprime assess leakage -o` writes: t-values, traces and plots."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert

from coprime.explore.plots import STYLE
from coprime.flow.files import replacing, write_file

from .leakage import Leakage, Profile
from .moments import THRESHOLD
from .power import TOTAL

_BINS = 400  # points of a curve: of so many spans of cycles, each with the largest |t|
_ROWS = 14  # components in a plot, those with the largest |t|
_CYCLE = {
    "field": "cycle",
    "type": "quantitative",
    "title": "clock cycle",
    "scale": {"nice": False},
}
"""The axis of the curve and of the rows below it."""


def write_leakage(leakage: Leakage, folder: Path) -> list[Path]:
    """Write the outcome, and return the files' paths.

    * `leakage.json`: the record;
    * `t_values.npz`: arrays `components`, and `t_1` and `t_2` of (cycles, components), by order;
    * `traces.npz`: arrays `traces` (traces, cycles), `fixed` and `inputs`, if traces were kept;
    * `t_1.png`, `t_2.png`: the largest |t| over the cycles, of all components and of each one.

    Raises OSError if one cannot be written.
    """
    record = json.dumps(leakage.record(), indent=2) + "\n"
    write_file(folder / "leakage.json", record)
    written = [folder / "leakage.json"]
    values = {f"t_{profile.order}": profile.t for profile in leakage.profiles}
    arrays: dict[str, dict[str, Any]]
    arrays = {"t_values": {"components": np.array(leakage.components), **values}}
    if len(leakage.kept.traces):
        kept = leakage.kept
        arrays["traces"] = {"traces": kept.traces, "fixed": kept.fixed, "inputs": kept.inputs}
    for name, content in arrays.items():
        path = folder / f"{name}.npz"
        with replacing(path) as fresh, fresh.open("wb") as file:
            np.savez_compressed(file, **content)
        written.append(path)
    for profile in leakage.profiles:
        path = folder / f"t_{profile.order}.png"
        write_file(path, vl_convert.vegalite_to_png(_plot(leakage, profile), scale=1.5))
        written.append(path)
    return written


def _plot(leakage: Leakage, profile: Profile) -> dict[str, Any]:
    """The curve of the sum of all components, and below it a row of each component."""
    own, subject = leakage.acquisition, leakage.acquisition.subject
    settings = " ".join(f"{name}={value}" for name, value in subject.engine.values.items())
    title = (
        f"{subject.engine.family.name} {settings}: {subject.command.name}, fixed against"
        f" random {own.test.value}, {leakage.traces:,} traces, order {profile.order}"
    )
    rules = [
        {"data": {"values": [{"t": t, "threshold": name}]}, "mark": {"type": "rule"}}
        | {"encoding": {"y": {"field": "t", "type": "quantitative"}, **_dash()}}
        for t, name in ((THRESHOLD, "4.5"), (profile.threshold, f"{profile.threshold:.2f}"))
    ]
    scale = {"type": "symlog", "constant": 10}
    curve = {
        "mark": {"type": "line", "strokeWidth": 1, "interpolate": "step"},
        "encoding": {
            "x": _CYCLE,
            "y": {"field": "t", "type": "quantitative", "title": "|t|, total", "scale": scale},
        },
    }
    total = leakage.components.index(TOTAL)
    order = sorted(
        (k for k in range(len(leakage.components)) if k != total),
        key=lambda k: -float(np.abs(profile.t[:, k]).max()),
    )
    rows = [row for k in order[:_ROWS] for row in _curve(leakage, profile, k)]
    heat = {
        "data": {"values": rows},
        "mark": {"type": "rect"},
        "width": 800,
        "encoding": {
            "x": _CYCLE,
            "x2": {"field": "end"},
            "y": {"field": "component", "type": "nominal", "sort": None, "title": None},
            "color": {
                "field": "t",
                "type": "quantitative",
                "title": "|t|",
                "scale": {
                    "type": "threshold",
                    "domain": [THRESHOLD, profile.threshold, 20, 100],
                    "range": ["#eceff2", "#c6dbef", "#6baed6", "#d55e00", "#7f0000"],
                },
            },
        },
    }
    data = {"values": [*_curve(leakage, profile, total)]}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": title, "anchor": "start"},
        "config": STYLE,
        "vconcat": [{"width": 800, "height": 220, "data": data, "layer": [curve, *rules]}, heat],
    }


def _dash() -> dict[str, Any]:
    return {
        "strokeDash": {
            "field": "threshold",
            "type": "nominal",
            "title": "threshold",
            "legend": {"symbolType": "stroke"},
        },
        "color": {"value": "#d55e00"},
    }


def _curve(leakage: Leakage, profile: Profile, column: int) -> Iterator[dict[str, Any]]:
    """Spans of cycles with the largest |t| of a component in each."""
    size = np.abs(profile.t[:, column])
    bounds = np.linspace(0, len(size), min(_BINS, len(size)) + 1).astype(int)
    for first, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        yield {
            "cycle": first,
            "end": end,
            "component": leakage.components[column],
            "t": float(size[first:end].max()),
        }
