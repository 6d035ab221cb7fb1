"""Views of a paper: its own axes, on which published figures and ours are drawn together.

NAME.py of a paper may have a VIEW besides its TABLES. A view is a few panels; each draws columns of
one of the paper's tables over what its rows differ by: bits, cores, or the bits of a word.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .published import Paper

Place = tuple[float, str]
"""Abscissa of a figure, and the name of the small plot that it is drawn in; empty if a panel has
one alone."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Columns of a table, over what its rows differ by."""

    name: str  # of its files
    title: str
    table: str  # number of the table, as in the paper
    at: Callable[[str, str], Place | None]
    """Where the figure of a row and a column is drawn, by their names; None: nowhere."""
    x_title: str
    y_title: str  # with its unit
    value: Callable[[float, str], float] = lambda figure, row: figure
    """Brings a figure of a row from its column's unit into that of the y axis."""
    places: Mapping[str, str] | None = None
    """Places of measurement that are drawn, with the legend's name of each; None: all, as they
    are named."""
    plots: tuple[str, ...] = ()  # the small plots in their order; empty: as they come
    logarithmic: bool = False  # the y axis; the x axis always is


@dataclass(frozen=True, kw_only=True)
class View:
    """What a paper is about, as panels."""

    paper: Paper
    title: str
    panels: tuple[Panel, ...]


def number_in(row: str) -> int:
    """The first number of a row's label, such as 1024 of "1,024 bits". Raises ValueError if there
    is none."""
    found = re.search(r"\d[\d,]*", row)
    if found is None:
        raise ValueError(f"a row's label must have a number, not {row!r}")
    return int(found[0].replace(",", ""))


def views() -> tuple[View, ...]:
    """The view of every module of this package that has one, by module name."""
    package = importlib.import_module(__package__)
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    return tuple(module.VIEW for module in modules if hasattr(module, "VIEW"))
