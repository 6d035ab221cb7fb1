"""Common parts of the drivers: an engine's features, jobs, and loading a job."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from coprime.bus import cluster_registers, registers
from coprime.bus.register_classes import Register
from coprime.device.base import Device, DeviceError
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.errors import CoprimeError
from coprime.operations.encodings.rsa_key import NAMES, PrivateNumbers, key_numbers

__all__ = [
    "EngineContents",
    "EngineDriver",
    "EngineError",
    "IdentificationError",
    "Job",
    "Predict",
    "Predicted",
    "PrivateNumbers",
    "check_naturals",
    "value_of",
    "words_of",
]

# Both maps have the registers of capabilities, lengths, operands, refusals and the interrupt enable
# at the same addresses with the same fields: the accelerator's are used for both.

_LENGTH_REGISTERS = {
    Length.MODULUS: registers.MODULUS_LENGTH,
    Length.EXPONENT: registers.EXPONENT_LENGTH,
    Length.P: registers.P_LENGTH,
    Length.Q: registers.Q_LENGTH,
}
_LOADED: tuple[Operand, ...] = tuple(operand for operand in Operand if operand is not Operand.X)
"""The operands that are kept from one command to the next."""
_OF_ONE_COMMAND = frozenset({Operand.Y, Operand.E})
"""Of these, the operands that do not belong to a modulus or a key."""

_KINDS = {
    registers.IDENTIFICATION["ID"].reset: ("accelerator", "coprime.device.accelerator.Accelerator"),
    cluster_registers.IDENTIFICATION["ID"].reset: ("cluster", "coprime.device.cluster.Cluster"),
}
"""Kinds of devices by their identification, with their drivers."""

_SENTENCES = {
    Error.UNSUPPORTED: "the accelerator does not implement the command",
    Error.LENGTH_ZERO: "the modulus or a prime is shorter than the accelerator's minimum length",
    Error.LENGTH_OVER: "a length is over the accelerator's maximum",
    Error.EXPONENT_LENGTH: "the exponent has length 0, or is too long to be counted down (over 17"
    " bits) or to check a private operation with",
    Error.MODULUS_ZERO: "the modulus or a prime is zero",
    Error.MODULUS_EVEN: "the modulus or a prime is even",
    Error.OPERAND_RANGE: "an operand is not below the modulus",
    Error.BUSY: "the accelerator is busy with another command",
    Error.OPERAND_MISSING: "the command needs an operand or a slot that is not loaded",
    Error.KEY_OVERRUN: "more words were written to an operand or a slot, or read, than it holds",
    Error.KEY_EXCESS: "an operand has bits above its length",
    Error.INPUT_CLIPPED: "the input is longer than the modulus, or than its padding allows",
    Error.ADDRESS: "a word address, an operand, a slot or a parameter set does not exist",
    Error.SLOT_LENGTH: "a slot has another length with this parameter set, or an output no bytes",
    Error.NOT_READY: "the accelerator takes or gives no word",
    Error.MODULUS_SHORT: "the modulus or a prime is shorter than its length",
    Error.CANCELLED: "the command was cancelled before it had a result",
    Error.MODULUS_FIXED: "the accelerator is built for another modulus, and accepts no other",
    Error.PADDING: "the padding is wrong",
    Error.PADDING_LENGTH: "the modulus is too short for the padding",
    Error.SIGNATURE: "the signature is wrong",
    Error.INVALID_KEY: "the encapsulation key, or the hash in the decapsulation key, is wrong",
    Error.POINT: "a point is not on its curve, or the result is the point at infinity",
    Error.SOURCE: "the source of random bytes has failed a test, and everything was wiped",
    Error.FAULT: "the result was wrong and was wiped: a fault, or a key with inconsistent numbers",
}


class EngineError(CoprimeError):
    """A command ended with an error, or the accelerator refused an access.

    Attributes
    ----------
    code (Error): the reason
    """

    def __init__(self, code: Error, limits: str = ""):
        super().__init__(_SENTENCES[code] + limits)
        self.code = code

    @property
    def is_of_input(self) -> bool:
        """The device refuses operands; or it is busy, or has failed."""
        return self.code not in (Error.BUSY, Error.FAULT, Error.SOURCE)


class IdentificationError(DeviceError):
    """The device is not of the driver's kind."""


