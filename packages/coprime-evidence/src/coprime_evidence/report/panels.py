"""The views of the papers as plots: published figures and ours, labelled by place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coprime_evidence.papers.views import Panel, Place, View
from coprime_evidence.report.plots import Row, small_plots
from coprime_evidence.report.side_by_side import Comparison

_PUBLISHED = "Published"
_WIDE, _NARROW = 3, 1
"""Small plots in a row, on a page that is wide and on a telephone."""


@dataclass(frozen=True, kw_only=True)
class DrawnPanel:
    """A panel with its points."""

    name: str  # of its files, the paper's included
    panel: Panel
    rows: Sequence[Row]
    """Points: `x`, `y`, `where` (the place of measurement), `plot` (the small plot's name) and the
    table's `row`."""

    @property
    def plots(self) -> Sequence[str]:
        """Names of the small plots."""
        return self.panel.plots or list(dict.fromkeys(row["plot"] for row in self.rows))

    def chart(self, title: str = "", *, narrow: bool = False) -> Row:
        """A Vega-Lite chart of it."""
        columns = min(len(self.plots), _NARROW if narrow else _WIDE)
        return small_plots(
            self.rows,
            title=title,
            x=self.panel.x_title,
            y=self.panel.y_title,
            logarithmic=self.panel.logarithmic,
            names=self.plots,
            columns=columns,
            width=250,
        )


def draw_view(view: View, compared: Mapping[str, Sequence[Comparison]]) -> Sequence[DrawnPanel]:
    """The panels of a view; `compared` has the paper's tables by their numbers."""
    return [
        DrawnPanel(
            name=f"{view.paper.name.lower()}-view-{panel.name}",
            panel=panel,
            rows=list(_points(panel, compared[panel.table])),
        )
        for panel in view.panels
    ]


def _points(panel: Panel, comparisons: Sequence[Comparison]) -> Iterator[Row]:
    """Published ones first, so that they have the same colour everywhere."""
    found = [
        (comparison, at)
        for comparison in comparisons
        if (at := panel.at(comparison.row, comparison.quantity)) is not None
    ]
    for comparison, at in found:
        if isinstance(comparison.published, int | float):
            name = _name(panel, _PUBLISHED)
            yield _point(panel, comparison, at, name or _PUBLISHED, comparison.published)
    for comparison, at in found:
        for own in comparison.measurements:
            name = _name(panel, own.where)
            if own.value is not None and name is not None:
                yield _point(panel, comparison, at, replace(own, where=name).label, own.value)


def _name(panel: Panel, where: str) -> str | None:
    """What a panel calls a place; None if it does not draw it."""
    return where if panel.places is None else panel.places.get(where)


def _point(panel: Panel, comparison: Comparison, at: Place, where: str, figure: float) -> Row:
    x, plot = at
    return {
        "x": x,
        "y": panel.value(figure, comparison.row),
        "where": where,
        "plot": plot,
        "row": comparison.row,
    }
