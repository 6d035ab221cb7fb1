"""What a built accelerator, or cluster, looks like to the tools of a user: ports, registers, files.

`coprime.flow.register_files` and `coprime.flow.project_files` write it down in their formats.
"""

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from amaranth.lib import wiring

from coprime import __version__
from coprime.bus import cluster_registers, registers
from coprime.bus.accelerator import Bus, random_ports
from coprime.bus.axi4 import ID_BITS, AXI4Signature
from coprime.bus.axi4_lite import AXI4LiteSignature, flat_ports
from coprime.bus.common import PLAIN_REGISTERS, PLAIN_WINDOWS, identity_fields
from coprime.bus.register_classes import Field, Register
from coprime.catalog import Choice, ClusterChoice
from coprime.cells.target import Target
from coprime.engine.contract import Command, Error, Operand
from coprime.padding.scheme import Padding, Scheme, mask_of

__all__ = ["Description", "Port", "describe"]

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
    name : its top module, and the stem of its files
    summary : one line
    target : whose cells it is made of
    bus : what its ports are
    registers : all, the windows included, by address
    values : of the fields that depend on the engine: by register and field
    headers : names of the C headers
    random : whether there is a port for random bytes
    """

    name: str
    summary: str
    target: Target
    bus: Bus
    registers: tuple[Register, ...]
    values: Mapping[str, Mapping[str, int]]
    headers: tuple[str, ...]
    random: bool = False

    version = __version__
    """The generator's."""

    @property
    def verilog(self) -> str:
        """Name of the Verilog file."""
        return f"{self.name}.v"

    @property
    def ports(self) -> list[Port]:
        """The ports of the top module."""
        signature = AXI4Signature(ID_BITS) if self.bus is Bus.AXI4 else AXI4LiteSignature()
        found = [
            Port(name, member.flow is wiring.Out, int(member.shape))
            for name, member in {
                **flat_ports(signature),
                **(random_ports() if self.random else {}),
            }.items()
        ]
        return [*found, Port("irq", True, 1)]

    def reset(self, register: Register, field: Field) -> int:
        """A field's value after reset."""
        if field.reset is not None:
            return field.reset
        return self.values[register.name].get(field.name, 0)

    def codes(self, register: Register, field: Field) -> list[enum.IntEnum]:
        """The codes that a field takes; none for a field of numbers."""
        return list(_CODES.get((register.name, field.name), ()))


def describe(
    choice: Choice | ClusterChoice,
    target: Target,
    bus: Bus,
    headers: tuple[str, ...],
    paddings: Collection[Padding] = (),
) -> Description:
    """Describe what `coprime build` makes of a choice."""
    core = choice.core if isinstance(choice, ClusterChoice) else choice
    values = {
        register.name: fields
        for register, fields in identity_fields(core.design.capabilities, mask_of(paddings)).items()
    }
    summary, known = core.family.summary, (*PLAIN_REGISTERS, *PLAIN_WINDOWS)
    if paddings:
        known = (*registers.REGISTERS, *registers.WINDOWS)
    if isinstance(choice, ClusterChoice):
        summary, known = (
            f"{choice.cores} engines on a chain: {summary}",
            cluster_registers.REGISTERS,
        )
        values[cluster_registers.CORES.name] = {"COUNT": choice.cores}
    return Description(
        choice.module_name,
        summary,
        target,
        bus,
        known,
        values,
        headers,
        bool(paddings) or core.design.capabilities.draws,
    )
