"""The driver: modular arithmetic and RSA on any accelerator, through its registers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from coprime.bus import registers
from coprime.device.base import Device, DeviceError
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.precomputation import Radix

__all__ = [
    "Accelerator",
    "EngineError",
    "IdentificationError",
    "PrivateNumbers",
    "Result",
]

_LENGTH_REGISTERS = {
    Length.MODULUS: registers.MODULUS_LENGTH,
    Length.EXPONENT: registers.EXPONENT_LENGTH,
    Length.P: registers.P_LENGTH,
    Length.Q: registers.Q_LENGTH,
}
_LOADED: tuple[Operand, ...] = tuple(operand for operand in Operand if operand is not Operand.X)
"""The operands that go through the key window; X goes through the input buffer."""

_SENTENCES = {
    Error.UNSUPPORTED: "the accelerator does not know the command",
    Error.LENGTH_ZERO: "the modulus or a prime is shorter than the accelerator's least length",
    Error.LENGTH_OVER: "a length is over the accelerator's greatest",
    Error.EXPONENT_LENGTH: "the exponent has length 0",
    Error.MODULUS_ZERO: "the modulus or a prime is zero",
    Error.MODULUS_EVEN: "the modulus or a prime is even",
    Error.OPERAND_RANGE: "an operand is not below the modulus",
    Error.BUSY: "the accelerator is busy with another command",
    Error.OPERAND_MISSING: "the command needs an operand that is not loaded",
    Error.KEY_OVERRUN: "more words were written to an operand than its length holds",
    Error.KEY_EXCESS: "an operand has bits above its length",
    Error.INPUT_CLIPPED: "the input is longer than the modulus",
    Error.ADDRESS: "a word address or an operand does not exist",
    Error.MODULUS_SHORT: "the modulus or a prime is shorter than its length",
}


class EngineError(Exception):
    """A command ended with an error, or the accelerator refused an access.

    Attributes
    ----------
    code : Error
        What was wrong.
    """

    def __init__(self, code: Error, limits: str = ""):
        super().__init__(_SENTENCES[code] + limits)
        self.code = code


class IdentificationError(DeviceError):
    """The device is not a Coprime accelerator."""


class PrivateNumbers(Protocol):
    """The numbers of a private key that an accelerator needs; names as in RFC 8017."""

    @property
    def n(self) -> int:
        """Modulus."""
        ...

    @property
    def d(self) -> int:
        """Private exponent."""
        ...

    @property
    def p(self) -> int:
        """First prime."""
        ...

    @property
    def q(self) -> int:
        """Second prime."""
        ...

    @property
    def dp(self) -> int:
        """Private exponent modulo p - 1."""
        ...

    @property
    def dq(self) -> int:
        """Private exponent modulo q - 1."""
        ...


@dataclass(frozen=True)
class Result:
    """The result of a command.

    Parameters
    ----------
    value : the number, below the modulus; the repr does not show it, since it may be a secret
    cycles : clock cycles that the engine worked
    products : of these, the cycles in which a product that the algorithm needs entered the
        multiplier; with several multipliers, their sum
    predicted_cycles : what the engine's design predicts; None if the driver does not know it
    multipliers : how many multipliers work side by side, at least 1
    """

    value: int = field(repr=False)
    cycles: int
    products: int
    predicted_cycles: int | None = None
    multipliers: int = 1

    @property
    def utilization(self) -> float:
        """Part of the cycles in which the multipliers worked: 0 to 1."""
        return self.products / (self.cycles * self.multipliers) if self.cycles else 0.0


@dataclass(frozen=True)
class _Job:
    """What a command needs in the accelerator; secret."""

    command: Command
    lengths: Mapping[Length, int] = field(repr=False)
    operands: Mapping[Operand, int] = field(repr=False)

    @property
    def modulus_length(self) -> int:
        return self.lengths[Length.MODULUS]


class Predicted(Protocol):
    """What a prediction tells."""

    @property
    def cycles(self) -> int:
        """Clock cycles of the engine."""
        ...


Predict = Callable[[Command, Mapping[Operand, int], Mapping[Length, int]], Predicted]
"""Predicts a command from its operands and their lengths in bits."""


class Accelerator:
    """One accelerator behind a device.

    It loads only what differs from what the accelerator holds already. A reset of the device is
    noticed, since the interrupt enable, which this driver sets once, reads 0 then. Numbers that no
    register can say (negative, or not integers) raise TypeError or ValueError; everything else goes
    to the hardware, whose answer raises EngineError. The length of the modulus that the hardware is
    told is that of the longest operand, so that it sees every operand that is too large, and never
    below the shortest that it takes.

    Not for use from two threads at once, nor by two drivers of one device.

    Parameters
    ----------
    device : access to the registers
    timeout : seconds that a command may take on hardware; None is without end
    predict : the engine's design's, to have `predicted_cycles` beside the measured ones

    Attributes
    ----------
    family : int
        Number of the family.
    commands : frozenset[Command]
        What the engine can do.
    constant_time : bool
        Whether a private operation takes the same cycles for every key and message of a length.
    fixed_modulus : bool
        Whether the hardware works with one modulus only.
    multipliers : int
        How many multipliers work side by side.
    digit_width, headroom : int
        Bits of a digit, and bits of an operand beyond its length.
    radix_bits : int
        Bits that a round of the multiplication takes, by which R of a modulus follows from its
        length. 0: there is no Montgomery form, and even moduli are allowed.
    min_length, max_length, max_prime_length : int
        Bits of the shortest modulus, the longest modulus and the longest prime (0: no CRT).

    Raises
    ------
    IdentificationError
        The device is something else.
    """

    def __init__(
        self, device: Device, *, timeout: float | None = None, predict: Predict | None = None
    ):
        self._device = device
        self._timeout = timeout
        self._predict = predict
        identification = self._read(registers.IDENTIFICATION)
        expected = registers.IDENTIFICATION["ID"].reset
        if identification != expected:
            raise IdentificationError(
                f"the device identifies itself as 0x{identification:08X}, and a Coprime"
                f" accelerator does as 0x{expected:08X}"
            )
        self.family = self._read(registers.FAMILY)
        capabilities = self._read(registers.CAPABILITIES)
        commands = registers.CAPABILITIES["COMMANDS"].of(capabilities)
        self.commands = frozenset(command for command in Command if commands >> command & 1)
        self.constant_time = bool(registers.CAPABILITIES["CONSTANT_TIME"].of(capabilities))
        self.fixed_modulus = bool(registers.CAPABILITIES["FIXED_MODULUS"].of(capabilities))
        self.multipliers = registers.CAPABILITIES["MULTIPLIERS"].of(capabilities)
        digits = self._read(registers.DIGITS)
        self.digit_width = registers.DIGITS["WIDTH"].of(digits)
        self.headroom = registers.DIGITS["HEADROOM"].of(digits)
        self.radix_bits = registers.DIGITS["RADIX"].of(digits)
        self._radix = Radix(self.digit_width, self.headroom, self.radix_bits)
        greatest = self._read(registers.MAX_LENGTH)
        self.max_length = registers.MAX_LENGTH["MODULUS"].of(greatest)
        self.max_prime_length = registers.MAX_LENGTH["PRIME"].of(greatest)
        self.min_length = self._read(registers.MIN_LENGTH)
        self._public: tuple[int, int] | None = None
        self._public_job: _Job | None = None
        self._private: PrivateNumbers | None = None
        self._private_job: _Job | None = None
        self.forget()
        self._held = frozenset(self._probe())

    def modmul(self, x: int, y: int, m: int) -> Result:
        """x * y mod m. Ranges: x and y in [0, m); m odd unless `radix_bits` is 0, then m >= 1."""
        _check_naturals(x=x, y=y, m=m)
        length = self._length(x, y, m)
        operands = {**self._radix.modulus_operands(m, length), Operand.Y: y}
        return self._run(_Job(Command.MODMUL, {Length.MODULUS: length}, operands), x)

    def modexp(self, x: int, e: int, m: int, *, exponent_length: int | None = None) -> Result:
        """x ** e mod m. Ranges: x in [0, m), e >= 0; m odd unless `radix_bits` is 0, then m >= 1.

        `exponent_length` is in bits; None is as many as e has, and 1 for 0. ValueError if e has
        more.
        """
        _check_naturals(x=x, e=e, m=m)
        if exponent_length is None:
            exponent_length = max(1, e.bit_length())
        _check_naturals(exponent_length=exponent_length)
        if e.bit_length() > exponent_length:
            raise ValueError(
                f"exponent_length must be {e.bit_length()} or more for this exponent,"
                f" not {exponent_length}"
            )
        return self._run(
            self._power_job(Command.MODEXP, e, m, self._length(x, m), exponent_length), x
        )

    def load_public(self, n: int, e: int) -> None:
        """Keep a public key, and load it into the accelerator."""
        _check_naturals(n=n, e=e)
        if self._public != (n, e):
            self._public = n, e
            self._public_job = self._make_public_job(self._length(n))
        assert self._public_job is not None
        self._load(self._public_job)

    def public(self, x: int) -> Result:
        """x^e mod n with the public key that was loaded last. Range: x in [0, n).

        Raises ValueError if none was.
        """
        _check_naturals(x=x)
        if self._public_job is None:
            raise ValueError("no public key is loaded")
        job = self._public_job
        if x.bit_length() > job.modulus_length:
            job = self._make_public_job(self._length(x))
        return self._run(job, x)

    def load_private(self, key: PrivateNumbers) -> None:
        """Keep a private key, and load it into the accelerator.

        An accelerator without the Chinese Remainder Theorem takes n and d, the others n, p, q, dp
        and dq.
        """
        numbers = {name: getattr(key, name) for name in ("n", "d", "p", "q", "dp", "dq")}
        _check_naturals(**numbers)
        if self._private is None or any(
            getattr(self._private, name) != value for name, value in numbers.items()
        ):
            self._private = key
            self._private_job = self._make_private_job(self._length(key.n))
        assert self._private_job is not None
        self._load(self._private_job)

    def private(self, x: int) -> Result:
        """x^d mod n with the private key that was loaded last. Range: x in [0, n).

        Raises ValueError if none was.
        """
        _check_naturals(x=x)
        if self._private_job is None:
            raise ValueError("no private key is loaded")
        job = self._private_job
        if x.bit_length() > job.modulus_length:
            job = self._make_private_job(self._length(x))
        return self._run(job, x)

    def wipe(self) -> None:
        """Overwrite the accelerator's memory, and forget the keys here too."""
        self._public = self._public_job = None
        self._private = self._private_job = None
        self._prepare()
        self.forget()
        self._execute(Command.WIPE)

    def forget(self) -> None:
        """Load everything anew with the next command: for who changes the device by other ways."""
        self._lengths: dict[Length, int] = {}
        self._loaded: dict[Operand, int] = {}

    # What a command needs

    def _power_job(
        self, command: Command, e: int, m: int, length: int, exponent_length: int
    ) -> _Job:
        lengths = {Length.MODULUS: length, Length.EXPONENT: exponent_length}
        return _Job(command, lengths, {**self._radix.modulus_operands(m, length), Operand.E: e})

    def _make_public_job(self, length: int) -> _Job:
        assert self._public is not None
        n, e = self._public
        command = self._either(Command.RSA_PUBLIC, Command.MODEXP)
        return self._power_job(command, e, n, length, max(1, e.bit_length()))

    def _make_private_job(self, length: int) -> _Job:
        key = self._private
        assert key is not None
        command = self._either(Command.RSA_PRIVATE, Command.MODEXP)
        if command is Command.MODEXP:  # as long as the modulus, whatever the length of d
            exponent_length = max(key.n.bit_length(), key.d.bit_length())
            return self._power_job(command, key.d, key.n, length, exponent_length)
        p_length, q_length = self._length(key.p, key.dp), self._length(key.q, key.dq)
        operands = self._radix.private_operands(
            key.n, (key.p, key.q), (key.dp, key.dq), length, (p_length, q_length)
        )
        lengths = {Length.MODULUS: length, Length.P: p_length, Length.Q: q_length}
        return _Job(command, lengths, operands)

    def _length(self, *values: int) -> int:
        """Length in bits that holds all of these, and that the engine takes."""
        return max(self.min_length, *(value.bit_length() for value in values))

    def _either(self, command: Command, general: Command) -> Command:
        """Return the command, or the general one if the engine knows only that."""
        return general if command not in self.commands and general in self.commands else command

    # What is written and read

    def _probe(self) -> Iterable[Operand]:
        """Find out which operands the engine holds: it refuses to choose the others."""
        for operand in _LOADED:
            self._write(registers.ERROR, 0)
            self._write(registers.KEY_OPERAND, operand)
            refusal = registers.ERROR["REFUSAL"].of(self._read(registers.ERROR))
            if refusal == Error.BUSY:
                raise EngineError(Error.BUSY)
            if refusal != Error.ADDRESS:
                yield operand

    def _run(self, job: _Job, x: int) -> Result:
        self._load(job)
        if not self._fits(Length.MODULUS):
            x = 0  # the engine looks at the length first
        size = max(1, (x.bit_length() + 7) // 8)
        for address, word in enumerate(_words(x, 8 * size)):
            self._write(registers.INPUT_FIFO, word)
            self._write(registers.WRITE_ADDRESS, address)
        self._write(registers.INPUT_LENGTH, size)
        self._execute(job.command)
        value = 0
        for address in range((self._read(registers.OUTPUT_LENGTH) + 3) // 4):
            self._write(registers.READ_ADDRESS, address)
            value |= self._read(registers.OUTPUT_FIFO) << (32 * address)
        predicted = None
        if self._predict is not None:
            operands = {**job.operands, Operand.X: x}
            predicted = self._predict(job.command, operands, job.lengths).cycles
        cycles, products = self._read(registers.CYCLES), self._read(registers.PRODUCTS)
        return Result(value, cycles, products, predicted, self.multipliers)

    def _load(self, job: _Job) -> None:
        self._prepare()
        for kind, length in job.lengths.items():
            if self._lengths.get(kind) != length:
                self._lengths.pop(kind, None)
                for operand in _LOADED:
                    if operand.length is kind:
                        self._loaded.pop(operand, None)
                register = _LENGTH_REGISTERS[kind]
                self._write(register, min(length, register["BITS"].mask))
                self._lengths[kind] = length
        for operand, value in job.operands.items():
            if (
                operand in self._held
                and self._fits(operand.length)
                and self._loaded.get(operand) != value
            ):
                self._loaded.pop(operand, None)
                self._write(registers.KEY_OPERAND, operand)
                for word in _words(value, self._bits(operand)):
                    self._write(registers.KEY_DATA, word)
                self._loaded[operand] = value
        self._raise_errors()

    def _prepare(self) -> None:
        """Begin anew: no errors of before, no interrupt of before, nothing loaded after a reset."""
        if not self._read(registers.INTERRUPT_ENABLE):
            self.forget()
            self._write(registers.INTERRUPT_ENABLE, registers.INTERRUPT_ENABLE["DONE"].mask)
        self._write(registers.ERROR, 0)

    def _execute(self, command: Command) -> None:
        done = registers.INTERRUPT_STATUS["DONE"].mask
        self._write(registers.INTERRUPT_STATUS, done)
        self._write(registers.COMMAND, command)
        while not self._read(registers.INTERRUPT_STATUS):
            self._device.wait_interrupt(self._timeout)
        self._write(registers.INTERRUPT_STATUS, done)
        self._raise_errors()

    def _raise_errors(self) -> None:
        """Raise what the accelerator flags: an error of the command before a refusal."""
        word = self._read(registers.ERROR)
        code = registers.ERROR["CODE"].of(word) or registers.ERROR["REFUSAL"].of(word)
        if code:
            self.forget()
            limits = ""
            if code == Error.LENGTH_OVER:
                limits = (
                    f": {self.max_length} bits for modulus and exponent,"
                    f" {self.max_prime_length} for a prime"
                )
            raise EngineError(Error(code), limits)

    def _bits(self, operand: Operand) -> int:
        kind = operand.length
        return self.digit_width if kind is Length.DIGIT else self._lengths[kind]

    def _fits(self, kind: Length) -> bool:
        """Whether operands of this class can be loaded; if not, the engine says so at the start."""
        if kind is Length.DIGIT:
            return True
        greatest = self.max_prime_length if kind in (Length.P, Length.Q) else self.max_length
        return 0 < self._lengths[kind] <= greatest

    def _read(self, register: registers.Register) -> int:
        return self._device.read32(register.address)

    def _write(self, register: registers.Register, value: int) -> None:
        self._device.write32(register.address, value)


def _words(value: int, bits: int) -> list[int]:
    """Return the 32-bit words of a value of `bits` bits, the least significant first."""
    return [value >> shift & 0xFFFF_FFFF for shift in range(0, bits, 32)]


def _check_naturals(**values: int) -> None:
    """Refuse what is not an integer of 0 or more; the messages do not show values."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, not {type(value).__name__}")
        if value < 0:
            raise ValueError(f"{name} must be 0 or more, and it is negative")
