"""Timing constraints in the format of the target's tools."""

from collections.abc import Mapping

from coprime.cells.target import Target

from .description import Description
from .templates import filled

CONSTRAINTS = {
    Target.GENERIC: (".sdc", 100),
    Target.XC7: ("_ooc.xdc", 100),
    Target.ECP5: (".lpf", 50),
    Target.GOWIN: (".sdc", 50),
    Target.ICE40: (".sdc", 24),
    Target.NEXUS: (".sdc", 75),
    Target.GATEMATE: (".sdc", 25),
}
"""Of each target: the end of the file's name, which says its format, and MHz to start from."""


def goal_mhz(description: Description) -> float:
    """The clock that the user names, or else the one to start from."""
    _, goal = CONSTRAINTS[description.target]
    return goal if description.clock_mhz is None else description.clock_mhz


def files(description: Description) -> Mapping[str, str]:
    """The constraints of the clock, and of ring oscillators."""
    suffix, _ = CONSTRAINTS[description.target]
    text = filled("constraints.j2", own=description, suffix=suffix, mhz=goal_mhz(description))
    rings = noise_files(description)
    noise = {path: filled("noise.xdc.j2", own=description) for path in rings}
    return {f"{description.name}{suffix}": text, **noise}


def noise_files(description: Description) -> tuple[str, ...]:
    """Paths of the constraints of ring oscillators, for Vivado."""
    return (
        (f"{description.name}_noise.xdc",)
        if description.trng and description.target is Target.XC7
        else ()
    )
