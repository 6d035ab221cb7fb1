"""The driver of several cores for byte strings: each is a CallAccelerator, on one bus."""

import os
import time
from collections.abc import Sequence

from coprime.bus import registers
from coprime.calls.interface import EngineInterface
from coprime.device.base import Device, InterruptTimeout, read_block, write_block
from coprime.device.calls import CallAccelerator, PredictCall
from coprime.device.source import Entropy

__all__ = ["CallCores"]

_MOST_POLLS = 1_000_000
"""Times that a core is asked for its interrupt while that of another one is pending."""


class CallCores:
    """The cores of an accelerator for byte strings; one, where it has no others.

    A core is an accelerator: it has slots, errors and an interrupt of its own, and what is called
    on one does not affect another. Only the register CORE_SELECT is common, which the cores'
    drivers write as they need it: nothing else may access the device.

    Not for use from two threads at once.

    Parameters
    ----------
    device : access to the registers
    interface, timeout, predict, entropy : as of CallAccelerator

    Attributes
    ----------
    cores (tuple of CallAccelerator): by number

    Raises
    ------
    IdentificationError: the device is something else
    """

    def __init__(
        self,
        device: Device,
        interface: EngineInterface,
        *,
        timeout: float | None = None,
        predict: PredictCall | None = None,
        entropy: Entropy = os.urandom,
    ):
        self._device = device
        self.interface = interface
        word = device.read32(registers.CAPABILITIES.address)
        self._many = bool(registers.CAPABILITIES["CORES"].of(word))
        count = device.read32(registers.CORES.address) if self._many else 1
        shared = _Selection(device, many=self._many)
        self.cores = tuple(
            CallAccelerator(
                _Core(shared, core), interface, timeout=timeout, predict=predict, entropy=entropy
            )
            for core in range(count)
        )

    def pending(self) -> frozenset[int]:
        """The numbers of the cores whose last command has ended, and was not finished."""
        place = registers.PENDING if self._many else registers.INTERRUPT_STATUS
        word = self._device.read32(place.address)
        return frozenset(core for core in range(len(self.cores)) if word >> core & 1)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until a core is pending. Raises as `Device.wait_interrupt`."""
        self._device.wait_interrupt(timeout)

    def wipe(self) -> None:
        """Clear all slots of all cores; calls that are busy are given up."""
        for core in self.cores:
            core.wipe()


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


class _Core:
    """A BlockDevice: the registers of one core."""

    def __init__(self, shared: _Selection, core: int):
        self._shared, self._core = shared, core

    def read32(self, address: int) -> int:
        return self._shared.select(self._core).read32(address)

    def write32(self, address: int, value: int) -> None:
        self._shared.select(self._core).write32(address, value)

    def read_block(self, address: int, count: int) -> list[int]:
        return read_block(self._shared.select(self._core), address, count)

    def write_block(self, address: int, values: Sequence[int]) -> None:
        write_block(self._shared.select(self._core), address, values)

    def wait_interrupt(self, timeout: float | None = None) -> None:
        """Wait for the core's own interrupt, also while that of another one is pending."""
        since = time.monotonic()
        for _ in range(_MOST_POLLS):
            self._shared.device.wait_interrupt(timeout)
            if self.read32(registers.INTERRUPT_STATUS.address):
                return
            if timeout is not None and time.monotonic() - since > timeout:
                break
        raise InterruptTimeout(f"no interrupt of core {self._core} came")

    def close(self) -> None:
        """Nothing: the device is somebody else's."""

    def __enter__(self) -> "_Core":
        return self

    def __exit__(self, *error: object) -> None:
        pass
