"""Secure boot in simulation: a RISC-V processor verifies an image with ML-DSA before it starts it.

The host makes the image and its signature; the processor's firmware (`firmware/secure_boot.c`) has
the accelerator verify it, and jumps into it or refuses it.
"""

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from coprime.bus.kinds import Bus
from coprime.catalog import CallChoice
from coprime.model.lattice import ml_dsa as model
from coprime.model.lattice.ml_dsa_sets import SEED_BYTES
from coprime.pqc.ml_dsa_key_sets import ML_DSA
from coprime.soc import decryption
from coprime.soc.firmware import SECURE_BOOT, build_firmware, build_image, find_toolchain
from coprime.soc.riscv import RAM_BYTES, find_processor, system_verilog
from coprime.soc.simulated_system import DIVISOR

VERIFY = "ML_DSA_VERIFY"
CONTEXT = b"secure boot"
ALTERED = ("nothing", "image", "signature", "key", "version")
"""What can be another one than that which was signed, or, of the version, than is allowed."""
VERSION, _LEAST_VERSION = 7, 5
_STARTED = "the image runs"
_REFUSED = re.compile(r"^refused: (.*)$", re.MULTILINE)
_HEADER = struct.Struct("<4s3I")  # as firmware/secure_boot.c has it
_MAGIC = b"BOOT"
_STACK_BYTES = 4096


@dataclass(frozen=True)
class BootRun:
    """A start of the processor with an image in its memory.

    Parameters
    ----------
    choice : the accelerator
    bus : its
    parameter_set : name
    altered : one of ALTERED
    compiler : the first line of its --version
    code_bytes : of the program that verifies
    image_bytes : of the image, with its header
    transcript : all that the UART sent
    total : clock cycles from the processor's start to its end
    predicted : the engine's cycles; None where it refuses the signature
    """

    choice: CallChoice
    bus: Bus
    parameter_set: str
    altered: str
    compiler: str
    code_bytes: int
    image_bytes: int
    transcript: str = field(repr=False)
    total: int
    predicted: int | None

    @property
    def cycles(self) -> Mapping[str, int]:
        """Of the verification: whole, and the engine's; nothing if the image was refused."""
        return decryption.cycles_in(self.transcript)

    @property
    def started(self) -> bool:
        """Whether the image ran."""
        return _STARTED in self.transcript.splitlines()

    @property
    def refused(self) -> str:
        """Why it did not; empty if it did."""
        found = _REFUSED.search(self.transcript)
        return found[1] if found else ""

    @property
    def right(self) -> bool:
        """Whether a genuine image was started, in the predicted cycles, and another one refused."""
        if self.altered != ALTERED[0]:
            return not self.started and bool(self.refused)
        return self.started and self.cycles.get("verification, engine") == self.predicted

    def table(self) -> str:
        """What happened, and how long it took."""
        lines = [
            f"The image has {self.image_bytes:,} bytes, altered: {self.altered}.",
            f"It was refused: {self.refused}." if self.refused else "It was started.",
        ]
        for name, count in self.cycles.items():
            lines.append(f"{name:<24}{count:>9,} cycles")
        return "\n".join([*lines, f"The program that verifies has {self.code_bytes:,} bytes."])

    def record(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "family": self.choice.family.name,
            "parameters": dict(self.choice.values),
            "operation": "secure-boot",
            "parameter_set": self.parameter_set,
            "bus": self.bus.value,
            "altered": self.altered,
            "started": self.started,
            "refused": self.refused,
            "compiler": self.compiler,
            "code_bytes": self.code_bytes,
            "image_bytes": self.image_bytes,
            "right": self.right,
            "cycles": dict(self.cycles),
            "predicted_engine": self.predicted,
            "total": self.total,
            "transcript": self.transcript,
        }


def check_secure_boot(choice: CallChoice, parameter_set: str) -> None:
    """Raise ValueError for an engine that does not verify with this set of ML-DSA."""
    interface = choice.design.interface
    if VERIFY not in interface.call:
        raise ValueError(
            f"{choice.family.name} with these parameters has no {VERIFY}: name lattice,"
            " with schemes=ml-dsa, and for nothing else with verify_only=1"
        )
    interface.set_number(parameter_set)


