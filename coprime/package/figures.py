"""The figures of a data sheet: what was predicted or measured of a design, and how.

Whatever makes the package finds them and passes them in; the data sheet shows what is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from coprime.flow.mapping import Resources


@dataclass(frozen=True, kw_only=True)
class ClockFigures:
    """Maximum clock frequency of a part, placed and routed."""

    mean_mhz: float  # over the placements: what one run of the tools reaches on average
    best_mhz: float
    seeds: int  # placements, each from another seed: 1 or more
    found: str  # how: tool and device


@dataclass(frozen=True, kw_only=True)
class PartFigures:
    """Area of a part of the design, and its clock where it was routed."""

    part: str  # engine, accelerator or cluster
    resources: Resources
    found: str  # how: tool and device family
    clock: ClockFigures | None = None


@dataclass(frozen=True, kw_only=True)
class OperationFigures:
    """Clock cycles of an operation at a length; they follow from the design without measurement."""

    operation: str
    bits: int
    """Of the modulus."""
    engine_cycles: int
    """What the register CYCLES shows after it."""
    command_cycles: int | None
    """From the write of COMMAND to the interrupt; None for a cluster, where cores overlap."""
    moving_cycles: int | None
    """Of writing the input and reading the result over the bus, for a master that never waits."""


@dataclass(frozen=True, kw_only=True)
class SoftwareFigures:
    """Operations a second of OpenSSL on one core."""

    bits: int
    private_per_second: float
    public_per_second: float


PROVED = "proved"
"""The result of an assessment that is a proof, and holds."""


@dataclass(frozen=True, kw_only=True)
class Assessed:
    """What was assessed of a design of these parameters, with how much, and what came out."""

    assessment: str  # constant time, faults or power
    what: str  # operation, size, kind of fault or test
    amount: str  # runs, traces, or how it was proved
    result: str


@dataclass(frozen=True, kw_only=True)
class Figures:
    """All figures of a data sheet; what is empty was not measured."""

    parts: Sequence[PartFigures] = ()
    operations: Sequence[OperationFigures] = ()
    software: Sequence[SoftwareFigures] = ()
    software_found: str = ""  # how those of the software were: version, and the processor
    assessed: Sequence[Assessed] = ()
    engines: Sequence["Figures"] = ()  # of each engine of a suite
