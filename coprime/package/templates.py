"""The texts of a package's files: templates (Jinja) that are filled in with what is known."""

from pathlib import Path

import jinja2

__all__ = ["filled"]

_FOLDER = Path(__file__).parent
_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader([_FOLDER / "templates", _FOLDER / "testbench"]),
    autoescape=lambda name: name is not None and name.endswith((".svd.j2", ".xml.j2")),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def filled(template: str, **values: object) -> str:
    """The text of a template of `templates/` or `testbench/`, with these values in it."""
    return _ENVIRONMENT.get_template(template).render(values)