def run_secure_boot(
    choice: CallChoice,
    parameter_set: str,
    *,
    altered: str = ALTERED[0],
    seed: int = 1,
    bus: Bus = Bus.AXI4_LITE,
    progress: Callable[[int], None] | None = None,
) -> BootRun:
    """Start the processor with an image that a test key has signed.

    Parameters
    ----------
    choice : the accelerator
    parameter_set : name
    altered : one of ALTERED: a bit of it is another one; an image of an older version is signed
    seed : of the test key
    bus : of the accelerator; with AXI4 the system has a copy engine, which the firmware uses
    progress : called with clock cycles as they pass

    Raises ValueError as `check_secure_boot`, and for something else to alter; ToolError if a tool
    is missing, DeviceError if the firmware does not come to its end.
    """
    check_secure_boot(choice, parameter_set)
    if altered not in ALTERED:
        raise ValueError(f"what is altered is one of {', '.join(ALTERED)}, not {altered!r}")
    find_processor()
    toolchain, known = find_toolchain(), ML_DSA[parameter_set].parameters
    signature_bytes = -(-known.signature_bytes // 4) * 4
    place = decryption.JOB + 4 + known.pk_bytes + signature_bytes
    most = RAM_BYTES - _STACK_BYTES - place
    version = _LEAST_VERSION - 1 if altered == "version" else VERSION
    code = build_image(toolchain, decryption.simulated_definitions(bus), place + _HEADER.size)
    image = _HEADER.pack(_MAGIC, version, _HEADER.size + len(code), _HEADER.size) + code
    pk, sk = model.key_pair(known, model.hashed(seed.to_bytes(8), SEED_BYTES))
    framed = model.framed(image, CONTEXT)
    signature = model.sign(known, sk, model.representative_for(pk, framed)).signature
    parts = {"key": pk, "signature": signature, "image": image}
    if altered in parts:
        parts[altered] = _changed(parts[altered])
    program = build_firmware(
        toolchain,
        {**decryption.simulated_definitions(bus), **_definitions(choice, parameter_set, most)},
        SECURE_BOOT,
    )
    data = b"".join(
        (
            *(_LEAST_VERSION.to_bytes(4, "little"), parts["key"]),
            *(parts["signature"].ljust(signature_bytes, b"\0"), parts["image"]),
        )
    )
    job = [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]
    verilog = system_verilog(choice, bus=bus, divisor=DIVISOR)
    transcript, total = decryption.run_program(verilog, program, job, progress)
    predicted = _predicted(choice, parameter_set, pk, signature, framed)
    return BootRun(
        *(choice, bus, parameter_set, altered, toolchain.version, 4 * len(program), len(image)),
        *(transcript, total, predicted if altered == ALTERED[0] else None),
    )


def _changed(data: bytes) -> bytes:
    """With one bit changed, in the middle."""
    half = len(data) // 2
    return data[:half] + bytes([data[half] ^ 1]) + data[half + 1 :]


def _definitions(choice: CallChoice, parameter_set: str, image_bytes: int) -> Mapping[str, int]:
    """The macros of the firmware: numbers of the accelerator, and lengths."""
    interface = choice.design.interface
    number, known = interface.set_number(parameter_set), ML_DSA[parameter_set].parameters
    return {
        "BOOT_SET": number,
        "BOOT_CALL_VERIFY": interface.call[VERIFY].code,
        "BOOT_SLOT_KEY": interface.slot["pk"].number,
        "BOOT_SLOT_SIGNATURE": interface.slot["signature"].number,
        "BOOT_SLOT_MESSAGE": interface.slot["message"].number,
        "BOOT_KEY_BYTES": known.pk_bytes,
        "BOOT_SIGNATURE_BYTES": known.signature_bytes,
        "BOOT_IMAGE_BYTES": image_bytes,
    }


def _predicted(
    choice: CallChoice, parameter_set: str, pk: bytes, signature: bytes, framed: bytes
) -> int:
    """The engine's cycles."""
    design = choice.design
    inputs = {"pk": pk, "signature": signature, "message": framed}
    return design.predict(design.interface.call[VERIFY], parameter_set, inputs).cycles
