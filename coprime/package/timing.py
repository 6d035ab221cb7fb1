"""Timing diagrams of the ports: WaveDrom's JSON, and rendered as SVG.

tools/timing.py makes them from a simulation of the hardware; they are the same for every design
that has the ports, but for how long it waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from coprime.bus.axi_accelerator import Bus
from coprime.catalog import ClusterChoice

from .description import Description
from .sheet import Section

__all__ = ["DIAGRAMS", "FOLDER", "files", "section"]

FOLDER = "timing"
"""Of the diagrams, in this package and in what is built."""


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


_COMMAND = "irq rises as the result can be read, and falls as 1 is written to INTERRUPT_STATUS."
_RESET = (
    "One cycle of s_axi_aresetn is enough. The first access waits until the buffers are cleared, a"
    " word in each cycle."
)

DIAGRAMS: Mapping[str, Diagram] = {
    "write": Diagram(
        "AXI4-Lite: 1 is written to INTERRUPT_ENABLE (068)",
        "Address and data may come in either order. The answer comes three cycles after the later"
        " one; the next write is taken in the cycle after the answer was.",
    ),
    "read": Diagram(
        "AXI4-Lite: IDENTIFICATION (040) is read",
        "The data comes four cycles after the address, and is 0 again when it was taken.",
    ),
    "wait": Diagram(
        "AXI4-Lite: two words are written to KEY_DATA (084), and the second one waits",
        "Two words of an operand on an engine with digits of 17 bits: the second one waits until"
        " the first one has become digits.",
    ),
    "burst_write": Diagram(
        "AXI4: three words are written to INPUT_WINDOW (400)",
        "A beat every two cycles; one answer for all.",
    ),
    "burst_read": Diagram(
        "AXI4: three registers are read from DIGITS (050) on", "A beat every three cycles."
    ),
    "command": Diagram(
        "AXI4-Lite: a command (060) to its interrupt, acknowledged in INTERRUPT_STATUS (06C)",
        _COMMAND,
    ),
    "reset": Diagram(
        "AXI4-Lite: a reset, and a read of STATUS (000) that waits for its end",
        _RESET,
    ),
    "burst_command": Diagram(
        "AXI4: a command (060) to its interrupt, acknowledged in INTERRUPT_STATUS (06C)",
        _COMMAND,
    ),
    "burst_reset": Diagram(
        "AXI4: a reset, and a read of STATUS (000) that waits for its end",
        _RESET,
    ),
    "random": Diagram(
        "Three random bytes, of which the second one comes late",
        "A byte is taken in each cycle in which tvalid and tready are 1; a command waits for a"
        " byte that comes late.",
    ),
}


def _shown(own: Description) -> list[str]:
    """The diagrams that fit a design's ports and registers."""
    if isinstance(own.choice, ClusterChoice):
        return ["burst_read"] if own.bus is Bus.AXI4 else ["write", "read"]
    if own.bus is Bus.AXI4:
        names = ["burst_write", "burst_read", "burst_reset", "burst_command"]
    else:
        names = ["write", "read", "wait", "reset", "command"]
    return names + (["random"] if own.random else [])


def files(own: Description) -> Mapping[str, str]:
    """The diagrams that fit a design's ports."""
    source = resources.files("coprime.package") / FOLDER
    return {
        f"doc/{FOLDER}/{name}.{kind}": (source / f"{name}.{kind}").read_text("utf-8")
        for name in _shown(own)
        for kind in ("json", "svg")
    }


def section(own: Description) -> Section:
    """The diagrams, as the data sheet shows them."""
    shown = _shown(own)
    pictures = "\n\n".join(
        f"![{DIAGRAMS[name].title}]({FOLDER}/{name}.svg)\n\n{DIAGRAMS[name].text}" for name in shown
    )
    return Section(
        key="timing",
        title="Timing",
        text="With a master that is always ready, from a simulation of the hardware; the sources"
        " are WaveDrom's. Where cycles are left out, nothing changes; how many there are depends on"
        " the design.",
        pictures=pictures,
        columns={"diagram": "diagram", "source": "source", "image": "image"},
        rows=[
            {
                "diagram": DIAGRAMS[name].title,
                "source": f"{FOLDER}/{name}.json",
                "image": f"{FOLDER}/{name}.svg",
            }
            for name in shown
        ],
    )
