"""The report's plots as Vega-Lite specifications: the page and the PNG files are made of these."""

import json
import math
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coprime.catalog import FAMILIES
from coprime.explore.points import Point
from coprime.explore.rebuild import commands

Row = dict[str, Any]

STYLE: Mapping[str, Any] = json.loads(
    Path(__file__).with_name("page").joinpath("style.json").read_text("utf-8")
)
"""Vega-Lite's configuration. Its colours are Okabe and Ito's, which stay apart for all kinds of
colour vision, without yellow; brown, grey, violet and black were chosen to stay apart from them."""

DARK: Mapping[str, str] = json.loads(
    Path(__file__).with_name("page").joinpath("dark.json").read_text("utf-8")
)
"""For each colour of the drawings the one that replaces it on a dark page."""


def dark_rules(within: str = "") -> str:
    """CSS that draws the SVG pictures `within` a selector in DARK's colours where the reader's
    system asks for dark pages.

    Vega writes colours as attributes, which such a rule overrides: nothing is drawn again when
    the reader changes to the other, and a saved picture has the light colours.
    """
    rules = [
        f'{within}[{paint}="{light}"] {{ {paint}: {dark}; }}'
        for light, dark in DARK.items()
        for paint in ("fill", "stroke")
    ]
    return "@media (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}\n"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A plot of points, of one target."""

    name: str
    title: str
    caption: str
    x: str  # row's field on the x axis
    y: str
    x_title: str
    y_title: str
    spec: Mapping[str, Any]  # Vega-Lite without data, size and configuration


@dataclass(frozen=True, kw_only=True)
class Plotted:
    """What of one target is plotted: the units of area and time, and the plots."""

    target: str
    families: Sequence[str]  # those of all targets, in the catalogue's order
    area: str
    time: str
    figures: tuple[Figure, ...]


def plot_rows(points: Sequence[Point]) -> tuple[list[Row], list[Plotted]]:
    """A row for each point that did not fail and has an area, and what to plot for each target.

    A row has the point's columns (`operation` with the parameter set, `device` is the target's name
    if none is known, `cores` is None for what is no cluster) and `id`, `settings` (the parameters
    in words), `count` (cycles, predicted ones if it was not simulated), `area` (LUTs or unit
    gates), `time`, `product` (area times time, of a cluster over its cores) and `commands`. Time is
    in ms on a target where points are routed, in clock cycles where none is; for the unit-gate
    estimate it is cycles times delay.
    """
    good = [point for point in points if point.status == "ok" and point.target != "generic"]
    rows: list[Row] = []
    plotted: list[Plotted] = []
    families = _in_order({point.family for point in points})
    for target in sorted({point.target for point in good}):
        chosen_points = [point for point in good if point.target == target]
        if target == "unit-gate":
            area, time = "unit gates", "unit delays"
        elif any(point.milliseconds is not None for point in chosen_points):
            area, time = "LUTs", "ms"
        else:
            area, time = "LUTs", "cycles"
        rows += [
            _row(point, time, len(rows) + number) for number, point in enumerate(chosen_points)
        ]
        plotted.append(
            Plotted(
                target=target,
                families=families,
                area=area,
                time=time,
                figures=_figures(families, area, time),
            )
        )
    return rows, plotted


def _in_order(families: Collection[str]) -> list[str]:
    """Those of the catalogue in its order, then others."""
    return [*(name for name in FAMILIES if name in families), *sorted({*families} - {*FAMILIES})]


def _row(point: Point, unit: str, number: int) -> Row:
    cycles = point.cycles if point.cycles is not None else point.predicted_cycles
    delay = {"ms": None, "cycles": 1.0}.get(unit, point.gate_delay)
    time = point.milliseconds
    if unit != "ms":
        time = None if cycles is None or delay is None else cycles * delay
    area = point.gate_area if point.target == "unit-gate" else point.lut
    return {
        **point.__dict__,
        "device": point.device or point.target,
        "parameters": dict(point.parameters),
        "tools": dict(point.tools),
        "id": number,
        "settings": point.settings,
        "operation": ", ".join(filter(None, (point.operation, point.parameter_set))),
        "cores": point.cores or None,
        "count": cycles,
        "area": area,
        "time": time,
        "product": None if area is None or time is None else area * time / max(point.cores, 1),
        "commands": commands(point),
    }


def pareto_front(rows: Sequence[Row], x: str, y: str) -> set[int]:
    """Ids of the rows that no other row of the same size equals or beats in both x and y.

    Of rows with equal figures all but the first are left out.
    """
    front: set[int] = set()
    best: dict[int, float] = {}
    for row in sorted(rows, key=lambda row: (row[x], row[y], row["id"])):
        if row["bits"] not in best or row[y] < best[row["bits"]]:
            best[row["bits"]] = row[y]
            front.add(row["id"])
    return front


# --- Vega-Lite ----------------------------------------------------------------------------------


def _figures(families: Sequence[str], area: str, time: str) -> tuple[Figure, ...]:
    time_title = {"ms": "Time in ms", "cycles": "Time in clock cycles"}.get(
        time, "Time in unit delays (cycles × delay)"
    )
    area_title = f"Area in {area}"
    marks = _Marks(families)
    return (
        Figure(
            name="area-time",
            title="Area against time",
            caption="The line is the Pareto front of each size: nothing is both smaller and "
            "faster.",
            x="time",
            y="area",
            x_title=time_title,
            y_title=area_title,
            spec=_front_spec(
                marks,
                _log_axis("x", "time", time_title, "~g" if time == "ms" else "~s"),
                _log_axis("y", "area", area_title, "~s"),
                _room("time", "area", 1.6, "datum.min_area / 1.4", _above("area")),
            ),
        ),
        Figure(
            name="dsp-cycles",
            title="DSP slices against cycles",
            caption="The line is the Pareto front of each size.",
            x="count",
            y="dsp",
            x_title="Clock cycles",
            y_title="DSP slices",
            spec=_front_spec(
                marks,
                _log_axis("x", "count", "Clock cycles", "~s"),
                _count_axis("dsp", "DSP slices"),
                _room("count", "dsp", 1.6, "0", "datum.max_dsp * 1.1 + 1"),
            ),
        ),
        Figure(
            name="product",
            title="Area-time product",
            caption="The line joins the least product of each size. A cluster's is over its "
            "cores, which all work at once.",
            x="bits",
            y="product",
            x_title="Length of the modulus in bits",
            y_title=f"{area_title} × {time_title[0].lower()}{time_title[1:]}",
            spec=_product_spec(
                marks, _log_axis("y", "product", f"Area × time in {area} × {time}", "~s")
            ),
        ),
    )


def _axis(field: str, title: str, scale: Row, axis: Row) -> Row:
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _log_axis(channel: str, field: str, title: str, tick_format: str) -> Row:
    """Ticks at 1, 2, ... 9 times powers of ten; over a wide range only the powers are labelled."""
    exponent = "log(datum.value) / LN10"
    power = f"abs({exponent} - round({exponent})) < 1e-6"
    wide = f"domain('{channel}')[1] > 50 * domain('{channel}')[0]"
    axis = {
        "format": tick_format,
        "tickCount": 10,
        "labelExpr": f"{wide} && !({power}) ? '' : datum.label",
        "gridOpacity": {"condition": {"test": power, "value": 1}, "value": 0.4},
    }
    return _axis(field, title, {"type": "log", "nice": False}, axis)


def _count_axis(field: str, title: str) -> Row:
    """Ticks at whole numbers, from 0."""
    steps = "sequence(0, domain('y')[1] + 1, max(1, ceil(domain('y')[1] / 6)))"
    axis = {"format": "d", "values": {"expr": steps}}
    return _axis(field, title, {"nice": False, "zero": True}, axis)


def _above(field: str) -> str:
    """Where the axis of a field ends: room for a label above the highest mark."""
    return f"datum.max_{field} * 1.4 * pow(datum.max_{field} / datum.min_{field}, 0.1)"


def _room(x: str, y: str, x_factor: float, low_y: str, high_y: str) -> list[Row]:
    """Two invisible points that widen the axes, so that no mark lies on their ends."""
    extremes = {
        "aggregate": [
            {"op": op, "field": field, "as": f"{op}_{field}"}
            for field in (x, y)
            for op in ("min", "max")
        ]
    }
    corners = ((f"datum.min_{x} / {x_factor}", low_y), (f"datum.max_{x} * {x_factor}", high_y))
    return [
        {
            "transform": [extremes, {"calculate": x_end, "as": x}, {"calculate": y_end, "as": y}],
            "mark": {"type": "point", "opacity": 0, "tooltip": None},
        }
        for x_end, y_end in corners
    ]


_TOOLTIP = [
    {"field": "family", "title": "Family"},
    {"field": "settings", "title": "Parameters"},
    {"field": "bits", "title": "Bits"},
    {"field": "area", "title": "Area", "format": ",d"},
    {"field": "dsp", "title": "DSP"},
    {"field": "count", "title": "Cycles", "format": ",d"},
    {"field": "time", "title": "Time", "format": ",.4~g"},
]


def _styles(field: str, names: Mapping[str, int], legend: Row) -> Row:
    """A colour and a shape for each name, by its number."""
    colours, shapes = STYLE["range"]["category"], STYLE["range"]["symbol"]
    numbers = names.values()
    values = {
        "color": [colours[number % len(colours)] for number in numbers],
        "shape": [shapes[(number + number // len(shapes)) % len(shapes)] for number in numbers],
    }
    return {
        channel: {
            "field": field,
            "type": "nominal",
            "title": None,
            "legend": legend,
            "scale": {"domain": list(names), "range": own},
        }
        for channel, own in values.items()
    }


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


class _Marks:
    """Layers of points. A family has the same colour and shape in every report: those of its place
    in the catalogue, whichever families the results have."""

    def __init__(self, families: Sequence[str]):
        legend = {"orient": "top", "columns": 5, "offset": 6, "symbolOpacity": 1}
        places = _numbered([*FAMILIES, *families])
        self._encoding = _styles("family", {name: places[name] for name in families}, legend)

    def all(self) -> Row:
        """Every point, pale."""
        return self._layer(0.35, 60)

    def best(self, transform: Sequence[Row]) -> Row:
        """The points that `transform` keeps."""
        return {"transform": list(transform), **self._layer(1.0, 85)}

    def _layer(self, opacity: float, size: int) -> Row:
        return {
            "mark": {"type": "point", "filled": True, "opacity": opacity, "size": size},
            "encoding": {**self._encoding, "tooltip": _TOOLTIP},
        }


_NARROW = 300
"""Width of a plot below which every other size is written a line higher."""


def _front_spec(marks: _Marks, x: Row, y: Row, room: Sequence[Row]) -> Row:
    """Points with the Pareto front of each size, and the size beside its fastest point."""
    x_field, y_field = x["field"], y["field"]
    by_size = {
        "sort": [{"field": x_field}, {"field": y_field}, {"field": "id"}],
        "groupby": ["bits"],
    }
    front: list[Row] = [
        {
            "window": [{"op": "min", "field": y_field, "as": "so_far"}],
            "frame": [None, 0],
            **by_size,
        },
        {"window": [{"op": "lag", "field": "so_far", "as": "before"}], **by_size},
        {"filter": f"!isValid(datum.before) || datum.{y_field} < datum.before"},
    ]
    fastest = [
        *front,
        {"filter": "!isValid(datum.before)"},
        {"window": [{"op": "row_number", "as": "turn"}], "sort": [{"field": "bits"}]},
    ]
    line = {
        "transform": front,
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.3},
        "encoding": {
            "color": {"value": "#9aa3ad"},
            "detail": {"field": "bits"},
            "order": {"field": x_field},
        },
    }
    height = f"width < {_NARROW} && datum.turn % 2 ? -24 : -13"
    text: Row = {"type": "text", "dy": {"expr": height}, "fontSize": 11}
    halo: Row = {"stroke": "white", "strokeWidth": 3}
    ink: Row = {"color": "#4a525c"}
    labels = [
        {
            "transform": fastest,
            "mark": text | paint,
            "encoding": {"text": {"field": "bits", "type": "quantitative", "format": "d"}},
        }
        for paint in (halo, ink)
    ]
    usable = f"isValid(datum.{x_field}) && isValid(datum.{y_field}) && datum.{x_field} > 0"
    return {
        "transform": [{"filter": usable}],
        "encoding": {"x": x, "y": y},
        "layer": [*room, line, marks.all(), marks.best(front), *labels],
    }


def _product_spec(marks: _Marks, y: Row) -> Row:
    least: list[Row] = [
        {"joinaggregate": [{"op": "min", "field": "product", "as": "least"}], "groupby": ["bits"]},
        {"filter": "datum.product == datum.least"},
    ]
    line = {
        "transform": least,
        "mark": {"type": "line", "strokeWidth": 1.3},
        "encoding": {"color": {"value": "#9aa3ad"}},
    }
    bits = _size_axis("bits", "Length of the modulus in bits")
    room = _room("bits", "product", 1.3, "datum.min_product / 1.6", _above("product"))
    return {
        "transform": [{"filter": "isValid(datum.product) && datum.product > 0"}],
        "encoding": {"x": bits, "y": y},
        "layer": [*room, line, marks.all(), marks.best(least)],
    }


def _size_axis(field: str, title: str) -> Row:
    """Lengths in bits; ticks at powers of two, those on the axis."""
    first = "max(1, ceil(log(domain('x')[0]) / LN2))"
    powers = [1 << exponent for exponent in range(1, 15)]
    ticks = f"slice({powers}, {first} - 1, floor(log(domain('x')[1]) / LN2))"
    scale = {"type": "log", "base": 2, "nice": False}
    return _axis(field, title, scale, {"format": "d", "values": {"expr": ticks}})


def draw(figure: Figure, rows: Sequence[Row]) -> Row:
    """A whole Vega-Lite chart: a figure with its data, title and size."""
    return {
        **figure.spec,
        "title": {"text": figure.title, "anchor": "start", "fontSize": 15, "offset": 10},
        "data": {"values": list(rows)},
        "width": 560,
        "height": 360,
        "padding": 14,
        "config": STYLE,
    }


_TITLE = 40
"""Characters of a line of an axis's title, so that it is no longer than the axis."""