@dataclass(frozen=True)
class Job:
    """The operands of a command; secret: the repr shows the command only.

    Parameters
    ----------
    command : the operation
    lengths : in bits, of each length class of the operands
    operands : those that the command reads, except X, with the constants of their moduli
    x : X, which other runs of the same job replace; 0 if the command has none
    """

    command: Command
    lengths: Mapping[Length, int] = field(repr=False)
    operands: Mapping[Operand, int] = field(repr=False)
    x: int = field(repr=False, default=0)

    @property
    def modulus_length(self) -> int:
        """Length in bits of the modulus in the engine; 0 for WIPE."""
        return self.lengths.get(Length.MODULUS, 0)


class Predicted(Protocol):
    """A prediction."""

    @property
    def cycles(self) -> int:
        """Clock cycles of the engine."""


Predict = Callable[[Command, Mapping[Operand, int], Mapping[Length, int]], Predicted]
"""Predicts a command from its operands and their lengths in bits."""


class EngineContents:
    """The known contents of an engine; secret.

    Attributes
    ----------
    lengths (dict[Length, int]): in bits
    operands (dict[Operand, int]): the complete ones
    """

    def __init__(self) -> None:
        self.lengths: dict[Length, int] = {}
        self.operands: dict[Operand, int] = {}

    def forget(self) -> None:
        """Assume nothing, so that everything is loaded again."""
        self.lengths.clear()
        self.operands.clear()

    def set_length(self, kind: Length, length: int | None) -> None:
        """Set a length, or None if unknown: the operands of its class are lost."""
        self.lengths.pop(kind, None)
        for operand in [operand for operand in self.operands if operand.length is kind]:
            del self.operands[operand]
        if length is not None:
            self.lengths[kind] = length


