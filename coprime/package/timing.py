"""Timing diagrams of the ports: WaveDrom's JSON, and rendered as SVG.

tools/timing.py makes them from a simulation of the hardware; they are the same for every design
that has the ports, but for how long it waits.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from .description import Description

FOLDER = "timing"  # of the diagrams, in this package and in what is built


@dataclass(frozen=True)
class Diagram:
    """A diagram.

    Parameters
    ----------
    title : its heading
    text : what to see in it
    """

    title: str
    text: str


_SOURCE = resources.files("coprime.package") / FOLDER
DIAGRAMS: Mapping[str, Diagram] = {
    name: Diagram(diagram["title"], " ".join(diagram["text"].split()))
    for name, diagram in tomllib.loads((_SOURCE / "diagrams.toml").read_text("utf-8")).items()
}


def _shown(description: Description) -> list[str]:
    """The diagrams that fit a design's ports and registers."""
    return description.kind.diagrams(description.bus) + (["random"] if description.random else [])


def files(description: Description) -> Mapping[str, str]:
    """The diagrams that fit a design's ports."""
    return {
        f"doc/{FOLDER}/{name}.{kind}": (_SOURCE / f"{name}.{kind}").read_text("utf-8")
        for name in _shown(description)
        for kind in ("json", "svg")
    }


def rows(description: Description) -> list[tuple[str, str, str]]:
    """Title, source and image of each diagram, for the data sheet."""
    return [
        (DIAGRAMS[name].title, f"{FOLDER}/{name}.json", f"{FOLDER}/{name}.svg")
        for name in _shown(description)
    ]


def pictures(description: Description) -> str:
    """The diagrams in Markdown."""
    return "\n\n".join(
        f"![{DIAGRAMS[name].title}]({FOLDER}/{name}.svg)\n\n{DIAGRAMS[name].text}"
        for name in _shown(description)
    )
