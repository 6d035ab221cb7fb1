"""How a publication's tables and figures are written down, and the list of all that are.

A paper is two files. NAME.toml has what it prints, as it prints it, with remarks on how to read it,
and the reasons why nothing of ours is compared with some figures; `read_publication` reads it.
NAME.py has a tuple TABLES of these tables, and says what each figure is compared with: a measured
point, a function of a design, or what follows from the paper's other figures. The report needs
nothing else.
"""

import importlib
import pkgutil
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from coprime.bus.kinds import Bus
from coprime.catalog import NODES, family_named

Figure = int | float | str
"""A published figure: a number in the column's unit, or words where the paper prints words."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Paper(_Strict):
    """A publication."""

    name: str  # its short name
    authors: str
    title: str
    venue: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Compare with a column of a measured point: the first one that has all these properties."""

    column: str
    """Column of the results. Where `cycles` were too many to simulate, they are predicted."""
    family: str
    bits: int
    operation: str = "RSA_PRIVATE"
    exponents: str | None = None  # "worst", "random", or None: any
    target: str | None = None
    """xc7, ecp5, unit-gate, or None: any, for what does not depend on the target."""
    device: str | None = None  # the device as the point names it, or None: any of the target
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    """Values of the parameters that matter here, defaults included."""
    part: str = "engine"
    """"engine", "accelerator", "multiplier", "reduction", "word-multiplier", "cluster" or "system";
    the one operation of a multiplier is MULTIPLICATION, of the two on words REDUCTION and
    WORD_MULTIPLICATION. Of a system, `cycles` are those of MODEXP from the numbers in the
    processor's memory to the result there, `software_cycles` those of software on the same
    processor."""
    cores: int = 0  # of a cluster, 1 or more; 0 for the other parts
    node: str = NODES[0]  # of a cluster: "full" or "lean"
    bus: str = Bus.AXI4_LITE.value
    """Of an accelerator, a cluster or a system: "axi4-lite" or "axi4"; "axi4-lite" for the others.
    """
    convert: Callable[[float], float] | None = None
    """Brings the column's figure into the published unit."""
    where: str = ""  # what to call the place of measurement, if the target does not say it all
    note: str = ""  # what `convert` brings in, for the reader

    def fits(self, parameters: Mapping[str, int | str]) -> bool:
        """Whether a design of the family is such a one; what it leaves out has its default."""
        known = {
            parameter.name: parameter.default for parameter in family_named(self.family).parameters
        }
        design = {**known, **parameters}
        return all(design.get(name) == value for name, value in self.parameters.items())


@dataclass(frozen=True, kw_only=True)
class Computed:
    """Compare with a function of a design, or of measured figures if all of these are there."""

    of: tuple[Measured, ...] = ()
    value: Callable[..., float]
    """Takes the figures of `of`, in their order, and gives one in the published unit."""
    how: str  # what the function computes
    where: str = "Computed"  # what to call it, or the place of measurement
    kind: str = "computed"
    """Without `of`: "unit gates" for an estimate in these, "predicted" for cycles of a model."""


@dataclass(frozen=True, kw_only=True)
class Derived:
    """What follows from other figures of the paper: nothing of ours."""

    value: Callable[[], float]  # in the published unit
    where: str  # what to call it: which figures it follows from
    how: str  # what the function computes


Source = Measured | Computed | Derived
Sources = Mapping[str, Sequence[Source]]  # what a row's figures are compared with, by column name


@dataclass(frozen=True, kw_only=True)
class Column:
    """One quantity that a table gives."""

    name: str
    unit: str = ""


@dataclass(frozen=True)
class Row:
    """One line of figures."""

    label: str  # what they are of
    published: Mapping[str, Figure]
    """By column name; a column that is left out is empty in the paper."""
    here: Sources = field(default_factory=dict)  # what each is compared with, by column name
    x: float | None = None  # abscissa, where the table is drawn as a chart
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why nothing of ours is compared with a figure, in a phrase, by column name; of no meaning for
    a figure that something of ours is compared with."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table or a figure of a paper."""

    paper: Paper
    number: str  # as in the paper: "Table 2"
    title: str
    row_title: str  # what the rows' labels are
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    device: str = ""  # what the paper's own figures were measured on
    page: int | None = None  # printed page number, where it is known
    drawn: tuple[str, ...] = ()
    """Names of the columns that are drawn over the rows' `x`, for a figure."""
    remarks: tuple[str, ...] = ()  # how to read it, and where the paper contradicts itself

    def __post_init__(self) -> None:
        """Refuse figures and sources of columns that are not there. Raises ValueError for these."""
        names = {column.name for column in self.columns}
        for row in self.rows:
            for name in (*row.published, *row.here, *row.reasons):
                if name not in names:
                    raise ValueError(
                        f"{self.paper.name}, {self.number}: {name!r} in row {row.label!r} is no "
                        f"column; there are: {', '.join(sorted(names))}"
                    )


