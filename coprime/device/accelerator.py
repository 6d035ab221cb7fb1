"""The driver: modular arithmetic and RSA on any accelerator, through its registers."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from coprime.bus import registers
from coprime.bus.register_classes import Register
from coprime.device.base import Device, DeviceError, read_block, write_block
from coprime.device.jobs import (
    EngineContents,
    EngineDriver,
    EngineError,
    IdentificationError,
    Job,
    Predict,
    Predicted,
    PrivateNumbers,
    check_naturals,
    value_of,
    words_of,
)
from coprime.device.source import AcceleratorSource, Entropy
from coprime.engine.contract import Command, Error, Length, Operand

__all__ = [
    "Accelerator",
    "EngineError",
    "IdentificationError",
    "Predict",
    "Predicted",
    "PrivateNumbers",
    "Result",
]


@dataclass(frozen=True)
class Result:
    """The result of a command.

    Parameters
    ----------
    value : the number, below the modulus, or two of them, as they were read; the repr does not show
        it, since it may be a secret
    cycles : clock cycles for which the engine worked
    products : of these, the cycles in which a product that the algorithm needs entered a
        multiplier, summed over all multipliers
    predicted_cycles : the prediction of the engine's design; None without `predict`
    multipliers : number of multipliers that work in parallel, at least 1
    outputs : the numbers in `value`, by the names of the operation's outputs; not in the repr
    """

    value: int = field(repr=False)
    cycles: int
    products: int
    predicted_cycles: int | None = None
    multipliers: int = 1
    outputs: Mapping[str, int] = field(repr=False, compare=False, default_factory=dict)

    @property
    def utilization(self) -> float:
        """Fraction of the cycles in which the multipliers worked: 0 to 1."""
        return self.products / (self.cycles * self.multipliers) if self.cycles else 0.0


class Accelerator(EngineDriver):
    """The driver of one accelerator, which a device accesses.

    It loads only operands that the accelerator does not hold yet. It detects a reset of the device,
    since the interrupt enable, which this driver sets once, then reads as 0. Negative numbers and
    non-integers raise TypeError or ValueError; everything else is checked by the hardware, whose
    errors raise EngineError. The modulus is loaded with the length of the longest operand, so that
    the hardware detects every operand that is too large, and at least the minimum length.

    Not for use from two threads at once, nor by two drivers of one device. The attributes of
    `EngineDriver` describe the engine.

    Parameters
    ----------
    device : access to the registers
    timeout : seconds that a command may take on hardware; None: no limit
    predict : `predict` of the engine's design, for `predicted_cycles` next to the measured ones
    entropy : what a random source in the hardware is seeded from; the operating system by default

    Attributes
    ----------
    source : the random source in the hardware, if there is one

    Raises
    ------
    IdentificationError: the device is something else
    EngineError: BUSY: a command is already running
    """

    def __init__(
        self,
        device: Device,
        *,
        timeout: float | None = None,
        predict: Predict | None = None,
        entropy: Entropy = os.urandom,
    ):
        super().__init__(device, registers.IDENTIFICATION)
        self.source = AcceleratorSource(device, entropy)
        self._timeout = timeout
        self._predict = predict
        self._memory = EngineContents()
        self._public: tuple[int, int] | None = None
        self._public_job: Job | None = None
        self._private: PrivateNumbers | None = None
        self._private_job: Job | None = None
        self._held = frozenset(self._probe())

    def operate(
        self, command: Command, numbers: Mapping[str, int], *, exponent_length: int | None = None
    ) -> Result:
        """Execute any operation, with all inputs of its record, by name.

        Ranges and errors are those of `operation_job`.
        """
        job = self.operation_job(command, numbers, exponent_length=exponent_length)
        return self._run(job, job.x)

    def modmul(self, x: int, y: int, m: int) -> Result:
        """x * y mod m. Ranges: x and y in [0, m); m odd unless `radix_bits` is 0, then m >= 1."""
        return self._run(self.modmul_job(x, y, m), x)

    def modexp(self, x: int, e: int, m: int, *, exponent_length: int | None = None) -> Result:
        """x ** e mod m. Ranges: x in [0, m), e >= 0; m odd unless `radix_bits` is 0, then m >= 1.

        `exponent_length` is in bits; None: as many as e has, or 1 if e is 0. ValueError if e has
        more.
        """
        return self._run(self.modexp_job(x, e, m, exponent_length=exponent_length), x)

    def load_public(self, n: int, e: int) -> None:
        """Remember a public key, and load it into the accelerator."""
        check_naturals(n=n, e=e)
        if self._public != (n, e) or self._public_job is None:
            self._public_job = self.public_job(n, e)
            self._public = n, e
        self._load_now(self._public_job)

    def public(self, x: int) -> Result:
        """x^e mod n with the last loaded public key. Range: x in [0, n).

        Raises ValueError if there is none.
        """
        job, key = self._public_job, self._public
        if job is None or key is None:
            raise ValueError("no public key is loaded")
        return self._run_key(job, x, lambda: self.public_job(*key, x))

    def load_private(self, key: PrivateNumbers) -> None:
        """Remember a private key, and load it into the accelerator.

        An accelerator without the Chinese Remainder Theorem uses n and d, others n, p, q, dp and
        dq, and also e if `checked`.
        """
        numbers = self.private_numbers(key)
        check_naturals(**numbers)
        kept = self._private
        if self._private_job is None or kept is None or self.private_numbers(kept) != numbers:
            self._private_job = self.private_job(key)
            self._private = key
        self._load_now(self._private_job)

    def private(self, x: int) -> Result:
        """x^d mod n with the last loaded private key. Range: x in [0, n).

        Raises ValueError if there is none.
        """
        job, key = self._private_job, self._private
        if job is None or key is None:
            raise ValueError("no private key is loaded")
        return self._run_key(job, x, lambda: self.private_job(key, x))

    def wipe(self) -> None:
        """Overwrite the accelerator's memory, and forget the keys in this driver too."""
        self._public = self._public_job = None
        self._private = self._private_job = None
        self._prepare()
        self.forget()
        self._execute(Command.WIPE)

    def forget(self) -> None:
        """Load everything again: call this after accessing the device without this driver."""
        self._memory.forget()

    # Accesses

    def _run(self, job: Job, x: int) -> Result:
        self._load_now(job)
        if not self._fits(Length.MODULUS, job):
            x = 0  # the engine checks the length first
        size = max(1, (x.bit_length() + 7) // 8)
        self._put_input(words_of(x, 8 * size))
        self._write(registers.INPUT_LENGTH, size)
        self._execute(job.command)
        return self.read_result(job, x)

    def read_result(self, job: Job, x: int) -> Result:
        """Read the result of the last command, which was `job` on x.

        Raises EngineError with FAULT if this is not the result that the engine has checked for the
        x that was sent: a bit has changed in a transfer.
        """
        length = self._read(registers.OUTPUT_LENGTH)
        value = value_of(self._get_output((length + 3) // 4))
        if self.checked and job.command.operation.has_check:
            residue = self._read(registers.RESIDUE)
            if not length or not self.is_sound(job, value, x, residue):
                self.forget()
                raise self._error(Error.FAULT)
        predicted = self._predicted(self._predict, job, x)
        cycles, products = self._read(registers.CYCLES), self._read(registers.PRODUCTS)
        outputs = self.outputs(job.command, value)
        return Result(value, cycles, products, predicted, self.multipliers, outputs)

    def _run_key(self, job: Job, x: int, longer: Callable[[], Job]) -> Result:
        """Run a key's job or, if x is longer than its modulus, a job with the length of x."""
        check_naturals(x=x)
        return self._run(longer() if x.bit_length() > job.modulus_length else job, x)

    def _put_input(self, words: list[int]) -> None:
        window = registers.INPUT_WINDOW
        write_block(self._device, window.address, words[: window.words])
        for address in range(window.words, len(words)):
            self._write(registers.INPUT_FIFO, words[address])
            self._write(registers.WRITE_ADDRESS, address)

    def _get_output(self, count: int) -> list[int]:
        window = registers.OUTPUT_WINDOW
        words = read_block(self._device, window.address, min(count, window.words))
        for address in range(window.words, count):
            self._write(registers.READ_ADDRESS, address)
            words.append(self._read(registers.OUTPUT_FIFO))
        return words

    def _load_operand(self, operand: Operand, value: int, bits: int) -> None:
        self._write(registers.KEY_OPERAND, operand)
        words, window = words_of(value, bits), registers.KEY_WINDOW
        for first in range(0, len(words), window.words):
            write_block(self._device, window.address, words[first : first + window.words])

    def _load_now(self, job: Job) -> None:
        self._prepare()
        self._load(job, self._memory)
        self._raise_errors()

    def _prepare(self) -> None:
        """Clear errors, enable the interrupt, and detect a reset, after which nothing is loaded."""
        if not self._read(registers.INTERRUPT_ENABLE):
            self.forget()
            self._write(registers.INTERRUPT_ENABLE, registers.INTERRUPT_ENABLE["DONE"].mask)
        self._write(registers.ERROR, 0)

    def _execute(self, command: int, register: Register = registers.COMMAND) -> None:
        done = registers.INTERRUPT_STATUS["DONE"].mask
        if command != Command.WIPE or register is not registers.COMMAND:
            self.source.prepare()
        self._write(registers.INTERRUPT_STATUS, done)
        self._write(register, command)
        while not self._read(registers.INTERRUPT_STATUS):
            self._device.wait_interrupt(self._timeout)
        self._write(registers.INTERRUPT_STATUS, done)
        self._raise_errors()

    def _raise_errors(self) -> None:
        """Raise the accelerator's error: the command's, or else that of a refused access."""
        word = self._read(registers.ERROR)
        code = registers.ERROR["CODE"].of(word) or registers.ERROR["REFUSAL"].of(word)
        if code:
            self.forget()
            if code not in set(Error):
                raise DeviceError(f"ERROR reads as 0x{word:08X}, which is no accelerator's error")
            raise self._error(Error(code))
