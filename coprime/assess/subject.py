"""What is assessed: an operation on an accelerator, and what an application gets from it."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from coprime.bus import registers
from coprime.catalog import Choice
from coprime.device.accelerator import Accelerator
from coprime.device.base import Device
from coprime.device.faulty import FaultyDevice
from coprime.engine.contract import Command
from coprime.explore.operands import Operands, expected_result, random_operands
from coprime.explore.runs import execute
from coprime.flow.parts import accelerator_verilog
from coprime.rsa.keys import RsaPrivateKey

from .faults import Kind

__all__ = ["Subject"]

_RANDOM_BYTES = 1 << 20
"""Of the random source: more than an operation takes, so that every run of it gets the same."""
_ACCESS_LIMIT = 2000
"""Cycles without an answer after which the bus hangs; the hardware answers within tens."""


@dataclass(frozen=True)
class Subject:
    """An operation on one accelerator, with a key or operands, input and random bytes of a seed.

    Parameters
    ----------
    choice : the accelerator
    command : MODMUL, MODEXP, RSA_PUBLIC or RSA_PRIVATE
    bits : length of the modulus
    seed : of everything that is drawn

    Raises ValueError as `random_operands`.
    """

    choice: Choice
    command: Command
    bits: int
    seed: int

    start = registers.COMMAND.address
    """Address of the register whose last write starts the operation."""

    def __post_init__(self) -> None:
        _ = self.operands

    @cached_property
    def operands(self) -> Operands:
        """What the operation works on."""
        own = self.choice.design.capabilities
        return random_operands(self.command, self.bits, self.seed, modulus=own.fixed_modulus)

    @cached_property
    def _before(self) -> Operands:
        drawn = self.operands
        limit = drawn.m if drawn.key is None else drawn.key.n
        return replace(drawn, x=random.Random(f"{self.seed} before").randrange(limit))

    @property
    def kinds(self) -> Sequence[Kind]:
        """The faults that the hardware can have: one for a single modulus has no program."""
        program = self.choice.design.capabilities.fixed_modulus is None
        return [kind for kind in Kind if program or kind is not Kind.SKIP]

    @property
    def checked(self) -> bool:
        """Whether the hardware promises that a wrong result of this operation is never read."""
        return self.choice.design.capabilities.checked and self.command is Command.RSA_PRIVATE

    @property
    def expected(self) -> int:
        """The right result, by Python's integers."""
        return expected_result(self.command, self.operands)[0]

    @property
    def command_line(self) -> str:
        """The command that assesses it, without options for its faults."""
        return (
            f"{self.choice.command('assess faults')} --operation {self.command.name}"
            f" --bits {self.bits} --seed {self.seed}"
        )

    def verilog(self) -> str:
        """Verilog of the whole accelerator."""
        return accelerator_verilog(self.choice)

    def open(self) -> FaultyDevice:
        """Simulate the whole accelerator. Raises as FaultyDevice."""
        device = FaultyDevice(self.verilog(), self.choice.module_name, access_limit=_ACCESS_LIMIT)
        device.give_random(random.Random(f"{self.seed} random bytes").randbytes(_RANDOM_BYTES))
        return device

    def operate(self, device: Device) -> int:
        """What the driver gives to an application, after the result of an unrelated input.

        What is left from before is therefore wrong. Raises what the driver raises.
        """
        accelerator = Accelerator(device)
        execute(accelerator, self.command, self._before)
        return execute(accelerator, self.command, self.operands).value

    def reveals(self, value: int) -> bool:
        """Whether a wrong result of RSA_PRIVATE gives the key away.

        That is so if value^e - x has a factor in common with the modulus, but not all of it.
        """
        if self._key is None:
            return False
        e, n = self._key.e, self._key.n
        return 1 < math.gcd(pow(value, e, n) - self.operands.x, n) < n

    def is_of_another_input(self, value: int) -> bool:
        """Whether a wrong result of RSA_PRIVATE is right for an input nearly like this one.

        They differ in no more than 32 bits beside each other, as after a fault in the input.
        """
        if self._key is None:
            return False
        difference = pow(value, self._key.e, self._key.n) ^ self.operands.x
        return bool(difference) and difference // (difference & -difference) < 1 << 32

    @property
    def _key(self) -> RsaPrivateKey | None:
        key = self.operands.key
        return key if isinstance(key, RsaPrivateKey) else None