# --- The files ----------------------------------------------------------------------------------


class _PrintedTable(_Strict):
    number: str
    title: str
    row_title: str
    columns: list[str]  # each as "name" or "name [unit]"
    rows: str = ""
    """A line each: the label and a figure for each column, two or more spaces apart. "-" is empty
    in the paper; quotes make text of digits."""
    row_label: str = "{:,} bits"  # makes a label of a number
    page: int | None = None
    device: str = ""
    chart: list[str] = []
    remarks: str = ""  # paragraphs with an empty line between them

    @property
    def cells(self) -> Iterator[tuple[str, ...]]:
        """The rows, digit for digit."""
        for line in self.rows.strip().splitlines():
            yield tuple(re.split(r"\s{2,}", line.strip()))

    @cached_property
    def lines(self) -> tuple[tuple[Any, ...], ...]:
        """The rows with their numbers."""
        return tuple(tuple(_figure(cell) for cell in cells) for cells in self.cells)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for label, *figures in self.cells:
            if len(figures) != len(self.columns):
                raise ValueError(
                    f"{self.number}: row {label!r} must have {len(self.columns)} figures, a column "
                    f"each, not {len(figures)}"
                )
        return self


class Reason(_Strict):
    """Why nothing of ours is compared with some figures: those of all three lists.

    A list that is left out stands for all tables, rows or columns.
    """

    text: str  # in a phrase
    tables: list[str] = []
    rows: list[str] = []  # labels as printed
    columns: list[str] = []  # names without units

    def holds(self, number: str, label: str, column: str) -> bool:
        """Whether it is the reason of a figure."""
        places = ((self.tables, number), (self.rows, label), (self.columns, column))
        return all(not names or name in names for names, name in places)


class _PrintedPaper(Paper):
    table: list[_PrintedTable]
    reason: list[Reason] = []


def _figure(cell: str) -> Figure | None:
    if cell == "-":
        return None
    for number in (int, float):
        try:
            return number(cell)
        except ValueError:
            pass
    return cell.strip("'")


