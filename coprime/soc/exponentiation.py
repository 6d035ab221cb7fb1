"""x^e mod m in a simulated system, on the accelerator and in software: KARATSUBA's Table 4.

The paper's experiment is one exponentiation with an exponent as long as the modulus, without the
Chinese Remainder Theorem, by software alone and with the coprocessor on AXI4-Lite and on AXI4. Here
all three are on one processor, and share its clock.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from coprime.bus.kinds import Bus
from coprime.catalog import Choice
from coprime.device.jobs import words_of
from coprime.engine.contract import Command
from coprime.flow.cache import cached
from coprime.flow.tools import tool_version
from coprime.operations.lengths import Lengths
from coprime.soc import decryption
from coprime.soc.firmware import build_firmware, find_toolchain
from coprime.soc.riscv import find_processor, system_verilog
from coprime.soc.simulated_system import DIVISOR

COMMAND = Command.MODEXP  # what the firmware starts
MAX_BITS = 2048  # the firmware's: bits of the longest modulus
PROGRAM = "exponentiation"  # in the firmware's folder
_ON_ACCELERATOR, _IN_SOFTWARE = 1, 2  # the job's actions
_RECORD = "record.json"
_RESULT = re.compile(r"^result: ([0-9a-f]+)$", re.MULTILINE)


@dataclass(frozen=True)
class FirmwareRun:
    """What the firmware printed.

    Parameters
    ----------
    compiler : the first line of its --version
    transcript : all that the UART sent
    total : clock cycles from the processor's start to its end
    """

    compiler: str
    transcript: str
    total: int


@dataclass(frozen=True)
class ExponentiationRun:
    """An exponentiation on the accelerator, in software, or both.

    Parameters
    ----------
    choice : the accelerator; None if the system has none
    bus : of the accelerator
    bits : of the modulus
    expected : Python's result
    firmware : what the firmware printed
    predicted : cycles of the engine that its design predicts; None if it did not work
    """

    choice: Choice | None
    bus: Bus
    bits: int
    expected: int = field(repr=False)
    firmware: FirmwareRun
    predicted: int | None

    @property
    def cycles(self) -> Mapping[str, int]:
        """Cycles of each part, by the name that the firmware prints."""
        return decryption.cycles_in(self.firmware.transcript)

    @property
    def interrupts(self) -> int:
        """How many the processor took for the exponentiation."""
        return decryption.interrupts_in(self.firmware.transcript)

    @property
    def right(self) -> bool:
        """Whether each result is Python's, and the engine took the cycles that are predicted."""
        found = [int(text, 16) for text in _RESULT.findall(self.firmware.transcript)]
        ways = (self.accelerator is not None) + (self.software is not None)
        return found == [self.expected] * ways and self.engine == self.predicted

    @property
    def accelerator(self) -> int | None:
        """Cycles from modulus, exponent and base in memory to the result in memory, with the
        accelerator."""
        return self.cycles.get("exponentiation on the accelerator")

    @property
    def engine(self) -> int | None:
        """Of these, the cycles in which the engine worked: its register CYCLES."""
        return self.cycles.get("engine")

    @property
    def moving(self) -> int | None:
        """Of these, all others: moving data, driver, interrupt."""
        if self.accelerator is None or self.engine is None:
            return None
        return self.accelerator - self.engine

    @property
    def software(self) -> int | None:
        """Cycles of the same exponentiation in software."""
        return self.cycles.get("exponentiation in software")

    @property
    def speedup(self) -> float | None:
        """How many times as long software takes; None unless both were run."""
        if self.software is None or self.accelerator is None:
            return None
        return self.software / self.accelerator

    def table(self) -> str:
        """What KARATSUBA's Table 4 compares, in clock cycles, as text."""
        of = self.cycles
        rows: list[tuple[str, int]] = []
        once: list[tuple[str, int]] = []
        if self.software is not None:
            rows.append(("software alone", self.software))
            once.append(("software: constants", of["constants for software"]))
        if self.accelerator is not None and self.engine is not None:
            rows += [
                (f"with the accelerator on {self.bus.title}", self.accelerator),
                ("  its engine", self.engine),
                ("  moving data, driver, interrupt", self.accelerator - self.engine),
            ]
            once.append(("driver: constants", of["constants of the modulus"]))
        lines = [f"{'an exponentiation':<38}{'cycles':>13}"]
        lines += [f"{name:<38}{cycles:>13,}" for name, cycles in rows]
        lines += ["", f"{'once for a modulus':<38}{'cycles':>13}"]
        lines += [f"{name:<38}{cycles:>13,}" for name, cycles in once]
        if self.speedup is not None:
            lines += ["", f"The accelerator is {self.speedup:.1f} times as fast as software."]
        return "\n".join(lines)

    def record(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "family": self.choice and self.choice.family.name,
            "parameters": dict(self.choice.values) if self.choice else {},
            "operation": "modexp",
            "bus": self.bus.value,
            "bits": self.bits,
            "compiler": self.firmware.compiler,
            "right": self.right,
            "cycles": dict(self.cycles),
            "software": self.software,
            "accelerator": self.accelerator,
            "engine": self.engine,
            "moving": self.moving,
            "predicted_engine": self.predicted,
            "speedup": self.speedup,
            "interrupts": self.interrupts,
            "total": self.firmware.total,
            "transcript": self.firmware.transcript,
        }


