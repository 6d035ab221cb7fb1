"""A suite next to a RISC-V processor in simulation: firmware uses all of its engines in one run.

RSA and curves on the engines of numbers, ML-KEM and ML-DSA on those of byte strings: each operation
on the first engine that has it; and RSA and ML-DSA at the same time.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from coprime.bus.kinds import Bus
from coprime.calls.interface import EngineInterface, Values
from coprime.catalog import CallChoice, Choice, SuiteChoice
from coprime.ec import weierstrass
from coprime.ec.montgomery import X25519
from coprime.engine.capabilities import Capabilities, Command
from coprime.model.lattice import ml_dsa as model
from coprime.operations.lengths import Lengths
from coprime.pqc.ml_kem import KEY_PAIR
from coprime.rsa import keys
from coprime.rsa.keys import RsaPrivateKey
from coprime.soc import decryption, ml_kem
from coprime.soc.firmware import CURVES, SUITE, build_firmware, find_toolchain
from coprime.soc.riscv import find_processor, system_verilog
from coprime.soc.simulated_system import DIVISOR

BITS = 512
"""Of the test key, if nothing else is said."""
_RSA, _ML_KEM, _ML_DSA = "RSA", "ML-KEM", "ML-DSA"
_CURVES = {curve.name: curve.command for curve in (weierstrass.curve_named("P-256"), X25519)}
"""The known answers of firmware/curves.c."""
_CURVE_BITS = 256
_SIGN = "ML_DSA_SIGN"
_SIGNATURES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "signing key": ("ML_DSA_KEY_PAIR", ("xi",)),
    "signature": (_SIGN, ("sk", "pk", "rnd", "message")),
    "verification": ("ML_DSA_VERIFY", ("pk", "signature", "message")),
}
"""What the firmware calls each call of ML-DSA, and the slots that are complete when it begins."""
_MESSAGE_BYTES = 64  # that ML-DSA signs, as in firmware/ml_dsa_use.h
_NO_CALL = 64  # a code that no call has
_ENGINE = re.compile(r"^(RSA|P-256|X25519|ML-KEM|ML-DSA): engine (\d+)$", re.MULTILINE)
_DSA_BYTES = re.compile(r"^(pk|signature): ([0-9a-f]+)$", re.MULTILINE)
_MESSAGE = re.compile(r"^message: (.*)$", re.MULTILINE)
_KNOWN = re.compile(r"^known answer: (.*)$", re.MULTILINE)
_REFUSED = "an altered signature is refused"


@dataclass(frozen=True)
class SuitePart:
    """What the firmware is given for an operation, or for several, and what it should print.

    Parameters
    ----------
    job : words of `struct job`
    engines : the core of each operation
    values : byte strings, by name
    cycles : of the engine, by the firmware's name of the call
    """

    job: Sequence[int] = ()
    engines: Mapping[str, int] = field(default_factory=dict)
    values: Values = field(default_factory=dict)
    cycles: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: "SuitePart") -> "SuitePart":
        return SuitePart(
            (*self.job, *other.job),
            {**self.engines, **other.engines},
            {**self.values, **other.values},
            {**self.cycles, **other.cycles},
        )


@dataclass(frozen=True)
class SuiteRun:
    """Every operation of the firmware that the suite has.

    Parameters
    ----------
    choice : the suite
    bus : its
    compiler : the first line of its --version
    code_bytes : of the whole program
    transcript : all that the UART sent
    total : clock cycles from the processor's start to its end
    expected : what the references say
    message : that of RSA
    """

    choice: SuiteChoice
    bus: Bus
    compiler: str
    code_bytes: int
    transcript: str = field(repr=False)
    total: int
    expected: SuitePart = field(repr=False)
    message: str

    @property
    def cycles(self) -> Mapping[str, int]:
        """Cycles of each part, by the name that the firmware prints."""
        return decryption.cycles_in(self.transcript)

    @property
    def engines(self) -> Mapping[str, int]:
        """The core that did each operation."""
        return {name: int(core) for name, core in _ENGINE.findall(self.transcript)}

    @property
    def right(self) -> bool:
        """Whether all results are those of the references, and the cycles the predictions'."""
        text, expected = self.transcript, self.expected
        signed = [(name, bytes.fromhex(digits)) for name, digits in _DSA_BYTES.findall(text)]
        cycles = {name: self.cycles.get(f"{name}, engine") for name in expected.cycles}
        # Where both are there, they work at the same time once more.
        ways = 2 if {_RSA, _ML_DSA} <= self.engines.keys() else 1
        signatures = [made for name, made in signed if name == "signature"]
        return (
            self.engines == expected.engines
            and {**ml_kem.bytes_in(text), **dict(signed)} == expected.values
            and len(set(signatures)) == len(signatures) // ways
            and cycles == expected.cycles
            and _MESSAGE.findall(text) == [self.message] * ways * (_RSA in self.engines)
            and _KNOWN.findall(text) == [name for name in _CURVES if name in self.engines]
            and (_REFUSED in text.splitlines()) == (_ML_DSA in self.engines)
        )

    def table(self) -> str:
        """Cycles of each operation, from its inputs in memory to its outputs in memory."""
        names = self.choice.names
        lines = [f"{name:<10}{names[core]}" for name, core in self.engines.items()]
        lines += ["", f"{'':<44}{'cycles':>11}{'engine':>11}"]
        for name, count in self.cycles.items():
            if not name.endswith(", engine"):
                engine = self.cycles.get(f"{name}, engine")
                lines.append(f"{name:<44}{count:>11,}{'' if engine is None else f'{engine:>11,}'}")
        return "\n".join([*lines, "", f"The program has {self.code_bytes:,} bytes."])

    def record(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "family": SUITE,
            "operation": SUITE,
            "parameters": dict(self.choice.values),
            "bus": self.bus.value,
            "engines": dict(self.engines),
            "compiler": self.compiler,
            "code_bytes": self.code_bytes,
            "right": self.right,
            "cycles": dict(self.cycles),
            "predicted_engine": dict(self.expected.cycles),
            "total": self.total,
            "transcript": self.transcript,
        }


