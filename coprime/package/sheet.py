"""A data sheet as data, and its two forms: Markdown for people, JSON for programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Cell = str | int | float | bool | None  # a value in a table; None is a figure that was not measured

_NOT_MEASURED = "not measured"


@dataclass(frozen=True, kw_only=True)
class Section:
    """A table with what there is to say about it.

    Raises ValueError for a row with other columns.

    Parameters
    ----------
    key : its name in JSON
    title : its heading in Markdown
    columns : heading of each column, by its name in JSON
    rows : a cell for each column
    text : what comes before the table, in Markdown; empty if there is nothing to say
    pictures : Markdown in place of the table, where that shows the same
    """

    key: str
    title: str
    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, Cell]]
    text: str = ""
    pictures: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if list(row) != list(self.columns):
                raise ValueError(f"a row of {self.key} has {list(row)}, not {list(self.columns)}")

    @property
    def markdown(self) -> str:
        """Heading, text and table; numbers are aligned to the right."""
        parts = [f"## {self.title}", self.text, self.pictures]
        if self.rows and not self.pictures:
            names = list(self.columns)
            right = [all(_is_number(row[name]) for row in self.rows) for name in names]
            parts.append(
                "\n".join(
                    [
                        _line(self.columns.values()),
                        _line("---:" if number else "---" for number in right),
                        *(_line(_shown(row[name]) for name in names) for row in self.rows),
                    ]
                )
            )
        return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A whole data sheet.

    Parameters
    ----------
    title : of the page
    head : what identifies the design, for programs
    text : what comes before the first section, in Markdown
    sections : in their order
    """

    title: str
    head: Mapping[str, Cell]
    text: str
    sections: Sequence[Section]

    @property
    def markdown(self) -> str:
        """The page."""
        parts = [f"# {self.title}", self.text, *(section.markdown for section in self.sections)]
        return "\n\n".join(parts) + "\n"

    @property
    def json(self) -> str:
        """The same for programs: the head, the rows of each section, and the texts as notes."""
        record: dict[str, object] = {
            **self.head,
            **{section.key: list(section.rows) for section in self.sections},
            "notes": {section.key: section.text for section in self.sections if section.text},
        }
        return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _shown(cell: Cell) -> str:
    if cell is None:
        return _NOT_MEASURED
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        # Four digits, as a measurement has them, but none of a whole part is dropped.
        return f"{cell:,.0f}" if cell >= 1000 else f"{cell:.4g}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return " ".join(cell.split()).replace("|", "\\|")