def check_exponentiation(lengths: Lengths, choice: Choice | None) -> None:
    """Raise ValueError for numbers too long for the firmware or the accelerator, or if the
    accelerator lacks MODEXP. None is no accelerator."""
    if max(lengths.modulus, lengths.exponent) > MAX_BITS:
        raise ValueError(
            f"the firmware exponentiates with numbers of up to {MAX_BITS} bits, not"
            f" {max(lengths.modulus, lengths.exponent)}"
        )
    if choice is None:
        return
    capabilities = choice.design.capabilities
    if COMMAND not in capabilities.commands:
        raise ValueError(f"{choice.family.name} with these parameters has no {COMMAND.name}")
    excess = lengths.excess(capabilities)
    if excess:
        raise ValueError(f"{choice.family.name} with these parameters takes {excess}")


def run_exponentiation(
    choice: Choice | None,
    x: int,
    e: int,
    m: int,
    *,
    bus: Bus = Bus.AXI4_LITE,
    software: bool = True,
    kept: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ExponentiationRun:
    """Let the firmware compute x^e mod m, on the accelerator, in software, or both.

    Parameters
    ----------
    choice : the accelerator; None: the system has none, and works in software
    x : below m
    e : 1 or more; no more bits than m
    m : odd, of up to 2048 bits
    bus : of the accelerator; with AXI4 the system has a copy engine, which the firmware uses
    software : with an accelerator: compute it in software, too
    kept : take the run from the cache if the same program has done the same job on this hardware,
        and keep it there
    progress : called with clock cycles as they pass

    Raises ValueError for numbers out of range, ToolError if a tool is missing, DeviceError if the
    firmware does not come to its end.
    """
    bits, exponent_bits = m.bit_length(), e.bit_length()
    if not m % 2 or not 0 <= x < m or not 0 < exponent_bits <= bits:
        raise ValueError("m must be odd, x in 0..m - 1, and e 1 or more with no more bits than m")
    check_exponentiation(Lengths(bits, exponent=exponent_bits), choice)
    actions = _IN_SOFTWARE if choice is None else _ON_ACCELERATOR | _IN_SOFTWARE * software
    numbers = [*words_of(x, bits), *words_of(m, bits), *words_of(e, exponent_bits)]
    job = [actions, bits, exponent_bits, *numbers]
    find_processor()
    toolchain = find_toolchain()
    program = build_firmware(toolchain, decryption.simulated_definitions(bus), PROGRAM)
    verilog = system_verilog(choice, bus=bus, divisor=DIVISOR)

    def simulate() -> FirmwareRun:
        printed = decryption.run_program(verilog, program, job, progress)
        return FirmwareRun(toolchain.version, *printed)

    def write(folder: Path) -> None:
        (folder / _RECORD).write_text(json.dumps(asdict(simulate())), encoding="utf-8")

    if kept:
        versions = (toolchain.version, tool_version("verilator"))
        folder = cached("run", [verilog, repr(program), repr(job), *versions], write)
        done = FirmwareRun(**json.loads((folder / _RECORD).read_text("utf-8")))
    else:
        done = simulate()
    predicted = None
    if choice is not None:
        given = {"x": x, "e": e, "m": m}
        predicted = decryption.predict_cycles(choice.design, COMMAND, given)
    return ExponentiationRun(choice, bus, bits, pow(x, e, m), done, predicted)