def rsa_core(choice: SuiteChoice) -> int | None:
    """The first engine that decrypts with RSA; None if there is none."""
    return _core_with(choice, lambda capabilities: bool(capabilities.private))


def check_suite(choice: SuiteChoice, lengths: Lengths | None = None) -> None:
    """Raise ValueError for a suite with nothing that the firmware uses, for secrets that stay in an
    engine, and with RSA as `decryption.check_lengths` for a key of these lengths.
    """
    rsa, kem = rsa_core(choice), _core_calling(choice, KEY_PAIR)
    if rsa is None and kem is None and _core_calling(choice, _SIGN) is None:
        raise ValueError(
            "no engine of the suite has RSA_PRIVATE, ML-KEM or signatures of ML-DSA, which the"
            " firmware uses: name lattice, or an engine of numbers such as compact"
        )
    if kem is not None and not _interface(choice, kem).slot["key"].readable:
        name = choice.names[kem]
        raise ValueError(f"the firmware prints secrets: leave -p {name}.secrets=stay out")
    if rsa is not None and lengths is not None:
        decryption.check_lengths(lengths, _numbers(choice, rsa))


def run_suite(
    choice: SuiteChoice,
    key: RsaPrivateKey | None = None,
    message: str = decryption.MESSAGE,
    *,
    seed: int = 1,
    bus: Bus = Bus.AXI4_LITE,
    progress: Callable[[int], None] | None = None,
) -> SuiteRun:
    """Let the firmware use all engines of a suite.

    Parameters
    ----------
    choice : the suite
    key : of RSA; a test key of BITS if there is none
    message : a line of text, which is encrypted for the key and decrypted by the firmware
    seed : of the test keys of ML-KEM and ML-DSA, and of that key
    bus : of the suite; with AXI4 the system has a copy engine, which the firmware uses
    progress : called with clock cycles as they pass

    Raises ValueError as `check_suite` and `decryption.encrypt`, ToolError if a tool is missing,
    DeviceError if the firmware does not come to its end.
    """
    key = key or keys.generate(BITS, seed=seed)
    check_suite(choice, key.lengths)
    find_processor()
    toolchain = find_toolchain()
    curves = _curves(choice)
    macros = {**decryption.simulated_definitions(bus), **({CURVES: 1} if curves.engines else {})}
    program = build_firmware(toolchain, macros, SUITE)
    draw = Random(seed)
    expected = curves + _ml_kem(choice, draw) + _ml_dsa(choice, draw) + _rsa(choice, key, message)
    verilog = system_verilog(choice, bus=bus, divisor=DIVISOR)
    transcript, total = decryption.run_program(verilog, program, expected.job, progress)
    return SuiteRun(
        *(choice, bus, toolchain.version, 4 * len(program), transcript, total, expected, message)
    )


# --- Operations, in the order of `struct job` --------------------------------------------------


