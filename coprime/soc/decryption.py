"""RSA decryption in a simulated system: on the accelerator, and in software on the same processor.

As COMPRESSION's Figure 36 has it, program and key are made outside and brought into the processor's
memory. What is compared is what KARATSUBA's Table 4 compares: software alone, and the system with
the accelerator, the moving of the numbers included.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coprime.bus.kinds import Bus
from coprime.catalog import Choice
from coprime.device.base import DeviceError
from coprime.device.jobs import words_of
from coprime.engine.contract import Command
from coprime.engine.design import Design
from coprime.operations.encodings.rsa_key import key_numbers
from coprime.operations.lengths import Lengths
from coprime.operations.operation import Numbers
from coprime.rsa.keys import RsaPrivateKey
from coprime.rsa.padding import Pkcs1Encryption
from coprime.soc.firmware import CURVES, build_firmware, find_toolchain
from coprime.soc.riscv import (
    ACCELERATOR,
    COPY_ENGINE,
    INTERRUPT,
    RAM_BYTES,
    UART,
    find_processor,
    system_verilog,
)
from coprime.soc.simulated_system import DIVISOR, SimulatedSystem

MAX_BITS, MAX_PRIME_BITS = 4096, 2048
"""The firmware's: bits of the longest modulus and of the longest prime."""
MESSAGE = "Hello from the accelerator."  # what is encrypted if nothing else is said

JOB = 0xC000  # address of the job in the memory, above the program and below the stack
_ON_ACCELERATOR, _IN_SOFTWARE = 1, 2
_CYCLE_LIMIT = (1 << 32) - 1  # the firmware's counters have 32 bits

_END = "\nend\n"
_CYCLES = re.compile(r"^(.+): (\d+) cycles$", re.MULTILINE)
_MESSAGE = re.compile(r"^message: (.*)$", re.MULTILINE)
_CURVES = re.compile(r"^known answer: (.*)$", re.MULTILINE)
_INTERRUPTS = re.compile(r"^interrupts: (\d+)$", re.MULTILINE)


def cycles_in(transcript: str) -> Mapping[str, int]:
    """The cycles that the firmware has printed, by name."""
    return {name: int(count) for name, count in _CYCLES.findall(transcript)}


def interrupts_in(transcript: str) -> int:
    """How many interrupts the firmware has counted; 0 if it has printed no count."""
    found = _INTERRUPTS.search(transcript)
    return int(found[1]) if found else 0


@dataclass(frozen=True)
class SystemRun:
    """What the firmware printed, and what follows from it.

    Parameters
    ----------
    choice : the accelerator
    bits : of the modulus
    compiler : the first line of its --version
    transcript : all that the UART sent
    total : clock cycles from the processor's start to its end
    predicted : cycles of the engine that its design predicts; None if it did not work
    bus : of the accelerator
    """

    choice: Choice
    bits: int
    compiler: str
    transcript: str
    total: int
    predicted: int | None
    bus: Bus = Bus.AXI4_LITE

    @property
    def cycles(self) -> Mapping[str, int]:
        """Cycles of each part, by the name that the firmware prints."""
        return cycles_in(self.transcript)

    @property
    def messages(self) -> list[str]:
        """The messages: of the accelerator, then of the software."""
        return _MESSAGE.findall(self.transcript)

    @property
    def curves(self) -> list[str]:
        """Those on which the accelerator gave the result that is known."""
        return _CURVES.findall(self.transcript)

    @property
    def interrupts(self) -> int:
        """How many the processor took for the decryption."""
        return interrupts_in(self.transcript)

    @property
    def accelerator(self) -> int | None:
        """Cycles from the ciphertext in memory to the result in memory, with the accelerator."""
        return self.cycles.get("decryption on the accelerator")

    @property
    def engine(self) -> int | None:
        """Of these, the cycles in which the engine worked: its register CYCLES."""
        return self.cycles.get("engine")

    @property
    def software(self) -> int | None:
        """Cycles of the same decryption in software."""
        return self.cycles.get("decryption in software")

    @property
    def speedup(self) -> float | None:
        """How many times as long software takes; None unless both ways were gone."""
        if self.software is None or self.accelerator is None:
            return None
        return self.software / self.accelerator

    def table(self) -> str:
        """What KARATSUBA's Table 4 compares, in clock cycles, as text."""
        of = self.cycles
        once: list[tuple[str, int]] = []
        rows: list[tuple[str, int]] = []
        if self.software is not None:
            rows.append(("software alone", self.software))
            once.append(("software: constants", of["constants for software"]))
        if self.accelerator is not None and self.engine is not None:
            rows += [
                ("with the accelerator", self.accelerator),
                ("  its engine", self.engine),
                ("  moving data, driver, interrupt", self.accelerator - self.engine),
            ]
            once += [
                ("driver: constants", of["constants of the key"]),
                ("driver: loading the key", of["loading the key"]),
            ]
        lines = [f"{'a decryption':<34}{'cycles':>13}"]
        lines += [f"{name:<34}{cycles:>13,}" for name, cycles in rows]
        lines += ["", f"{'once for a key':<34}{'cycles':>13}"]
        lines += [f"{name:<34}{cycles:>13,}" for name, cycles in once]
        if self.speedup is not None:
            lines += ["", f"The accelerator is {self.speedup:.1f} times as fast as software."]
        return "\n".join(lines)

    def record(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "family": self.choice.family.name,
            "parameters": dict(self.choice.values),
            "bus": self.bus.value,
            "bits": self.bits,
            "compiler": self.compiler,
            "messages": self.messages,
            "curves": self.curves,
            "cycles": dict(self.cycles),
            "predicted_engine": self.predicted,
            "speedup": self.speedup,
            "interrupts": self.interrupts,
            "total": self.total,
            "transcript": self.transcript,
        }


