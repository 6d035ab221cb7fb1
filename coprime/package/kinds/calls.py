"""An engine of byte strings, behind the registers of an accelerator for slots and calls."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coprime.bus import registers
from coprime.bus.kinds import Bus
from coprime.bus.register_classes import Register
from coprime.bus.shared_registers import call_fields, defined_call_registers
from coprime.calls.interface import CallDesign
from coprime.catalog import CallChoice
from coprime.cells.target import Target
from coprime.engine.capabilities import Error
from coprime.flow.parts import accelerator_verilog
from coprime.parameters import AnyParameter

from ..call_header import call_header
from ..call_sheet import call_sheet
from ..description import (
    C_HEADER,
    Among,
    Description,
    Example,
    Kind,
    SheetParts,
    TestbenchParts,
)
from ..figures import PROVED
from ..predicted import PredictedOnce
from ..testbench.call_bench import call_bench, call_codes
from ..testbench.call_example import call_example


class CallKind(Kind):
    """An accelerator for byte strings.

    Parameters
    ----------
    choice : family and parameters
    among : of a core of a suite, what it is one of
    """

    purpose = "cryptography"
    # The engine clears itself, and a source of random bytes tests itself; a word needs a slot.
    changing = ("STATUS", "DATA_WINDOW", "RANDOM_STATUS")
    software = "software_calls.md.j2"

    def __init__(self, choice: CallChoice, among: Among | None = None):
        self.choice = choice
        self.cores = choice.cores
        self.among = among or Among(choice.cores, source=choice.source.code)
        self.parts = ("engine", "accelerator") if self.cores == 1 else ("accelerator",)
        self.design: CallDesign = PredictedOnce(choice.design)
        self.header = f"{choice.module_name}.h"
        self.headers = (C_HEADER, self.header)
        schemes = {"ML_KEM_KEY_PAIR": "_ml_kem", "ML_DSA_VERIFY": "_ml_dsa"}
        others = [name for call, name in schemes.items() if call not in self.design.interface.call]
        others += [] if self.cores > 1 else ["_call_cores"]
        self.not_drivers = ("_cluster", "_curves", "_named_curves", "_keygen", *others)

    @property
    def made_headers(self) -> Mapping[str, str]:
        """The numbers of slots, calls and parameter sets."""
        return {self.header: call_header(self.choice.module_name, self.design.interface)}

    @property
    def summary(self) -> str:
        """That of the family, and how many cores there are."""
        many = f"{self.cores} cores: " if self.cores > 1 else ""
        return f"{many}{self.choice.family.summary}"

    @property
    def registers(self) -> tuple[Register, ...]:
        """Those of slots, and of several cores; STATUS starts nothing."""
        status = replace(registers.STATUS.without("DECRYPT", "START", "RANDOM"), access="R")
        known = defined_call_registers(source=self.among.source, many=self.among.cores > 1)
        return tuple(status if register is registers.STATUS else register for register in known)

    @property
    def values(self) -> Mapping[str, Mapping[str, int]]:
        """Those that identify the engine."""
        many = self.among.cores > 1
        fields = call_fields(self.design.interface, self.choice.source.code, many=many)
        if many:
            fields[registers.CORES] = {"COUNT": self.among.cores}
        return {register.name: values for register, values in fields.items()}

    @property
    def codes(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """Calls, errors, slots, and parameter sets if there are several."""
        interface = self.design.interface
        errors = {error.name: error.value for error in Error}
        sets = {name: k for k, name in enumerate(interface.parameter_sets) if name}
        return {
            ("COMMAND", "CODE"): call_codes(self.design),
            ("ERROR", "CODE"): errors,
            ("ERROR", "REFUSAL"): errors,
            ("SLOT", "NUMBER"): {slot.name: slot.number for slot in interface.slots},
            ("PARAMETER_SET", "NUMBER"): sets,
        }

    @property
    def parameters(self) -> Sequence[AnyParameter]:
        """Those of the family."""
        return self.choice.family.settings

    @property
    def draws(self) -> bool:
        """For calls that take random bytes."""
        return self.design.interface.draws

    def verilog(self, target: Target, bus: Bus) -> str:
        """The accelerator."""
        return accelerator_verilog(self.choice, target, bus)

    def diagrams(self, bus: Bus) -> list[str]:
        """Of accesses on a bus without bursts; those of bursts show registers of numbers."""
        return [] if bus is Bus.AXI4 else ["write", "read"]

    def sheet_parts(self, description: Description, mhz: float | None) -> SheetParts:
        """Calls with their cycles, and slots."""
        shown = description.figures.assessed
        proved = any(
            assessed.assessment == "constant time" and assessed.result == PROVED
            for assessed in shown
        )
        return call_sheet(self.design, mhz, proved=proved, cores=self.cores)

    def kept(self, register: Register, word: int) -> int | None:
        """Of INTERRUPT_ENABLE alone: others are tried with what they mean."""
        if register.name != registers.INTERRUPT_ENABLE.name:
            return None
        return word & sum(field.mask for field in register.fields)

    def bench(self, description: Description) -> TestbenchParts:
        """Every call with every parameter set, each error, streams in parts, WIPE, resets."""
        return call_bench(description, self.design)

    def example(self, description: Description) -> Example:
        """Each call once."""
        return call_example(self.design)
