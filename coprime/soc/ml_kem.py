"""ML-KEM by firmware on a RISC-V processor in simulation, with `lattice` next to it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from coprime.bus.kinds import Bus
from coprime.calls.interface import Values
from coprime.catalog import CallChoice
from coprime.pqc import ml_kem
from coprime.soc import decryption
from coprime.soc.firmware import ML_KEM, build_firmware, find_toolchain
from coprime.soc.riscv import find_processor, system_verilog
from coprime.soc.simulated_system import DIVISOR

_BYTES = re.compile(r"^(ek|c|sent|received|of an altered ciphertext): ([0-9a-f]+)$", re.MULTILINE)
SEED_BYTES, MESSAGE_BYTES = 64, 32
_CALLS: Mapping[str, str] = {
    "key pair": ml_kem.KEY_PAIR,
    "encapsulation": ml_kem.ENCAPSULATE,
    "decapsulation": ml_kem.DECAPSULATE,
}
"""What the firmware calls each call."""


@dataclass(frozen=True)
class MlKemRun:
    """A key pair, an encapsulation and decapsulations on the accelerator.

    Parameters
    ----------
    choice : the accelerator
    bus : its
    parameter_set : name
    compiler : the first line of its --version
    code_bytes : of the whole program
    transcript : all that the UART sent
    total : clock cycles from the processor's start to its end
    expected : what the standard makes of the same seed and message
    predicted : the engine's cycles, by the firmware's name of the call
    """

    choice: CallChoice
    bus: Bus
    parameter_set: str
    compiler: str
    code_bytes: int
    transcript: str = field(repr=False)
    total: int
    expected: Values = field(repr=False)
    predicted: Mapping[str, int]

    @property
    def cycles(self) -> Mapping[str, int]:
        """Cycles of each part, by the name that the firmware prints."""
        return decryption.cycles_in(self.transcript)

    @property
    def right(self) -> bool:
        """Whether all bytes are the standard's, and the cycles the prediction's."""
        engine = {name: self.cycles.get(f"{name}, engine") for name in _CALLS}
        return bytes_in(self.transcript) == self.expected and engine == self.predicted

    def table(self) -> str:
        """Cycles of each call, from its inputs in memory to its outputs in memory."""
        lines = [f"{self.parameter_set:<18}{'cycles':>9}{'engine':>9}{'others':>9}"]
        for name in _CALLS:
            whole, engine = self.cycles[name], self.cycles[f"{name}, engine"]
            lines.append(f"{name:<18}{whole:>9,}{engine:>9,}{whole - engine:>9,}")
        return "\n".join([*lines, "", f"The program has {self.code_bytes:,} bytes."])

    def record(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "family": self.choice.family.name,
            "parameters": dict(self.choice.values),
            "operation": "ml-kem",
            "parameter_set": self.parameter_set,
            "bus": self.bus.value,
            "compiler": self.compiler,
            "code_bytes": self.code_bytes,
            "right": self.right,
            "cycles": dict(self.cycles),
            "predicted_engine": dict(self.predicted),
            "total": self.total,
            "transcript": self.transcript,
        }


def check_ml_kem(choice: CallChoice, parameter_set: str) -> None:
    """Raise ValueError for an engine without ML-KEM, without this set, or whose secrets stay."""
    interface = choice.design.interface
    if ml_kem.KEY_PAIR not in interface.call:
        raise ValueError(
            f"{choice.family.name} with these parameters has no {ml_kem.KEY_PAIR}: name lattice,"
            " with schemes=ml-kem"
        )
    interface.check_set(interface.call[ml_kem.KEY_PAIR], parameter_set)
    if not interface.slot["key"].readable:
        raise ValueError("the firmware prints secrets: leave -p secrets=stay out")


def run_ml_kem(
    choice: CallChoice,
    parameter_set: str,
    *,
    seed: int = 1,
    bus: Bus = Bus.AXI4_LITE,
    progress: Callable[[int], None] | None = None,
) -> MlKemRun:
    """Let the firmware make a key pair of a test seed, encapsulate and decapsulate.

    Parameters
    ----------
    choice : the accelerator
    parameter_set : name
    seed : of the test key and the message
    bus : of the accelerator; with AXI4 the system has a copy engine, which the firmware uses
    progress : called with clock cycles as they pass

    Raises ValueError as `check_ml_kem`, ToolError if a tool is missing, DeviceError if the firmware
    does not come to its end.
    """
    check_ml_kem(choice, parameter_set)
    find_processor()
    toolchain = find_toolchain()
    program = build_firmware(toolchain, decryption.simulated_definitions(bus), ML_KEM)
    drawn = Random(seed).randbytes(SEED_BYTES + MESSAGE_BYTES)
    expected, predicted = expect(choice, parameter_set, drawn)
    job = job_words(choice, parameter_set, drawn, expected)
    verilog = system_verilog(choice, bus=bus, divisor=DIVISOR)
    transcript, total = decryption.run_program(verilog, program, job, progress)
    return MlKemRun(
        *(choice, bus, parameter_set, toolchain.version, 4 * len(program)),
        *(transcript, total, expected, predicted),
    )


def bytes_in(transcript: str) -> Values:
    """What the firmware has printed of ML-KEM, by name."""
    return {name: bytes.fromhex(text) for name, text in _BYTES.findall(transcript)}


def job_words(choice: CallChoice, parameter_set: str, drawn: bytes, expected: Values) -> list[int]:
    """Lay out `struct ml_kem_job` of the firmware, with a seed and a message."""
    number = choice.design.interface.set_number(parameter_set)
    return [number, len(expected["ek"]), len(expected["c"]), *little_words(drawn)]


def little_words(data: bytes) -> list[int]:
    """Bytes as the processor's words in memory."""
    return [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]


def expect(
    choice: CallChoice, parameter_set: str, drawn: bytes
) -> tuple[Values, Mapping[str, int]]:
    """What the references make of a seed and a message, and the engine's cycles."""
    interface, design = choice.design.interface, choice.design
    d, z, m = (drawn[k : k + 32] for k in (0, 32, 64))
    key_pair, encapsulate, decapsulate = (interface.call[name] for name in _CALLS.values())
    keys = key_pair.reference(parameter_set, {"d": d, "z": z})
    sent = encapsulate.reference(parameter_set, {"ek": keys["ek"], "m": m})
    altered = bytes([sent["c"][0] ^ 1]) + sent["c"][1:]

    def received(c: bytes) -> bytes:
        return decapsulate.reference(parameter_set, {"dk": keys["dk"], "c": c})["key"]

    inputs = {
        "key pair": {"d": d, "z": z},
        "encapsulation": {"ek": keys["ek"], "m": m},
        "decapsulation": {"dk": keys["dk"], "c": sent["c"]},
    }
    predicted = {
        name: design.predict(interface.call[call], parameter_set, inputs[name]).cycles
        for name, call in _CALLS.items()
    }
    expected = {
        "ek": keys["ek"],
        "c": sent["c"],
        "sent": sent["key"],
        "received": received(sent["c"]),
        "of an altered ciphertext": received(altered),
    }
    return expected, predicted
