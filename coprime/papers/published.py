"""How a publication's tables and figures are written down, and the list of all that are.

Each paper has a module here with a tuple TABLES; that is all there is to do for the report to show
it. A figure may name what it is compared with: a measured point, or a function of a design.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = [
    "Column",
    "Combined",
    "Computed",
    "Measured",
    "Paper",
    "Row",
    "Source",
    "Table",
    "tables",
]

Figure = int | float | str
"""A published figure: a number in the column's unit, or words where the paper prints words."""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A publication."""

    name: str
    """Its short name."""
    authors: str
    title: str
    venue: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Compare with a column of a measured point: the first one that has all these properties."""

    column: str
    """Column of the results."""
    family: str
    bits: int
    operation: str = "RSA_PRIVATE"
    exponents: str | None = None
    """"worst", "random", or None: any."""
    target: str | None = None
    """xc7, ecp5, unit-gate, or None: any, for what does not depend on the target."""
    device: str | None = None
    """The device as the point names it, or None: any of the target."""
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    """Values of the parameters that matter here."""
    part: str = "engine"
    """"engine", "accelerator", "multiplier", "reduction", "word-multiplier" or "cluster"; the one
    operation of a multiplier is MULTIPLICATION, of the two on words REDUCTION and
    WORD_MULTIPLICATION."""
    cores: int = 0
    """Of a cluster, 1 or more; 0 for the other parts."""
    convert: Callable[[float], float] | None = None
    """Brings the column's figure into the published unit."""
    where: str = ""
    """What to call the place of measurement, if the target does not say it all."""
    note: str = ""
    """What `convert` brings in, for the reader."""


@dataclass(frozen=True, kw_only=True)
class Computed:
    """Compare with a function of a design."""

    value: Callable[[], float]
    how: str
    """What the function computes."""
    where: str = "Computed"
    """What to call it."""


@dataclass(frozen=True, kw_only=True)
class Combined:
    """Compare with a function of several measured figures; there is none if one is missing."""

    of: tuple[Measured, ...]
    value: Callable[..., float]
    """Takes the figures of `of`, in their order, and gives one in the published unit."""
    where: str
    """What to call the place of measurement."""
    how: str
    """What the function computes."""


Source = Measured | Computed | Combined


@dataclass(frozen=True, kw_only=True)
class Column:
    """One quantity that a table gives."""

    name: str
    unit: str = ""


@dataclass(frozen=True)
class Row:
    """One line of figures.

    Parameters
    ----------
    label : what they are of
    published : by column name; a column that is left out is empty in the paper
    here : what each is compared with, by column name
    x : abscissa, where the table is drawn as a chart
    """

    label: str
    published: Mapping[str, Figure]
    here: Mapping[str, tuple[Source, ...]] = field(default_factory=dict)
    x: float | None = None


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table or a figure of a paper."""

    paper: Paper
    number: str
    """As in the paper: "Table 2"."""
    title: str
    row_title: str
    """What the rows' labels are."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    device: str = ""
    """What the paper's own figures were measured on."""
    page: int | None = None
    """Printed page number, where it is known."""
    chart: str | tuple[str, ...] | None = None
    """Names of the columns that are drawn over the rows' `x`, for a figure."""
    remarks: tuple[str, ...] = ()
    """How to read it, and where the paper contradicts itself."""

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        if self.chart is None:
            return ()
        return (self.chart,) if isinstance(self.chart, str) else self.chart

    def __post_init__(self) -> None:
        """Refuse figures and sources of columns that are not there."""
        names = {column.name for column in self.columns}
        for row in self.rows:
            for name in (*row.published, *row.here):
                if name not in names:
                    raise ValueError(
                        f"{self.paper.name}, {self.number}: {name!r} in row {row.label!r} is no "
                        f"column; there are: {', '.join(sorted(names))}"
                    )


def tables() -> tuple[Table, ...]:
    """Every table of every module of this package, by module name, in the module's order."""
    package = importlib.import_module(__package__)
    found: list[Table] = []
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        imported = importlib.import_module(f"{__package__}.{module.name}")
        found += getattr(imported, "TABLES", ())
    return tuple(found)
