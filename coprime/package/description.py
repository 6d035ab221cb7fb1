"""What a built design looks like to the tools of a user: ports, registers, files.

The other modules of this folder write it down in their formats. What differs between engines of
numbers, clusters of them and engines of byte strings, each `Kind` answers for itself: `kinds/`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from amaranth.lib import wiring

from coprime import __version__
from coprime.bus import registers
from coprime.bus.axi4_lite import flat_ports
from coprime.bus.axi_accelerator import bus_signature, noise_ports, random_ports
from coprime.bus.kinds import Bus
from coprime.bus.register_classes import Field, Register
from coprime.catalog import AnyDesign, Choice, ClusterChoice
from coprime.cells.target import Target
from coprime.flow.noise_module import NOISE_MODEL
from coprime.flow.parts import build_command
from coprime.padding.scheme import Padding
from coprime.parameters import AnyParameter
from coprime.random.generator import Generator
from coprime.random.kinds import RandomSource
from coprime.random.seeder import START_SAMPLES
from coprime.suites import EnginesParameter

from .figures import Figures
from .sheet import Cell

__all__ = [
    "C_HEADER",
    "Among",
    "Description",
    "Example",
    "Kind",
    "Port",
    "Rows",
    "SheetParts",
    "TestbenchParts",
]

C_HEADER = "coprime_registers.h"

Rows = Sequence[Mapping[str, Cell] | Sequence[Cell]]
"""Cells by their columns, and maybe more; or one for each column."""


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
class SheetParts:
    """What a data sheet has of a kind of designs.

    Parameters
    ----------
    template : of its sections: their titles, texts and columns
    values : that this template has, and others have not
    first : rows of the overview before area and clock
    headline : the last row there: cycles and time of an operation; empty if there is none
    rows : of the sections that other kinds have not, by the sections' keys
    """

    template: str
    values: Mapping[str, object]
    first: Rows
    headline: Rows
    rows: Mapping[str, Rows]


@dataclass(frozen=True)
class TestbenchParts:
    """What a testbench has of a kind of designs: Verilog, and how much it is.

    Parameters
    ----------
    tasks : the tasks of its checks
    checks, quick : statements: of all checks, and of the quick ones
    longest : bits of the longest number that a task is given
    limit : cycles from a check to the next, after which something hangs
    cycles, quick_cycles : that the checks take, about
    codes : the codes that these name, by what they are codes of, a constant KIND_NAME each
    spare : a register that stores what is written, to try accesses with
    """

    tasks: str
    checks: str
    quick: str
    longest: int
    limit: int
    cycles: int
    quick_cycles: int
    codes: Mapping[str, Mapping[str, int]]
    spare: str


@dataclass(frozen=True)
class Example:
    """What the cocotb example has of a kind of designs.

    Parameters
    ----------
    template : of the example
    values : that this template has
    used : names of the registers that it may access
    cycles : of the longest command
    """

    template: str
    values: Mapping[str, object]
    used: frozenset[str]
    cycles: int


@dataclass(frozen=True)
class Among:
    """Of what an engine is a core.

    Parameters
    ----------
    cores : how many there are
    source : of random bytes in the hardware: the value of CAPABILITIES.SOURCE
    """

    cores: int
    source: int = 0


class Kind(ABC):
    """What files of a package ask of the kind of a design."""

    purpose = "public-key cryptography"
    part = "accelerator"
    """As which the whole design is measured."""
    parts: tuple[str, ...] = ("engine", "accelerator")
    """What the data sheet shows the area of."""
    cores = 1
    headers: tuple[str, ...] = (C_HEADER,)
    """Names of the C headers of registers, and of what else software needs the numbers of."""
    changing: tuple[str, ...] = ("TIME", registers.RANDOM_STATUS.name)
    """Names of registers that have no value to be known after a reset."""
    software: str
    """Template of the README's step on software."""
    not_drivers: tuple[str, ...] = ()
    """Parts of the names of the C driver's files that are for other kinds."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The design in one line."""

    @property
    @abstractmethod
    def registers(self) -> tuple[Register, ...]:
        """All registers, the windows included, by address."""

    @property
    @abstractmethod
    def values(self) -> Mapping[str, Mapping[str, int]]:
        """The fields' values that depend on the engine: by register and field."""

    @property
    @abstractmethod
    def codes(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """The codes of fields that have some, by register and field: numbers by their names."""

    @property
    @abstractmethod
    def parameters(self) -> Sequence[AnyParameter | EnginesParameter]:
        """What can be set."""

    @property
    @abstractmethod
    def draws(self) -> bool:
        """Whether it takes random bytes."""

    def selected(self, description: "Description") -> "Description":
        """The design as its registers are after a reset: of a suite, its first core."""
        return description

    def engines(self, description: "Description") -> Sequence[tuple[str, "Description"]]:
        """Of a suite each engine with its name; of all others none."""
        return ()

    @property
    def made_headers(self) -> Mapping[str, str]:
        """The text of those headers that are of this design alone, by name."""
        return {}

    @abstractmethod
    def verilog(self, target: Target, bus: Bus) -> str:
        """The text of the design."""

    @abstractmethod
    def diagrams(self, bus: Bus) -> list[str]:
        """Names of the timing diagrams that fit its ports and registers."""

    @abstractmethod
    def sheet_parts(self, description: "Description", mhz: float | None) -> SheetParts:
        """The parts of its data sheet; times are those at a clock, if one is known."""

    @abstractmethod
    def kept(self, register: Register, word: int) -> int | None:
        """What a register shows after a write of a word; None if it is none that stores."""

    @abstractmethod
    def bench(self, description: "Description") -> TestbenchParts:
        """The parts of its testbench."""

    @abstractmethod
    def example(self, description: "Description") -> Example:
        """The parts of its cocotb example."""


@dataclass(frozen=True)
class Description:
    """One built design.

    Parameters
    ----------
    choice : family and parameters
    kind : what differs between kinds of designs
    target : whose cells it is made of
    bus : what its ports are
    paddings : in hardware
    clock_mhz : the clock that the user names; None if none was named
    figures : what was predicted and measured
    """

    choice: AnyDesign
    kind: Kind
    target: Target
    bus: Bus
    paddings: tuple[Padding, ...] = ()
    clock_mhz: float | None = None
    figures: Figures = field(default_factory=Figures)

    version = __version__
    """The generator's."""

    @property
    def cores(self) -> int:
        """Number of engines."""
        return self.kind.cores

    @property
    def core(self) -> Choice:
        """The family and parameters of an engine of numbers; of a cluster, those of each core."""
        assert isinstance(self.choice, Choice | ClusterChoice)
        return self.choice.core

    @property
    def name(self) -> str:
        """The top module, and the stem of the files."""
        return self.choice.module_name

    @cached_property
    def summary(self) -> str:
        """The design in one line."""
        return self.kind.summary

    @cached_property
    def registers(self) -> tuple[Register, ...]:
        """All registers, the windows included, by address."""
        return self.kind.registers

    @property
    def random(self) -> bool:
        """Whether there is a port for random bytes."""
        return self.kind.draws and not self.sourced

    @property
    def source(self) -> RandomSource:
        """Where random bytes come from, if it takes some."""
        return RandomSource.STREAM if isinstance(self.choice, ClusterChoice) else self.choice.source

    @property
    def sourced(self) -> bool:
        """Whether there is a source of random bytes in the hardware."""
        return self.source is not RandomSource.STREAM

    @property
    def seeded(self) -> bool:
        """Whether software seeds that."""
        return self.source is RandomSource.SEEDED

    @property
    def trng(self) -> bool:
        """Whether noise seeds that."""
        return self.source is RandomSource.TRNG

    @property
    def noise_ports(self) -> bool:
        """Whether there are ports for a noise source outside."""
        return self.trng and self.target is Target.GENERIC

    @property
    def noise_samples(self) -> int:
        """Raw samples from a reset to the first seed."""
        return START_SAMPLES

    @property
    def noise_model(self) -> str:
        """The macro of a simulation that has a model of the noise source."""
        return NOISE_MODEL

    @property
    def source_cycles(self) -> int:
        """Cycles from a reset until a source in the hardware can be seeded."""
        return Generator.start_cycles()

    @property
    def headers(self) -> tuple[str, ...]:
        """Names of the C headers."""
        return self.kind.headers

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
                **(noise_ports() if self.noise_ports else {}),
            }.items()
        ]
        return [*found, Port("irq", True, 1)]

    @property
    def command(self) -> str:
        """The command that builds it, but for the folder."""
        return build_command(self.choice, self.target, self.bus, self.paddings)

    @cached_property
    def _values(self) -> Mapping[str, Mapping[str, int]]:
        return self.kind.values

    @cached_property
    def _codes(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        return self.kind.codes

    def reset(self, register: Register, field: Field) -> int:
        """A field's value after reset."""
        if field.reset is not None:
            return field.reset
        return self._values[register.name].get(field.name, 0)

    def register_reset(self, register: Register) -> int:
        """A register's value after reset."""
        return sum(self.reset(register, field) << field.offset for field in register.fields)

    def codes(self, register: Register, field: Field) -> Mapping[str, int]:
        """The codes that a field takes, by their names; none for a field of numbers."""
        return self._codes.get((register.name, field.name), {})