def _curves(choice: SuiteChoice) -> SuitePart:
    """Operations on curves whose results the firmware knows."""
    cores = {name: _core_with(choice, _has(command)) for name, command in _CURVES.items()}
    return SuitePart(
        engines={
            name: core
            for name, core in cores.items()
            if core is not None
            and _numbers(choice, core).design.capabilities.max_length >= _CURVE_BITS
        }
    )


def _ml_kem(choice: SuiteChoice, draw: Random) -> SuitePart:
    """`struct ml_kem_job`: a key pair and its use."""
    drawn = draw.randbytes(ml_kem.SEED_BYTES + ml_kem.MESSAGE_BYTES)
    core = _core_calling(choice, KEY_PAIR)
    if core is None:
        return SuitePart((0, 0, 0, *ml_kem.little_words(bytes(len(drawn)))))
    engine, own = _strings(choice, core), _interface(choice, core)
    parameter_set = own.sets_of(own.call[KEY_PAIR])[0]
    values, cycles = ml_kem.expect(engine, parameter_set, drawn)
    job = ml_kem.job_words(engine, parameter_set, drawn, values)
    return SuitePart(job, {_ML_KEM: core}, values, cycles)


def _ml_dsa(choice: SuiteChoice, draw: Random) -> SuitePart:
    """`struct ml_dsa_job`, and the code of ML-KEM's call after it: a key pair, a signature."""
    xi, rnd, message = (draw.randbytes(size) for size in (32, 32, _MESSAGE_BYTES))
    kem, core = _core_calling(choice, KEY_PAIR), _core_calling(choice, _SIGN)
    call = _NO_CALL if kem is None else _interface(choice, kem).call[KEY_PAIR].code
    if core is None:
        return SuitePart((*([0] * 6), *ml_kem.little_words(bytes(128 + _MESSAGE_BYTES)), call))
    own, design = _interface(choice, core), _strings(choice, core).design
    parameter_set = own.sets_of(own.call[_SIGN])[0]
    known: dict[str, bytes] = {"xi": xi, "rnd": rnd, "message": model.framed(message)}
    cycles = {}
    for name, (called, complete) in _SIGNATURES.items():
        inputs = {slot: known[slot] for slot in complete}
        known |= own.call[called].reference(parameter_set, inputs)
        cycles[name] = design.predict(own.call[called], parameter_set, inputs).cycles
    mu = model.representative_for(known["pk"], known["message"])
    words = ml_kem.little_words(xi + rnd + mu + message)
    lengths = (own.set_number(parameter_set), len(known["pk"]), len(known["signature"]))
    slots = (own.slot[name].number for name in ("mu", "rnd", "signature"))
    values = {name: known[name] for name in ("pk", "signature")}
    return SuitePart((*lengths, *slots, *words, call), {_ML_DSA: core}, values, cycles)


def _rsa(choice: SuiteChoice, key: RsaPrivateKey, message: str) -> SuitePart:
    """The lengths and numbers of `struct job`."""
    core = rsa_core(choice)
    if core is None:
        return SuitePart((0, 0, 0, 0))
    ciphertext = decryption.encrypt(key, message)
    cycles = decryption.predicted_cycles(_numbers(choice, core).design, key, ciphertext)
    _, *words = decryption.job(key, ciphertext)
    return SuitePart(words, {_RSA: core}, cycles={"decryption": cycles})


# --- Engines ------------------------------------------------------------------------------------


def _has(command: Command) -> Callable[[Capabilities], bool]:
    return lambda capabilities: command in capabilities.commands


def _core_with(choice: SuiteChoice, holds: Callable[[Capabilities], bool]) -> int | None:
    """The first engine of numbers of whose capabilities something holds."""
    for core, engine in enumerate(choice.engines):
        if isinstance(engine, Choice) and holds(engine.design.capabilities):
            return core
    return None


def _core_calling(choice: SuiteChoice, call: str) -> int | None:
    """The first engine of byte strings with a call."""
    for core, engine in enumerate(choice.engines):
        if isinstance(engine, CallChoice) and call in engine.design.interface.call:
            return core
    return None


def _numbers(choice: SuiteChoice, core: int) -> Choice:
    engine = choice.engines[core]
    assert isinstance(engine, Choice)
    return engine


def _strings(choice: SuiteChoice, core: int) -> CallChoice:
    engine = choice.engines[core]
    assert isinstance(engine, CallChoice)
    return engine


def _interface(choice: SuiteChoice, core: int) -> EngineInterface:
    return _strings(choice, core).design.interface
