"""The driver in C, for programs and firmware that use the accelerator."""

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from coprime.catalog import ClusterChoice

from .description import Description

__all__ = ["files"]


def files(own: Description) -> Mapping[str, str]:
    """The sources of the C driver; none for a cluster, which has other registers."""
    if isinstance(own.choice, ClusterChoice):
        return {}
    return _sources(resources.files("coprime").joinpath("drivers"), "drivers")


def _sources(folder: Traversable, path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        where = f"{path}/{entry.name}"
        if entry.is_dir():
            found |= _sources(entry, where)
        else:
            found[where] = entry.read_text("utf-8")
    return found
