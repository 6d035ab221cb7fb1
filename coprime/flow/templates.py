"""Templates of text files (Jinja): text as it is, with a place for each value."""

from functools import cache
from pathlib import Path
from typing import Any


def filled(folders: tuple[Path, ...], template: str, **values: object) -> str:
    """The text of a template, which is in one of these folders, with these values in it.

    Blocks leave no empty lines, and a name without a value raises. In XML values are escaped.
    """
    return str(_environment(folders).get_template(template).render(values))


@cache
def _environment(folders: tuple[Path, ...]) -> Any:
    import jinja2  # only what writes files waits for it

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=lambda name: name is not None and name.endswith((".svd.j2", ".xml.j2")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
