"""The random source of an accelerator, as software sees it."""

import os
from collections.abc import Callable

from coprime.bus import registers
from coprime.bus.register_classes import Register
from coprime.device.base import Device, DeviceError, read_block
from coprime.parameters import check_ranges
from coprime.random.generator import SourceState
from coprime.random.kinds import RandomSource
from coprime.random.programs import RESEED_LEAST, SEED_LEAST
from coprime.random.raw_samples import SAMPLES
from coprime.random.seed_material import SEED_WORDS
from coprime.random.steps import WORD_BYTES

__all__ = ["AcceleratorSource", "Entropy"]

Entropy = Callable[[int], bytes]
"""Gives this many bytes with full entropy."""
_MOST_POLLS = 100_000


class AcceleratorSource:
    """The source of one accelerator: seeded whenever it needs it, if software seeds it.

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
        return SourceState(self._status("STATE"))

    @property
    def awaited(self) -> bool:
        """Whether a command waits for random bytes, from wherever: WIPE ends it."""
        register = registers.WAITING if self._has_slots else registers.STATUS
        return bool(register["RANDOM"].of(self._read(register)))

    @property
    def requests(self) -> int:
        """Requests of 128 bytes since it was seeded."""
        return self._read(registers.RANDOM_REQUESTS)

    @property
    def failures(self) -> list[str]:
        """The tests of the noise source that have failed, if it has one: of the names repeated,
        unequal, late; see RANDOM_STATUS.
        """
        names = ("REPEATED", "UNEQUAL", "LATE")
        return [name.lower() for name in names if self._status(name)]

    def prepare(self) -> None:
        """Seed it if it has no seed, or soon needs another one; nothing without a source. One with
        noise in the hardware seeds itself: a command waits until it has.

        Raises DeviceError if its test has failed, if it does not take the seed, and in its test
        mode.
        """
        if self.kind is RandomSource.TRNG:
            self._check()
        if self.kind is not RandomSource.SEEDED:
            return
        state = self._settled()
        if state is SourceState.UNSEEDED:
            self.seed(self._entropy(SEED_LEAST * WORD_BYTES))
        elif self._status("AGES"):
            self.seed(self._entropy(RESEED_LEAST * WORD_BYTES))

    def seed(self, material: bytes) -> None:
        """Seed it: the first time with 48 bytes or more, of which 32 are entropy and 16 a nonce,
        later with 32 or more; at most 192, a multiple of 4.

        Raises ValueError for another length; DeviceError as `prepare`, and for a source that takes
        no seed.
        """
        if self.kind is not RandomSource.SEEDED:
            raise DeviceError("the accelerator has no random source that software seeds")
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
        """Let it forget everything and test itself; it ends the test mode.

        Raises DeviceError if its test of the generator fails.
        """
        self._control("RESTART")
        self._settled()

    # --- Raw samples ----------------------------------------------------------------------------

    def begin_samples(self) -> None:
        """Begin the test mode, in which it gives no byte, with new samples from the noise source's
        start; `restart` ends the mode. Commands that take random bytes wait until then.

        Raises DeviceError if it has no noise source.
        """
        self._check_noise()
        self._control("RESTART")
        self._control("EXPOSE")

    def next_samples(self) -> list[int]:
        """The next 1,024 samples in the test mode, one after the other; others are collected then.

        Between these and the following 1,024 some samples are missing. Raises DeviceError if no
        samples come, or outside the test mode.
        """
        self._check_noise()
        if not self._status("EXPOSED"):
            raise DeviceError("the accelerator's random source is not in its test mode")
        window = registers.RANDOM_SAMPLES
        for _ in range(_MOST_POLLS):
            if self._status("SAMPLED"):
                break
        else:
            raise DeviceError("the accelerator's noise source gives no samples")
        words = read_block(self._device, window.address, window.words)
        self._control("EXPOSE")
        return [word >> 31 - place & 1 for word in words for place in range(32)]

    def samples(self, count: int, progress: Callable[[int], None] = lambda count: None) -> bytes:
        """Collect raw samples, a byte of 0 or 1 each: sets of 1,024, in each of which they came one
        after the other. Then it restarts, and needs samples of its own for a seed.

        `progress` is called with how many have come since the last time. Raises DeviceError as
        `next_samples`.
        """
        found = bytearray()
        self.begin_samples()
        try:
            while len(found) < count:
                found += bytes(self.next_samples())
                progress(SAMPLES)
        finally:
            self._control("RESTART")
        return bytes(found[:count])

    def restart_samples(
        self, restarts: int, count: int, progress: Callable[[int], None] = lambda count: None
    ) -> bytes:
        """Collect `count` raw samples, 1 to 1,024, after each of so many restarts of the noise
        source; otherwise as `samples`. Raises ValueError for another count.
        """
        check_ranges(count=(count, range(1, SAMPLES + 1)))
        found = bytearray()
        self._check_noise()
        try:
            for _ in range(restarts):
                self.begin_samples()
                found += bytes(self.next_samples()[:count])
                progress(count)
        finally:
            self._control("RESTART")
        return bytes(found)

    # --- Registers ------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raise DeviceError if the source gives no bytes, and will not by itself."""
        if self.state is SourceState.FAILED:
            raise DeviceError(self._failure())
        if self._status("EXPOSED"):
            raise DeviceError(
                "the accelerator's random source is in its test mode: restart() ends it"
            )

    def _check_noise(self) -> None:
        if self.kind is not RandomSource.TRNG:
            raise DeviceError("the accelerator has no noise source: build it with --random trng")

    def _failure(self) -> str:
        """What is told of a source that has failed."""
        failures = self.failures if self.kind is RandomSource.TRNG else []
        which = f" of its noise ({', '.join(failures)})" if failures else ""
        return f"a test of the accelerator's random source{which} has failed: it gives no byte"

    def _settled(self) -> SourceState:
        """The state after tests and seeding."""
        for _ in range(_MOST_POLLS):
            state = self.state
            if state is SourceState.FAILED:
                raise DeviceError(self._failure())
            if state is not SourceState.TESTING:
                return state
        raise DeviceError("the accelerator's random source does not end its test")

    def _status(self, name: str) -> int:
        return registers.RANDOM_STATUS[name].of(self._read(registers.RANDOM_STATUS))

    def _control(self, name: str) -> None:
        self._device.write32(registers.RANDOM_CONTROL.address, registers.RANDOM_CONTROL[name].mask)

    def _read(self, register: Register) -> int:
        return self._device.read32(register.address)