class Publication:
    """A paper's file, from its text in TOML.

    Raises pydantic's ValidationError, a ValueError, for an unknown or missing key, a value of
    another type, a row that has not a figure for each column, and a reason of no figure.
    """

    def __init__(self, text: str):
        printed = _PrintedPaper.model_validate(tomllib.loads(text))
        self._tables = {table.number: table for table in printed.table}
        self.reasons = tuple(printed.reason)
        self.paper = Paper(**printed.model_dump(exclude={"table", "reason"}))
        figures = [
            (number, cells[0], column.name)
            for number, table in self._tables.items()
            for cells in table.cells
            for column in self.columns(number)
        ]
        for reason in self.reasons:
            chosen_figures = [figure for figure in figures if reason.holds(*figure)]
            named = {*reason.tables, *reason.rows, *reason.columns}
            if unknown := named - {name for figure in chosen_figures for name in figure}:
                raise ValueError(
                    f"{self.paper.name}: the reason {reason.text!r} is of no figure with"
                    f" {', '.join(sorted(unknown))}"
                )

    def reason(self, number: str, label: str, column: str) -> str:
        """Why nothing of ours is compared with a figure; "" if the file does not say.

        The label is as printed. Of several reasons the first one counts.
        """
        found = (reason.text for reason in self.reasons if reason.holds(number, label, column))
        return next(found, "")

    def lines(self, number: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a table: label, figures; None is empty in the paper."""
        return self._tables[number].lines

    def cells(self, number: str) -> Iterator[tuple[str, ...]]:
        """The same as text, digit for digit."""
        return self._tables[number].cells

    def column(self, number: str, name: str) -> dict[Any, Any]:
        """One column of a table, by label."""
        place = [column.name for column in self.columns(number)].index(name) + 1
        return {line[0]: line[place] for line in self.lines(number)}

    def table(
        self,
        number: str,
        here: Callable[[Any], Sources] | Mapping[Any, Sources] | None = None,
        *,
        computed: Callable[[Any], Mapping[str, Figure]] | None = None,
        rows: Sequence[Row] | None = None,
    ) -> Table:
        """A table with what its figures are compared with.

        Parameters
        ----------
        number : as in the paper
        here : by a row's label, or a function of it
        computed : figures that follow from printed ones, by a row's label
        rows : the rows, where the label and the figures are not as in the file
        """
        table, columns = self._tables[number], self.columns(number)
        find = here if callable(here) else lambda label: (here or {}).get(label, {})
        if rows is None:
            rows = [
                Row(
                    label if isinstance(label, str) else table.row_label.format(label),
                    {
                        **{
                            column.name: it
                            for column, it in zip(columns, figures, strict=True)
                            if it is not None
                        },
                        **(computed(label) if computed else {}),
                    },
                    find(label),
                    x=None if isinstance(label, str) else label,
                )
                for label, *figures in table.lines
            ]
        labels = [cells[0] for cells in table.cells] or [row.label for row in rows]
        rows = [
            replace(
                row,
                reasons={
                    column.name: reason
                    for column in columns
                    if (reason := self.reason(number, label, column.name))
                },
            )
            for label, row in zip(labels, rows, strict=True)
        ]
        paragraphs = table.remarks.strip().split("\n\n") if table.remarks else []
        return Table(
            paper=self.paper,
            number=number,
            title=table.title,
            row_title=table.row_title,
            columns=columns,
            rows=tuple(rows),
            device=table.device,
            page=table.page,
            drawn=tuple(table.chart),
            remarks=tuple(" ".join(paragraph.split()) for paragraph in paragraphs),
        )

    def complete(self, made: Iterable[Table]) -> tuple[Table, ...]:
        """These tables, and the file's others as printed, in the file's order."""
        known = {table.number: table for table in made}
        return tuple(known.get(number) or self.table(number) for number in self._tables)

    def columns(self, number: str) -> tuple[Column, ...]:
        """The columns of a table."""
        found = [
            re.fullmatch(r"(.*?)(?: \[([^]]*)\])?", column)
            for column in self._tables[number].columns
        ]
        return tuple(Column(name=match[1], unit=match[2] or "") for match in found if match)


def read_publication(name: str) -> Publication:
    """The file NAME.toml in this folder."""
    return Publication(resources.files(__package__).joinpath(f"{name}.toml").read_text("utf-8"))


# --- Sources that several papers have -----------------------------------------------------------


def at_clock(
    cycles: Measured,
    megahertz: float,
    scale: float = 1000,
    then: Callable[[float], float] = float,
    note: str = "",
    where: str = "Simulation, at the paper's clock",
) -> Measured:
    """The time of cycles at a published clock.

    Parameters
    ----------
    cycles : as measured
    megahertz : the clock
    scale : cycles of 1 MHz in a unit of time: 1000 in 1 ms, 1 in 1 μs
    then : brings the time into the published unit
    note : for the reader, after the clock
    where : what to call the place of measurement
    """
    return replace(
        cycles,
        convert=lambda count: then(count / megahertz / scale),
        where=where,
        note=f"at {megahertz:g} MHz{note}",
    )


def over_clock(cycles: Measured, clock: Measured, where: str, scale: float = 1000) -> Computed:
    """Cycles of a whole operation over the measured clock of one multiplier; see `at_clock`."""
    return Computed(
        of=(cycles, clock),
        value=lambda count, megahertz: count / megahertz / scale,
        where=where,
        how="cycles of the whole operation over the clock of the multiplier alone",
    )


def tables() -> tuple[Table, ...]:
    """Every table of every module of this package, by module name, in the module's order."""
    package = importlib.import_module(__package__)
    found: list[Table] = []
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
        imported = importlib.import_module(f"{__package__}.{module.name}")
        found += getattr(imported, "TABLES", ())
    return tuple(found)
