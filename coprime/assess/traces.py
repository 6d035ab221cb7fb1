"""Traces of an accelerator's simulated power, of two groups in random order.

The groups differ in what is tested (`LeakageTest`). Every trace follows from the seed and its
number, and begins from the same state of the hardware, whichever process records it.
"""

import math
import random
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from coprime.device.accelerator import Accelerator
from coprime.device.base import DeviceError
from coprime.engine.contract import Command
from coprime.rsa import keys
from coprime.runs.execution import execute, predict_operation
from coprime.runs.numbers import Operands, expected_result

from .places import places_of
from .power import PowerDevice, PowerModel
from .subject import Subject

_MEMORY = 2 << 30  # bytes that the moments of all samples may take
_COLUMNS = 40  # at least as many columns as a trace has
_PUBLIC_EXPONENT_ONES = 8
"""Ones in the 17 bits of public exponents that vary: there are 5005 such odd numbers."""


class LeakageTest(Enum):
    """What is fixed in one group of traces and random in the other. All else is the same in both.

    The input is random in both groups unless it is what is tested. The private exponent of a key
    varies with its public exponent (EXPONENT), which has the same length and number of ones in all
    traces; the primes stay.
    """

    MESSAGE = "message"
    KEY = "key"
    EXPONENT = "exponent"
    NOTHING = "nothing"  # a control, in which nothing must be found


@dataclass(frozen=True)
class Acquisition:
    """Everything that traces follow from."""

    subject: Subject  # the design, its operation (RSA_PRIVATE or MODEXP), and the seed of all draws
    test: LeakageTest = LeakageTest.MESSAGE
    model: PowerModel = PowerModel.DISTANCE
    noise: float = 0.0  # standard deviation of what is added to each sample, in bits; 0 or more

    @cached_property
    def fixed_operands(self) -> Operands:
        """Those of the fixed group."""
        generator = random.Random(self.subject.seed)
        operands = self.subject.operands
        if self.test is LeakageTest.EXPONENT:
            operands = self._with_other_exponent(operands, generator)
        return self._with_random_x(operands, generator)

    def check(self) -> None:
        """Raise ValueError, before any work, unless traces align and fit in the memory."""
        subject = self.subject
        if not subject.command.operation.has_secret_exponent:
            secret = [one for one in Command if one.operation.has_secret_exponent]
            private_first = sorted(secret, key=lambda one: not one.operation.is_private)
            *others, last = (one.name for one in private_first)
            raise ValueError(
                f"--operation must be {', '.join(others)} or {last}, which have a secret, not"
                f" {subject.command.name}"
            )
        if not subject.engine.design.capabilities.constant_time:
            settings = " ".join(f"{name}={value}" for name, value in subject.engine.values.items())
            raise ValueError(
                f"{subject.engine.family.name} with {settings} is not constant-time, so its traces"
                " do not align: choose -p exponentiator=fixed-window"
            )
        if self.noise < 0 or not math.isfinite(self.noise):
            raise ValueError(f"--noise must be 0 or more, not {self.noise}")
        design = subject.engine.design
        cycles = predict_operation(design, subject.command, self.fixed_operands).cycles
        needed = cycles * _COLUMNS * 8 * 8
        if needed > _MEMORY:
            raise ValueError(
                f"the moments of {cycles:,} cycles need {needed / 2**30:.0f} GiB of memory, more"
                f" than {_MEMORY >> 30}: choose fewer --bits than {subject.bits}"
            )

    def draw(self, number: int) -> tuple[bool, Operands, bytes]:
        """Whether a trace is of the fixed group, its operands, and the random bytes it may use."""
        generator = random.Random(f"{self.subject.seed} {number}")
        fixed = bool(generator.getrandbits(1))
        operands = self._operands(fixed, generator)
        return fixed, operands, self.random_bytes(generator)

    def random_bytes(self, generator: random.Random) -> bytes:
        """More random bytes than an operation takes."""
        return generator.randbytes(self.subject.bits + 256)

    def _operands(self, fixed: bool, generator: random.Random) -> Operands:
        own = self.fixed_operands
        if self.test is LeakageTest.MESSAGE and fixed:
            return own
        if self.test is LeakageTest.KEY and not fixed:
            own = self._with_other_key(own, generator)
        if self.test is LeakageTest.EXPONENT and not fixed:
            own = self._with_other_exponent(own, generator)
        return self._with_random_x(own, generator)

    def _with_random_x(self, operands: Operands, generator: random.Random) -> Operands:
        """With an input that is below every modulus of this length."""
        return operands.with_(x=generator.randrange(1 << (self.subject.bits - 1)))

    def _with_other_key(self, own: Operands, generator: random.Random) -> Operands:
        if own.key is None:
            return self._with_other_exponent(own, generator)
        return replace(own, key=keys.generate(self.subject.bits, seed=generator.getrandbits(64)))

    def _with_other_exponent(self, own: Operands, generator: random.Random) -> Operands:
        """With other secret exponents of the same lengths."""
        if isinstance(own.key, keys.RsaPrivateKey):
            return _with_other_public_exponent(own, own.key, generator)
        others = {}
        for one in self.subject.command.operation.exponents:
            length = own.numbers[one.name].bit_length()
            others[one.name] = generator.getrandbits(length) | 1 << (length - 1)
        return own.with_(**others)


