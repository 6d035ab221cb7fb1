"""What the parts of the page have in common."""

from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["DOCS", "replace_part", "table", "thousands"]

DOCS = Path(__file__).parent.parent / "docs"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---:|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def thousands(value: int) -> str:
    return f"{value:,}"


def replace_part(page: str, name: str, text: str) -> None:
    """Replace the part of this name in a page of docs/ by what was measured.

    The part is between two comments that a rendered page does not show.
    """
    path = DOCS / page
    first, last = f"<!-- make bench: {name} -->\n", "<!-- end -->\n"
    before, found, rest = path.read_text("utf-8").partition(first)
    _, closed, after = rest.partition(last)
    if not (found and closed):
        raise ValueError(f"{page} must have the lines {first.strip()} and {last.strip()}")
    path.write_text(f"{before}{first}\n{text}\n{last}{after}", encoding="utf-8")
