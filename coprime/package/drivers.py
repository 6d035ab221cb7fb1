"""The driver in C, for programs and firmware that use the accelerator."""

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from coprime.catalog import ClusterChoice

from .description import Description


def files(own: Description) -> Mapping[str, str]:
    """The sources of the C driver; for a cluster also what makes accelerators of its cores."""
    found = _sources(resources.files("coprime").joinpath("drivers"), "drivers")
    is_cluster = isinstance(own.choice, ClusterChoice)
    return {path: text for path, text in found.items() if is_cluster or "_cluster" not in path}


def _sources(folder: Traversable, path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        where = f"{path}/{entry.name}"
        if entry.is_dir():
            found |= _sources(entry, where)
        else:
            found[where] = entry.read_text("utf-8")
    return found