def _with_other_public_exponent(
    own: Operands, key: keys.RsaPrivateKey, generator: random.Random
) -> Operands:
    """With another private exponent, by a public one of the same length."""
    while True:
        places = generator.sample(range(1, 16), _PUBLIC_EXPONENT_ONES - 2)
        e = 1 << 16 | 1 | sum(1 << place for place in places)
        if math.gcd(e, (key.p - 1) * (key.q - 1)) == 1:
            return replace(own, key=keys.RsaPrivateKey.from_primes(key.p, key.q, e))


class TraceRecorder:
    """Records the traces of an acquisition. Raises as PowerDevice, and DeviceError as `trace`.

    Attributes
    ----------
    acquisition (Acquisition)
    device (PowerDevice)
    reference (array of (cycles, columns)): the trace of the fixed operands
    places (Places): the step of the program in each cycle
    """

    def __init__(self, acquisition: Acquisition):
        subject = acquisition.subject
        self.acquisition = acquisition
        self.device = PowerDevice(
            subject.verilog(), subject.engine.module_name, model=acquisition.model
        )
        self._accelerator = Accelerator(self.device)
        self._state = self.device.save()
        self.places = places_of(subject.engine.design, self.device, self._run_reference)
        expected, _ = expected_result(subject.command, acquisition.fixed_operands)
        if self._run_reference() != expected:
            raise DeviceError("the device computes a wrong result")
        self.reference = self.device.trace

    def trace(self, number: int) -> tuple[bool, Operands, npt.NDArray[np.uint16]]:
        """Whether a trace is of the fixed group, its operands, and the trace, without noise.

        DeviceError if it takes other cycles than the reference.
        """
        fixed, operands, random_bytes = self.acquisition.draw(number)
        self._run(operands, random_bytes)
        trace = self.device.trace
        if trace.shape != self.reference.shape:
            raise DeviceError(
                f"an operation took {len(trace)} cycles and another one {len(self.reference)}: the"
                " design is not constant-time, and its traces do not align"
            )
        return fixed, operands, trace

    def _run_reference(self) -> int:
        own = self.acquisition
        random_bytes = own.random_bytes(random.Random(own.subject.seed))
        return self._run(own.fixed_operands, random_bytes)

    def _run(self, operands: Operands, random_bytes: bytes) -> int:
        self.device.restore(self._state)
        self.device.give_random(random_bytes)
        self._accelerator.forget()
        return execute(self._accelerator, self.acquisition.subject.command, operands).value
