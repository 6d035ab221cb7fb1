"""A single engine of numbers, behind the registers of an accelerator."""

import enum
from collections.abc import Mapping, Sequence

from coprime.bus import registers
from coprime.bus.kinds import Bus
from coprime.bus.register_classes import Register
from coprime.bus.shared_registers import CLASSES, LONGEST, defined_registers, identity_fields
from coprime.catalog import Choice
from coprime.cells.target import Target
from coprime.engine.contract import Capabilities, Command, Error, Operand
from coprime.flow.parts import accelerator_verilog
from coprime.padding.scheme import Padding, Scheme, mask_of
from coprime.parameters import AnyParameter

from ..description import Among, Description, Example, Kind, SheetParts, TestbenchParts
from ..number_sheet import number_sheet
from ..testbench.number_bench import number_bench
from ..testbench.number_example import number_example

LENGTHS = tuple(f"{length_class.name}_LENGTH" for length_class in CLASSES)
_LONGEST_SALT = 32


class NumberKind(Kind):
    """An accelerator of numbers.

    Parameters
    ----------
    choice : family and parameters
    paddings : in hardware
    among : of a core of a suite, what it is one of
    """

    software = "software_accelerator.md.j2"
    not_drivers: tuple[str, ...] = ("_cluster", "_calls", "_call_cores", "_ml_kem", "_ml_dsa")
    sheet = "number_sheet.toml.j2"
    """Template of the data sheet."""

    def __init__(
        self, choice: Choice, paddings: tuple[Padding, ...] = (), among: Among | None = None
    ):
        self.choice, self.paddings, self.among = choice, paddings, among

    @property
    def engine(self) -> Capabilities:
        """What the engine can do."""
        return self.choice.design.capabilities

    @property
    def summary(self) -> str:
        """That of the family."""
        return self.choice.family.summary

    @property
    def registers(self) -> tuple[Register, ...]:
        """Those of an accelerator, of its paddings too."""
        among = self.among or Among(1, source=self.choice.source.code)
        return defined_registers(
            self.engine,
            padded=bool(self.paddings),
            source=among.source,
            many=among.cores > 1,
        )

    @property
    def values(self) -> Mapping[str, Mapping[str, int]]:
        """Those that identify the engine."""
        fields = identity_fields(
            self.engine,
            mask_of(self.paddings),
            self.choice.source.code,
            many=self.among is not None,
        )
        if self.among:
            fields[registers.CORES] = {"COUNT": self.among.cores}
        return {register.name: values for register, values in fields.items()}

    @property
    def codes(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """Commands, errors, operands and schemes; of a cluster, too: what has one name is one."""
        codes: Mapping[tuple[str, str], type[enum.IntEnum]] = {
            ("COMMAND", "CODE"): Command,
            ("ERROR", "CODE"): Error,
            ("ERROR", "REFUSAL"): Error,
            ("COMPLETION", "ERROR"): Error,
            ("KEY_OPERAND", "OPERAND"): Operand,
            ("PADDING", "SCHEME"): Scheme,
        }
        return {place: {code.name: code.value for code in each} for place, each in codes.items()}

    @property
    def parameters(self) -> Sequence[AnyParameter]:
        """Those of the family, and its optional operations."""
        return [*self.choice.family.parameters, *self.choice.family.operations]

    @property
    def draws(self) -> bool:
        """For paddings, and for engines that draw numbers."""
        return bool(self.paddings) or self.engine.draws

    def verilog(self, target: Target, bus: Bus) -> str:
        """The accelerator."""
        return accelerator_verilog(self.choice, target, bus, self.paddings)

    def diagrams(self, bus: Bus) -> list[str]:
        """Of accesses, and of a command with the registers that it needs."""
        if bus is Bus.AXI4:
            return ["burst_write", "burst_read", "burst_reset", "burst_command"]
        return ["write", "read", "wait", "reset", "command"]

    def sheet_parts(self, description: Description, mhz: float | None) -> SheetParts:
        """Operations at lengths, and OpenSSL beside them."""
        return number_sheet(description, mhz, self.sheet)

    def kept(self, register: Register, word: int) -> int | None:
        """Bits of no field are 0, numbers that are too great are limited."""
        if register.name in LENGTHS:
            return word if word <= self.longest(register) else LONGEST
        if register.name not in (registers.INTERRUPT_ENABLE.name, registers.PADDING.name):
            return None
        kept = word & sum(field.mask for field in register.fields)
        if register.name == registers.PADDING.name:
            salt = registers.PADDING["SALT_LENGTH"]
            kept = kept & ~salt.mask | min(salt.of(kept), _LONGEST_SALT) << salt.offset
        return kept

    def longest(self, register: Register) -> int:
        """The greatest length that a length register stores as it is."""
        return LONGEST

    def bench(self, description: Description) -> TestbenchParts:
        """Every operation on numbers from a key, each error, WIPE, resets."""
        return number_bench(description, "accelerator")

    def example(self, description: Description) -> Example:
        """An operation of RSA, and one on P-256."""
        return number_example(description, "number_example.py.j2")
