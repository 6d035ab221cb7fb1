"""The driver of several cores for byte strings: each is a CallAccelerator, on one bus."""

import os

from coprime.calls.interface import EngineInterface
from coprime.device.base import Device
from coprime.device.calls import CallAccelerator, PredictCall
from coprime.device.cores import Cores
from coprime.device.source import Entropy

__all__ = ["CallCores"]


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
        self.interface = interface
        self._every = Cores(device)
        self.cores = tuple(
            CallAccelerator(core, interface, timeout=timeout, predict=predict, entropy=entropy)
            for core in self._every.cores
        )

    def pending(self) -> frozenset[int]:
        """The numbers of the cores whose last command has ended, and was not finished."""
        return self._every.pending()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until a core is pending. Raises as `Device.wait_interrupt`."""
        self._every.wait(timeout)

    def wipe(self) -> None:
        """Clear all slots of all cores; calls that are busy are given up."""
        for core in self.cores:
            core.wipe()
