"""What `coprime assess leakage -o` writes: t-values, traces and plots."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert

from coprime.flow.files import replacing, write_file
from coprime_evidence.report.plots import STYLE

from .leakage import Leakage, Profile
from .moments import THRESHOLD
from .power import TOTAL

_BINS = 400  # points of a curve: of so many spans of cycles, each with the largest |t|
_ROWS = 14  # components in a plot, those with the largest |t|
_PLOT = Path(__file__).with_name("leakage_plot.json")


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
    if leakage.products is not None:
        arrays["t_values"]["t_products"] = leakage.products.t
    if leakage.kept is not None:
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
    own = leakage.acquisition.source.settings
    settings = " ".join(f"{name}={value}" for name, value in own["parameters"].items())
    title = (
        f"{own['family']} {settings}: {own['operation']}, fixed against random {own['test']},"
        f" {leakage.traces:,} traces, order {profile.order}"
    )
    total = leakage.components.index(TOTAL)
    order = sorted(
        (k for k in range(len(leakage.components)) if k != total),
        key=lambda k: -float(np.abs(profile.t[:, k]).max()),
    )
    rows = [row for k in order[:_ROWS] for row in _curve(leakage, profile, k)]
    drawing: dict[str, Any] = json.loads(_PLOT.read_text("utf-8"))
    drawing["title"]["text"] = title
    levels = drawing["vconcat"][1]["encoding"]["color"]["scale"]
    levels["domain"] = [THRESHOLD, profile.threshold, 20, 100]
    lines = ((THRESHOLD, "4.5"), (profile.threshold, f"{profile.threshold:.2f}"))
    datasets = {
        "total": [*_curve(leakage, profile, total)],
        "thresholds": [{"t": t, "threshold": name} for t, name in lines],
        "components": rows,
    }
    return {**drawing, "config": STYLE, "datasets": datasets}


def _curve(leakage: Leakage, profile: Profile, column: int) -> Iterator[dict[str, Any]]:
    """Spans of cycles with the largest |t| of a component in each."""
    size = np.abs(profile.t[:, column])
    bounds = np.linspace(0, len(size), min(_BINS, len(size)) + 1).astype(int)
    for first, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        yield {
            "cycle": leakage.first_cycle + first,
            "end": leakage.first_cycle + end,
            "component": leakage.components[column],
            "t": float(size[first:end].max()),
        }
