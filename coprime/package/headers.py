"""The register map for software in C."""

from collections.abc import Mapping
from importlib import resources

from .description import Description


def files(own: Description) -> Mapping[str, str]:
    """The C headers, which the register description generates for all designs."""
    source = resources.files("coprime.bus")
    return {name: source.joinpath(name).read_text("utf-8") for name in own.headers}
