"""The driver in C, for programs and firmware that use the accelerator."""

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from .description import Description


def files(description: Description) -> Mapping[str, str]:
    """The sources of the C driver that are for the design's kind."""
    found = _sources(resources.files("coprime").joinpath("drivers"), "drivers")
    others = description.kind.not_drivers
    return {path: text for path, text in found.items() if not any(part in path for part in others)}


def _sources(folder: Traversable, path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        where = f"{path}/{entry.name}"
        if entry.is_dir():
            found |= _sources(entry, where)
        else:
            found[where] = entry.read_text("utf-8")
    return found
