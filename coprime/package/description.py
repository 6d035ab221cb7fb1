"""What a built accelerator, or cluster, looks like to the tools of a user: ports, registers, files.

The other modules of this folder write it down in their formats.
"""

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from amaranth.lib import wiring

from coprime import __version__
from coprime.bus import cluster_registers
from coprime.bus.axi4_lite import flat_ports
from coprime.bus.axi_accelerator import bus_signature, random_ports
from coprime.bus.kinds import Bus
from coprime.bus.register_classes import Field, Register
from coprime.bus.shared_registers import (
    defined_cluster_registers,
    defined_registers,
    identity_fields,
)
from coprime.catalog import Choice, ClusterChoice
from coprime.cells.target import Target
from coprime.engine.contract import Command, Error, Operand
from coprime.flow.parts import build_command
from coprime.padding.scheme import Padding, Scheme, mask_of

from .figures import Figures

__all__ = ["CLUSTER_C_HEADER", "C_HEADER", "Description", "Port", "describe"]

C_HEADER = "coprime_registers.h"
CLUSTER_C_HEADER = "coprime_cluster_registers.h"

# Of an accelerator's registers and of a cluster's: what has one name has the same codes.
_CODES: dict[tuple[str, str], type[enum.IntEnum]] = {
    ("COMMAND", "CODE"): Command,
    ("ERROR", "CODE"): Error,
    ("ERROR", "REFUSAL"): Error,
    ("COMPLETION", "ERROR"): Error,
    ("KEY_OPERAND", "OPERAND"): Operand,
    ("PADDING", "SCHEME"): Scheme,
}


@dataclass(frozen=True)
class Port:
    """A port of the top module.

    Parameters
    ----------
    name : its name
    output : whether the module drives it
    width : bits, at least 1
    """

    name: str
    output: bool
    width: int


@dataclass(frozen=True)
class Description:
    """One built design.

    Parameters
    ----------
    choice : family and parameters
    target : whose cells it is made of
    bus : what its ports are
    paddings : in hardware
    summary : one line
    registers : all, the windows included, by address
    values : of the fields that depend on the engine: by register and field
    clock_mhz : the clock that the user names; None if none was named
    figures : what was predicted and measured
    """

    choice: Choice | ClusterChoice
    target: Target
    bus: Bus
    paddings: tuple[Padding, ...]
    summary: str
    registers: tuple[Register, ...]
    values: Mapping[str, Mapping[str, int]]
    clock_mhz: float | None = None
    figures: Figures = field(default_factory=Figures)

    version = __version__
    """The generator's."""

    @property
    def is_cluster(self) -> bool:
        """Whether it is a cluster."""
        return isinstance(self.choice, ClusterChoice)

    @property
    def cores(self) -> int:
        """Number of engines."""
        return self.choice.cores if isinstance(self.choice, ClusterChoice) else 1

    @property
    def core(self) -> Choice:
        """The engine's family and parameters; of a cluster, those of each core."""
        return self.choice.core if isinstance(self.choice, ClusterChoice) else self.choice

    @property
    def name(self) -> str:
        """The top module, and the stem of the files."""
        return self.choice.module_name

    @property
    def random(self) -> bool:
        """Whether there is a port for random bytes."""
        return bool(self.paddings) or self.core.design.capabilities.draws

    @property
    def headers(self) -> tuple[str, ...]:
        """Names of the C headers."""
        of_cluster = (CLUSTER_C_HEADER,) if isinstance(self.choice, ClusterChoice) else ()
        return (*of_cluster, C_HEADER)

    @property
    def verilog(self) -> str:
        """Name of the Verilog file."""
        return f"{self.name}.v"

    @property
    def ports(self) -> list[Port]:
        """The ports of the top module."""
        found = [
            Port(name, member.flow is wiring.Out, int(member.shape))
            for name, member in {
                **flat_ports(bus_signature(self.bus)),
                **(random_ports() if self.random else {}),
            }.items()
        ]
        return [*found, Port("irq", True, 1)]

    @property
    def command(self) -> str:
        """The command that builds it, but for the folder."""
        return build_command(self.choice, self.target, self.bus, self.paddings)

    def reset(self, register: Register, field: Field) -> int:
        """A field's value after reset."""
        if field.reset is not None:
            return field.reset
        return self.values[register.name].get(field.name, 0)

    def register_reset(self, register: Register) -> int:
        """A register's value after reset."""
        return sum(self.reset(register, field) << field.offset for field in register.fields)

    def codes(self, register: Register, field: Field) -> list[enum.IntEnum]:
        """The codes that a field takes; none for a field of numbers."""
        return list(_CODES.get((register.name, field.name), ()))


def describe(
    choice: Choice | ClusterChoice,
    target: Target,
    bus: Bus = Bus.AXI4_LITE,
    paddings: Collection[Padding] = (),
    clock_mhz: float | None = None,
    figures: Figures | None = None,
) -> Description:
    """Describe what `coprime build` makes of a choice."""
    core = choice.core if isinstance(choice, ClusterChoice) else choice
    values = {
        register.name: fields
        for register, fields in identity_fields(core.design.capabilities, mask_of(paddings)).items()
    }
    summary = core.family.summary
    known = defined_registers(core.design.capabilities, padded=bool(paddings))
    if isinstance(choice, ClusterChoice):
        summary, known = (
            f"{choice.cores} engines on a chain: {summary}",
            defined_cluster_registers(core.design.capabilities),
        )
        values[cluster_registers.CORES.name] = {"COUNT": choice.cores}
    return Description(
        choice,
        target,
        bus,
        tuple(paddings),
        summary,
        known,
        values,
        clock_mhz,
        figures or Figures(),
    )