def chart(title: str, x_title: str, y_title: str, rows: Sequence[Row], *, width: int) -> Row:
    """Draw a paper's figure: rows with `x`, `y` and `where`, one line for each `where`."""
    x = _size_axis("x", x_title)
    x["scale"]["padding"] = 14
    x["axis"]["values"] = sorted({row["x"] for row in rows})
    y = {
        "field": "y",
        "type": "quantitative",
        "title": textwrap.wrap(y_title, _TITLE),
        "scale": {"zero": False, "nice": True},
    }
    return {
        "data": {"values": list(rows)},
        **_heading([title]),
        "width": width,
        "height": 260,
        "padding": 10,
        **_lines(rows, x, y),
        "config": STYLE,
    }


def small_plots(
    rows: Sequence[Row],
    *,
    title: str,
    x: str,
    y: str,
    logarithmic: bool,
    names: Sequence[str],
    columns: int,
    width: int,
) -> Row:
    """Draw plots of the same axes next to each other: rows with `x`, `y`, `where` and `plot`.

    Parameters
    ----------
    rows : one line for each `where` in the plot that `plot` names
    title : of the whole picture; may be empty
    x, y : the titles of the axes; x is logarithmic, y if `logarithmic`
    names : of the plots, in their order
    columns : plots in a row
    width : of one plot, in pixels
    """
    ticks = sorted({row["x"] for row in rows})
    log: Row = {"type": "log", "nice": False, "padding": 12}
    y_axis: Row = {"tickCount": 5}
    if logarithmic:
        y_axis = {"values": _ticks([row["y"] for row in rows]), "labelExpr": _SHORT}
    y_scale: Row = log if logarithmic else {"zero": True, "nice": True}
    x_axis = {"format": "d", "values": ticks, "labelOverlap": "greedy"}
    own = _lines(rows, _axis("x", x, log, x_axis), _axis("y", y, y_scale, y_axis))
    plot: Row = {"width": width, "height": 190, **own}
    if len(names) > 1:
        header = {"title": None, "labelFontSize": 12, "labelFontWeight": 600, "labelPadding": 4}
        header["labelColor"] = STYLE["axis"]["titleColor"]
        plot = {
            "facet": {"field": "plot", "type": "nominal", "sort": list(names), "header": header},
            "columns": columns,
            "spacing": 14,
            "spec": plot,
        }
    return {
        "data": {"values": list(rows)},
        **_heading(textwrap.wrap(title, columns * width // 8)),
        "padding": {"left": 8, "top": 8, "bottom": 8, "right": _SPARE},
        **plot,
        "config": STYLE,
    }


def _heading(lines: Sequence[str]) -> Row:
    if not any(lines):
        return {}
    return {"title": {"text": list(lines), "anchor": "start", "fontSize": 14, "offset": 10}}


_SPARE = 32
"""Pixels at the right, for a legend whose letters are wider where it is read than where it was
drawn."""
_SHORT = "datum.value < 1 ? format(datum.value, '~g') : format(datum.value, '~s')"
"""The label of a tick: 0.1, 20, 20k."""


def _ticks(values: Sequence[float]) -> list[float]:
    """Powers of ten around these values; 2 and 5 times these, too, if they are close together."""
    low, high = (math.log10(end(values)) for end in (min, max))
    steps = (1, 2, 5) if high - low < 2 else (1,)
    powers = range(math.floor(low), math.ceil(high) + 1)
    return [step * 10.0**power for power in powers for step in steps]


def _lines(rows: Sequence[Row], x: Row, y: Row) -> Row:
    """A line with its points for each place of measurement."""
    legend = {"orient": "bottom", "columns": 1, "labelLimit": 400}
    encoding = _styles("where", _numbered(row["where"] for row in rows), legend)
    return {
        "encoding": {"x": x, "y": y, **encoding},
        "mark": {"type": "line", "strokeWidth": 1.6, "point": {"filled": True, "size": 55}},
    }