def encrypt(key: RsaPrivateKey, message: str) -> int:
    """Pad a line of text as PKCS #1 v1.5 says, and encrypt it with the public half of a key.

    Raises ValueError if it is longer than the key allows, or more than a line.
    """
    if "\n" in message:
        raise ValueError("the message must be one line")
    encoded = Pkcs1Encryption().encode(message.encode(), key.bits)
    return pow(int.from_bytes(encoded), key.e, key.n)


def check_lengths(lengths: Lengths, choice: Choice | None) -> None:
    """Raise ValueError for a key that is too long for the firmware, or for the accelerator if any.

    That includes an accelerator without RSA_PRIVATE.
    """
    if lengths.modulus > MAX_BITS or lengths.prime > MAX_PRIME_BITS:
        raise ValueError(
            f"the firmware takes keys of up to {MAX_BITS} bits with primes of up to"
            f" {MAX_PRIME_BITS}, not {lengths.modulus} with {lengths.prime}"
        )
    if choice is None:
        return
    capabilities = choice.design.capabilities
    if capabilities.fixed_modulus is not None or not capabilities.private:
        raise ValueError(
            f"{choice.family.name} has no RSA_PRIVATE for any key: add --operation encrypt or"
            " decrypt"
        )
    excess = lengths.excess(capabilities)
    if excess:
        raise ValueError(f"{choice.family.name} with these parameters takes {excess}")


def run_system(
    choice: Choice,
    key: RsaPrivateKey,
    ciphertext: int,
    *,
    accelerator: bool = True,
    software: bool = True,
    bus: Bus = Bus.AXI4_LITE,
    progress: Callable[[int], None] | None = None,
) -> SystemRun:
    """Let the firmware decrypt a ciphertext, on the accelerator, in software, or both.

    Parameters
    ----------
    choice : the accelerator
    key : of up to 4096 bits, with primes of up to 2048
    ciphertext : below the modulus; the message in it is text, padded as PKCS #1 v1.5 says
    bus : of the accelerator; with AXI4 the system has a copy engine, which the firmware uses
    progress : called with clock cycles as they pass

    Raises ValueError for a key or a ciphertext out of range, ToolError if a tool is missing,
    DeviceError if the firmware does not come to its end.
    """
    check_lengths(key.lengths, choice if accelerator else None)
    if not 0 <= ciphertext < key.n:
        raise ValueError("the ciphertext must be below the modulus")
    find_processor()
    toolchain = find_toolchain()
    macros = simulated_definitions(bus)
    commands = choice.design.capabilities.commands
    if accelerator and any(command.operation.encoding.form for command in commands):
        macros[CURVES] = 1
    program = build_firmware(toolchain, macros)
    words = job(key, ciphertext, accelerator=accelerator, software=software)
    verilog = system_verilog(choice, bus=bus, divisor=DIVISOR)
    transcript, total = run_program(verilog, program, words, progress)
    return SystemRun(
        choice,
        key.bits,
        toolchain.version,
        transcript,
        total,
        predicted_cycles(choice.design, key, ciphertext) if accelerator else None,
        bus,
    )


