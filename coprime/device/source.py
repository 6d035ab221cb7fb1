"""The random source of an accelerator, which software seeds."""

import os
from collections.abc import Callable

from coprime.bus import registers
from coprime.bus.register_classes import Register
from coprime.device.base import Device, DeviceError
from coprime.random.generator import SourceState
from coprime.random.kinds import RandomSource
from coprime.random.programs import RESEED_LEAST, SEED_LEAST
from coprime.random.steps import SEED_WORDS, WORD_BYTES

__all__ = ["Entropy", "SeededSource"]

Entropy = Callable[[int], bytes]
"""Gives this many bytes with full entropy."""
_MOST_POLLS = 100_000


class SeededSource:
    """The source of one accelerator, seeded whenever it needs it.

    Parameters
    ----------
    device : access to the registers
    entropy : where seeds come from; the operating system by default

    Attributes
    ----------
    kind (RandomSource): STREAM where the hardware has no source of its own

    Raises DeviceError for a kind that this driver does not know.
    """

    def __init__(self, device: Device, entropy: Entropy = os.urandom):
        self._device, self._entropy = device, entropy
        capabilities = self._read(registers.CAPABILITIES)
        self._has_slots = bool(registers.CAPABILITIES["SLOTS"].of(capabilities))
        code = registers.CAPABILITIES["SOURCE"].of(capabilities)
        if code >= len(RandomSource):
            raise DeviceError(f"the accelerator has a source of random bytes of kind {code}")
        self.kind = list(RandomSource)[code]

    @property
    def state(self) -> SourceState:
        """Whether it gives bytes."""
        return SourceState(registers.RANDOM_STATUS["STATE"].of(self._read(registers.RANDOM_STATUS)))

    @property
    def awaited(self) -> bool:
        """Whether a command waits for random bytes, from wherever: WIPE ends it."""
        register = registers.WAITING if self._has_slots else registers.STATUS
        return bool(register["RANDOM"].of(self._read(register)))

    @property
    def requests(self) -> int:
        """Requests of 128 bytes since it was seeded."""
        return self._read(registers.RANDOM_REQUESTS)

    def prepare(self) -> None:
        """Seed it if it has no seed, or soon needs another one; nothing without a source.

        Raises DeviceError if its test has failed, or if it does not take the seed.
        """
        if self.kind is RandomSource.STREAM:
            return
        state = self._settled()
        if state is SourceState.UNSEEDED:
            self.seed(self._entropy(SEED_LEAST * WORD_BYTES))
        elif registers.RANDOM_STATUS["AGES"].of(self._read(registers.RANDOM_STATUS)):
            self.seed(self._entropy(RESEED_LEAST * WORD_BYTES))

    def seed(self, material: bytes) -> None:
        """Seed it: the first time with 48 bytes or more, of which 32 are entropy and 16 a nonce,
        later with 32 or more; at most 192, a multiple of 4.

        Raises ValueError for another length; DeviceError as `prepare`.
        """
        if len(material) % WORD_BYTES or len(material) > SEED_WORDS * WORD_BYTES:
            raise ValueError(
                f"material must have a multiple of {WORD_BYTES} bytes, at most"
                f" {SEED_WORDS * WORD_BYTES}, not {len(material)}"
            )
        for place in range(0, len(material), WORD_BYTES):
            word = int.from_bytes(material[place : place + WORD_BYTES])
            self._device.write32(registers.RANDOM_SEED.address, word)
        self._control("SEED")
        if self._settled() is not SourceState.READY:
            raise DeviceError("the accelerator's random source does not take its seed")

    def restart(self) -> None:
        """Let it forget everything and test itself. Raises DeviceError if the test fails."""
        self._control("RESTART")
        self._settled()

    def _settled(self) -> SourceState:
        """The state after tests and seeding."""
        for _ in range(_MOST_POLLS):
            state = self.state
            if state is SourceState.FAILED:
                raise DeviceError(
                    "a test of the accelerator's random source has failed: it gives no byte"
                )
            if state is not SourceState.TESTING:
                return state
        raise DeviceError("the accelerator's random source does not end its test")

    def _control(self, name: str) -> None:
        self._device.write32(registers.RANDOM_CONTROL.address, registers.RANDOM_CONTROL[name].mask)

    def _read(self, register: Register) -> int:
        return self._device.read32(register.address)