class EngineDriver:
    """Features of the engines of a device, which are all of one kind, and jobs for them.

    The modulus is loaded with the length of the longest operand, so that the hardware detects every
    operand that is too large, and at least the minimum length. Negative numbers and non-integers
    raise TypeError or ValueError; everything else is checked by the hardware.

    Parameters
    ----------
    device : access to the registers
    identification : the register that identifies the driver's kind of device

    Attributes
    ----------
    family (int): number of the family
    commands (frozenset[Command]): those that an engine implements
    constant_time (bool): whether a private operation takes the same cycles for all keys and
        messages of a length
    fixed_modulus (bool): whether the hardware works with a single modulus only
    multipliers (int): number of multipliers of an engine that work in parallel
    equal_primes (bool): whether both primes of a key are loaded with the length of the longer one
    checked (bool): whether the result of a private operation is checked with the public exponent
    digit_width, headroom (int): bits of a digit, and bits of an operand beyond its length
    radix_bits (int): bits that a round of the multiplication takes, which determine R for a length
        of the modulus. 0: there is no Montgomery form, and even moduli are allowed.
    half_bits (int): position in bits of the second number of an operand that has two; 0: none has
    blinds_scalars (bool): whether random bits blind secret scalars of points
    min_length, max_length, max_prime_length (int): bits of the shortest modulus, the longest
        modulus and the longest prime (0: no CRT)

    Raises IdentificationError if the device is something else.
    """

    def __init__(self, device: Device, identification: Register):
        self._device = device
        self._identify(identification)
        self.family = self._read(registers.FAMILY)
        capabilities = self._read(registers.CAPABILITIES)
        if registers.CAPABILITIES["SLOTS"].of(capabilities):
            raise IdentificationError(
                "the accelerator works on byte strings:"
                " coprime.device.calls.CallAccelerator is the driver for it"
            )
        commands = registers.CAPABILITIES["COMMANDS"].of(capabilities)
        if registers.CAPABILITIES["MORE_COMMANDS"].of(capabilities):
            low, high = self._read(registers.COMMANDS), self._read(registers.COMMANDS_HIGH)
            commands = high << 32 | low
        self.commands = frozenset(command for command in Command if commands >> command & 1)
        self.constant_time = bool(registers.CAPABILITIES["CONSTANT_TIME"].of(capabilities))
        self.fixed_modulus = bool(registers.CAPABILITIES["FIXED_MODULUS"].of(capabilities))
        self.multipliers = registers.CAPABILITIES["MULTIPLIERS"].of(capabilities)
        self.equal_primes = bool(registers.CAPABILITIES["EQUAL_PRIMES"].of(capabilities))
        self.checked = bool(registers.CAPABILITIES["CHECKED"].of(capabilities))
        digits = self._read(registers.DIGITS)
        self.digit_width = registers.DIGITS["WIDTH"].of(digits)
        self.headroom = registers.DIGITS["HEADROOM"].of(digits)
        self.radix_bits = registers.DIGITS["RADIX"].of(digits)
        half = registers.DIGITS["HALF"].of(digits)
        self.half_bits = self.digit_width << half if half else 0
        self.blinds_scalars = bool(registers.DIGITS["SCALAR_BLINDING"].of(digits))
        longest = self._read(registers.MAX_LENGTH)
        self.max_length = registers.MAX_LENGTH["MODULUS"].of(longest)
        self.max_prime_length = registers.MAX_LENGTH["PRIME"].of(longest)
        self.min_length = self._read(registers.MIN_LENGTH)
        self._held: frozenset[Operand] = frozenset()

    # Jobs

    def operation_job(
        self, command: Command, numbers: Mapping[str, int], *, exponent_length: int | None = None
    ) -> Job:
        """The job of an operation on numbers: all inputs of its record, by name.

        Ranges and errors are those of its encoding; TypeError or ValueError, too, for numbers that
        are none of 0 or more. An engine without an operation of RSA executes it as MODEXP.
        """
        check_naturals(**numbers)
        if exponent_length is not None:
            check_naturals(exponent_length=exponent_length)
        encoding = command.operation.encoding
        encoding.check_names(numbers)
        power, general = encoding.as_power(numbers), Command.MODEXP
        if power and command not in self.commands and general in self.commands:
            numbers, exponent_length = power
            return self.operation_job(general, numbers, exponent_length=exponent_length)
        found = encoding.encode(numbers, self, exponent_length=exponent_length)
        return Job(command, found.lengths, found.operands, found.x)

    def outputs(self, command: Command, value: int) -> dict[str, int]:
        """The numbers of a result, by the names of the operation's outputs."""
        return command.operation.encoding.decode(value, self.half_bits)

    def is_sound(self, job: Job, value: int, x: int, residue: int) -> bool:
        """Whether RESIDUE shows that a result is the checked one, of this input."""
        return job.command.operation.encoding.is_sound(job.operands, value, x, residue, self)

    def is_in_range(self, job: Job, value: int) -> bool:
        """Whether the numbers of a job's result are below its modulus."""
        encoding = job.command.operation.encoding
        return encoding.is_in_range(job.operands, value, self.half_bits)

    def modmul_job(self, x: int, y: int, m: int) -> Job:
        """x * y mod m. Ranges: x and y in [0, m); m odd unless `radix_bits` is 0, then m >= 1."""
        return self.operation_job(Command.MODMUL, {"x": x, "y": y, "m": m})

    def modexp_job(self, x: int, e: int, m: int, *, exponent_length: int | None = None) -> Job:
        """x ** e mod m. Ranges: x in [0, m), e >= 0; m odd unless `radix_bits` is 0, then m >= 1.

        `exponent_length` is in bits; None: as many as e has, or 1 if e is 0. ValueError if e has
        more.
        """
        numbers = {"x": x, "e": e, "m": m}
        return self.operation_job(Command.MODEXP, numbers, exponent_length=exponent_length)

    def public_job(self, n: int, e: int, x: int = 0) -> Job:
        """x^e mod n with a public key. Range: x in [0, n).

        An engine without RSA_PUBLIC executes it as MODEXP.
        """
        check_naturals(n=n, e=e, x=x)
        return self.operation_job(Command.RSA_PUBLIC, {"x": x, "e": e, "m": n})

    def private_job(self, key: PrivateNumbers, x: int = 0) -> Job:
        """x^d mod n with a private key. Range: x in [0, n).

        An engine without the Chinese Remainder Theorem uses n and d, others n, p, q, dp and dq, and
        also e if `checked`.
        """
        return self.operation_job(Command.RSA_PRIVATE, {**self.private_numbers(key), "x": x})

    def private_numbers(self, key: PrivateNumbers) -> dict[str, int]:
        """The numbers of a private key that the hardware needs, by their names."""
        return key_numbers(key, (*NAMES, *(["e"] if self.checked else [])))

    # Accesses

    def _identify(self, identification: Register) -> None:
        found = self._read(identification)
        expected = identification["ID"].reset
        if found == expected:
            return
        kind, _ = _KINDS[expected]
        text = (
            f"the device identifies itself as 0x{found:08X}, while a Coprime {kind} would as"
            f" 0x{expected:08X}"
        )
        if found in _KINDS:
            text += ": it is a Coprime {}, and {} is the driver for it".format(*_KINDS[found])
        raise IdentificationError(text)

    def _probe(self) -> Iterable[Operand]:
        """Find out which operands the engine can hold: it refuses to select others."""
        for operand in _LOADED:
            self._write(registers.ERROR, 0)
            self._write(registers.KEY_OPERAND, operand)
            refusal = registers.ERROR["REFUSAL"].of(self._read(registers.ERROR))
            if refusal == Error.BUSY:
                raise EngineError(Error.BUSY)
            if refusal != Error.ADDRESS:
                yield operand

    def _load(self, job: Job, memory: EngineContents) -> None:
        """Write the operands that the engine does not hold; `memory` is correct after each write.

        The operands that the job's command consumes are removed from `memory` at the end.
        """
        for kind, length in job.lengths.items():
            if memory.lengths.get(kind) != length:
                memory.set_length(kind, None)
                register = _LENGTH_REGISTERS[kind]
                self._write(register, min(length, register["BITS"].mask))
                memory.set_length(kind, length)
        for operand, value in job.operands.items():
            if (
                operand in self._held
                and self._fits(operand.length, job)
                and memory.operands.get(operand) != value
            ):
                memory.operands.pop(operand, None)
                self._load_operand(operand, value, self._bits(operand.length, job))
                memory.operands[operand] = value
        operation = job.command.operation
        for operand in operation.used_up(self._held, checked=self.checked):
            memory.operands.pop(operand, None)

    def _load_operand(self, operand: Operand, value: int, bits: int) -> None:
        self._write(registers.KEY_OPERAND, operand)
        for word in words_of(value, bits):
            self._write(registers.KEY_DATA, word)

    def _holds_modulus(self, job: Job, memory: EngineContents) -> bool:
        """Whether all operands of the modulus or the private key are loaded."""
        return all(
            memory.operands.get(operand) == value
            for operand, value in job.operands.items()
            if operand in self._held and operand not in _OF_ONE_COMMAND
        ) and all(
            memory.lengths.get(kind) == length
            for kind, length in job.lengths.items()
            if kind is not Length.EXPONENT
        )

    def _bits(self, kind: Length, job: Job) -> int:
        return self.digit_width if kind is Length.DIGIT else job.lengths[kind]

    def _fits(self, kind: Length, job: Job) -> bool:
        """Whether operands of this class can be loaded; if not, the engine refuses the command."""
        if kind is Length.DIGIT:
            return True
        longest = self.max_prime_length if kind in (Length.P, Length.Q) else self.max_length
        return 0 < job.lengths[kind] <= longest

    def _error(self, code: Error) -> EngineError:
        """The exception for an error, with the engine's limits."""
        limits = ""
        if code is Error.LENGTH_OVER:
            limits = f": {self.max_length} bits for modulus and exponent"
            if self.max_prime_length:
                limits += f", {self.max_prime_length} for a prime"
        return EngineError(code, limits)

    def _predicted(self, predict: Predict | None, job: Job, x: int) -> int | None:
        """Clock cycles that the engine's design predicts; None without `predict`."""
        if predict is None:
            return None
        return predict(job.command, {**job.operands, Operand.X: x}, job.lengths).cycles

    def _read(self, register: Register) -> int:
        return self._device.read32(register.address)

    def _write(self, register: Register, value: int) -> None:
        self._device.write32(register.address, value)


def words_of(value: int, bits: int) -> list[int]:
    """Return the 32-bit words of a value of `bits` bits, the least significant first."""
    return [value >> shift & 0xFFFF_FFFF for shift in range(0, bits, 32)]


def value_of(words: Iterable[int]) -> int:
    """Return the value of 32-bit words, the least significant first."""
    return sum(word << 32 * place for place, word in enumerate(words))


def check_naturals(**values: int) -> None:
    """Check that a value is an integer of 0 or more; the messages do not show values.

    Raises TypeError for another type, ValueError for a negative number.
    """
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, not {type(value).__name__}")
        if value < 0:
            raise ValueError(f"{name} must be 0 or more, and it is negative")
