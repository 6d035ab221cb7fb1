"""The register map for software in C."""

from collections.abc import Mapping
from importlib import resources

from .description import Description


def files(description: Description) -> Mapping[str, str]:
    """The C headers: those that the register description generates for all designs, and others."""
    source, made = resources.files("coprime.bus"), description.kind.made_headers
    return {
        name: made[name] if name in made else source.joinpath(name).read_text("utf-8")
        for name in description.headers
    }
