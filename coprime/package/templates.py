"""The templates of a package's files."""

from pathlib import Path

from coprime.flow import templates

_PACKAGE = Path(__file__).parent
_FOLDERS = (_PACKAGE / "templates", _PACKAGE / "testbench")


def filled(template: str, **values: object) -> str:
    """The text of a template of `templates/` or `testbench/`, with these values in it."""
    return templates.filled(_FOLDERS, template, **values)