def run_program(
    verilog: str,
    program: Sequence[int],
    job: Sequence[int],
    progress: Callable[[int], None] | None = None,
) -> tuple[str, int]:
    """Run a program with a job on a simulated system: what it printed, and the clock cycles.

    Raises DeviceError if it does not come to its end, and as `SimulatedSystem`.
    """
    with SimulatedSystem(verilog) as system:
        system.progress = progress
        system.load(0, program)
        system.load(JOB, job)
        transcript = system.run(_CYCLE_LIMIT)
        if not transcript.endswith(_END):
            last = (transcript.splitlines() or ["nothing"])[-1]
            raise DeviceError(f"the firmware stopped before its end; its last output: {last}")
        return transcript, system.cycles


def simulated_definitions(bus: Bus = Bus.AXI4_LITE) -> dict[str, int]:
    """The macros of the simulated system with an accelerator on a bus."""
    return definitions(
        uart=UART,
        uart_full=UART,
        accelerator=ACCELERATOR,
        interrupt=INTERRUPT,
        copy_engine=COPY_ENGINE if bus is Bus.AXI4 else None,
    )


def definitions(
    *,
    uart: int,
    uart_full: int,
    accelerator: int,
    interrupt: int,
    copy_engine: int | None = None,
    ram_bytes: int = RAM_BYTES,
) -> dict[str, int]:
    """Give the macros by which the firmware knows a system around a PicoRV32.

    Parameters
    ----------
    uart : address to which bytes are written
    uart_full : address of the register whose bit 0 is 1 while the UART takes no byte
    accelerator : address of its registers
    interrupt : number of its interrupt, 3 to 31
    copy_engine : address of the registers of `BurstBridge`'s copy engine; None if there is none
    ram_bytes : size of the memory, at address 0
    """
    return {
        "SYSTEM_UART": uart,
        "SYSTEM_UART_FULL": uart_full,
        "SYSTEM_ACCELERATOR": accelerator,
        "SYSTEM_INTERRUPT": interrupt,
        "SYSTEM_JOB": JOB,
        "SYSTEM_RAM_BYTES": ram_bytes,
        **({} if copy_engine is None else {"SYSTEM_COPY_ENGINE": copy_engine}),
    }


def job(
    key: RsaPrivateKey, ciphertext: int, *, accelerator: bool = True, software: bool = True
) -> list[int]:
    """Lay out `struct job` of the firmware: what to do, and the numbers."""
    bits, e_bits, p_bits, q_bits = (number.bit_length() for number in (key.n, key.e, key.p, key.q))
    actions = _ON_ACCELERATOR * accelerator | _IN_SOFTWARE * software
    words = [actions, bits, e_bits, p_bits, q_bits]
    for value, length in (
        *((ciphertext, bits), (key.n, bits), (key.e, e_bits), (key.d, bits)),
        *((key.p, p_bits), (key.dp, p_bits), (key.qinv, p_bits)),
        *((key.q, q_bits), (key.dq, q_bits)),
    ):
        words += words_of(value, length)
    return words


def predicted_cycles(design: Design, key: RsaPrivateKey, x: int) -> int:
    """Cycles of the engine for RSA_PRIVATE of x, with the lengths that a driver loads."""
    (private,) = design.capabilities.private
    return predict_cycles(design, private, {"x": x, **key_numbers(key)})


def predict_cycles(
    design: Design, command: Command, numbers: Numbers, *, exponent_length: int | None = None
) -> int:
    """Cycles of the engine for an operation, with the lengths that a driver loads."""
    capabilities = design.capabilities
    encoded = command.operation.encoding.encode(
        numbers, capabilities, exponent_length=exponent_length
    )
    operands = encoded.among(capabilities.required[command])
    return design.predict(command, operands, encoded.lengths).cycles
