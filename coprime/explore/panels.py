"""The views of the papers as plots: published figures and ours, labelled by place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coprime.explore.plots import Row, small_plots
from coprime.explore.side_by_side import Comparison
from coprime.papers.views import Panel, View

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
        (one, at) for one in comparisons if (at := panel.at(one.row, one.quantity)) is not None
    ]
    for one, at in found:
        yield from _point(panel, one, at, "Published", one.published)
    for one, at in found:
        for own in one.measurements:
            yield from _point(panel, one, at, own.where, own.value)


def _point(
    panel: Panel, one: Comparison, at: tuple[float, str], where: str, figure: object
) -> Iterator[Row]:
    names = panel.places
    if not isinstance(figure, int | float) or (names is not None and where not in names):
        return
    x, plot = at
    yield {
        "x": x,
        "y": panel.value(figure, one.row),
        "where": where if names is None else names[where],
        "plot": plot,
        "row": one.row,
    }
