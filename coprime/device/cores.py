"""The cores of an accelerator with several: each is a device of its own, on one bus."""

import time
from collections.abc import Sequence

from coprime.bus import registers
from coprime.bus.register_classes import Register
from coprime.device.base import Device, InterruptTimeout, read_block, write_block

__all__ = ["CoreDevice", "Cores"]

_MOST_POLLS = 1_000_000
"""Times that a core is asked for its interrupt while that of another one is pending."""


class Cores:
    """The cores of an accelerator; one, where it has no others.

    Each is a Device, for the driver of its engine, `Accelerator` or `CallAccelerator`. It has
    operands or slots, errors and an interrupt of its own, and what is done with one does not affect
    another. Only the register CORE_SELECT is common, which is written as it is needed: nothing else
    may access the device.

        cores = Cores(device)
        rsa = Accelerator(cores.numbers(command))
        ml_kem = CallAccelerator(cores.calls(interface), interface)

    Not for use from two threads at once.

    Parameters
    ----------
    device : access to the registers

    Attributes
    ----------
    cores (tuple of CoreDevice): by number
    """

    def __init__(self, device: Device):
        self._device = device
        word = device.read32(registers.CAPABILITIES.address)
        self._many = bool(registers.CAPABILITIES["CORES"].of(word))
        count = device.read32(registers.CORES.address) if self._many else 1
        shared = _Selection(device, many=self._many)
        self.cores = tuple(CoreDevice(shared, core) for core in range(count))

    def numbers(self, command: int | None = None) -> "CoreDevice":
        """The first core with an engine of numbers, which has this command.

        ValueError if there is none.
        """
        for core in self.cores:
            if not core.has_slots and (command is None or core.commands >> command & 1):
                return core
        raise ValueError("the device has no engine of numbers that has the command")

    def calls(self, code: int, family_number: int) -> "CoreDevice":
        """The first core with an engine of byte strings of a family, that has the call with a code.

        ValueError if there is none.
        """
        for core in self.cores:
            if core.has_slots and core.family == family_number and core.commands >> code & 1:
                return core
        raise ValueError("the device has no engine of byte strings that has the call")

    def pending(self) -> frozenset[int]:
        """The numbers of the cores whose last command has ended, and was not finished."""
        place = registers.PENDING if self._many else registers.INTERRUPT_STATUS
        word = self._device.read32(place.address)
        return frozenset(core for core in range(len(self.cores)) if word >> core & 1)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until a core is pending. Raises as `Device.wait_interrupt`."""
        self._device.wait_interrupt(timeout)


class _Selection:
    """A device, and which of its cores is selected; None until CORE_SELECT has been written."""

    def __init__(self, device: Device, *, many: bool):
        self.device = device
        self.many = many
        self.core: int | None = None

    def select(self, core: int) -> Device:
        if self.many and self.core != core:
            self.device.write32(registers.CORE_SELECT.address, core)
            self.core = core
        return self.device


class CoreDevice:
    """A BlockDevice: the registers of one core.

    Attributes
    ----------
    number (int): of the core
    """

    def __init__(self, shared: _Selection, core: int):
        self._shared, self.number = shared, core

    @property
    def has_slots(self) -> bool:
        """Whether it is an engine of byte strings, and not of numbers."""
        return bool(registers.CAPABILITIES["SLOTS"].of(self._read(registers.CAPABILITIES)))

    @property
    def family(self) -> int:
        """The number of its family."""
        return self._read(registers.FAMILY)

    @property
    def commands(self) -> int:
        """Bit k is 1 if the engine has the command with code k."""
        word = self._read(registers.CAPABILITIES)
        if not registers.CAPABILITIES["MORE_COMMANDS"].of(word):
            return registers.CAPABILITIES["COMMANDS"].of(word)
        return self._read(registers.COMMANDS) | self._read(registers.COMMANDS_HIGH) << 32

    def read32(self, address: int) -> int:
        """As of Device."""
        return self._shared.select(self.number).read32(address)

    def write32(self, address: int, value: int) -> None:
        """As of Device."""
        self._shared.select(self.number).write32(address, value)

    def read_block(self, address: int, count: int) -> list[int]:
        """As of BlockDevice."""
        return read_block(self._shared.select(self.number), address, count)

    def write_block(self, address: int, values: Sequence[int]) -> None:
        """As of BlockDevice."""
        write_block(self._shared.select(self.number), address, values)

    def wait_interrupt(self, timeout: float | None = None) -> None:
        """Wait for the core's own interrupt, also while that of another one is pending.

        Raises InterruptTimeout.
        """
        since = time.monotonic()
        for _ in range(_MOST_POLLS):
            self._shared.device.wait_interrupt(timeout)
            if self._read(registers.INTERRUPT_STATUS):
                return
            if timeout is not None and time.monotonic() - since > timeout:
                break
        raise InterruptTimeout(f"no interrupt of core {self.number} came")

    def close(self) -> None:
        """Nothing: the device is somebody else's."""

    def __enter__(self) -> "CoreDevice":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def _read(self, register: Register) -> int:
        return self.read32(register.address)
