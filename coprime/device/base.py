"""The interface between a driver and an accelerator: 32-bit registers and an interrupt."""

from collections.abc import Sequence
from typing import Protocol, Self, runtime_checkable

from coprime.errors import CoprimeError

__all__ = [
    "ADDRESS_SPACE",
    "BlockDevice",
    "BusError",
    "BusTimeout",
    "Closing",
    "Device",
    "DeviceError",
    "InterruptTimeout",
    "check_address",
    "check_block",
    "check_value",
    "read_block",
    "write_block",
]

ADDRESS_SPACE = 4096
"""Bytes of an accelerator's register map."""


class DeviceError(CoprimeError):
    """The device failed."""


class BusError(DeviceError):
    """The device answered an access with SLVERR or DECERR, and its state has not changed.

    Some words of a block may still have been written.

    Attributes
    ----------
    address (int): byte address of the access; for a block, the first one
    write (bool): whether it was a write
    """

    def __init__(self, address: int, write: bool):
        super().__init__(f"{_access(address, write)} was refused by the device")
        self.address, self.write = address, write


class BusTimeout(DeviceError):  # noqa: N818
    """The device did not answer an access. Attributes as BusError's."""

    def __init__(self, address: int, write: bool):
        super().__init__(f"{_access(address, write)} was not answered by the device")
        self.address, self.write = address, write


class InterruptTimeout(DeviceError):  # noqa: N818
    """No interrupt arrived in time."""


class Closing:
    """A context manager that closes itself at the end."""

    def close(self) -> None:
        """Release all resources; closing twice is allowed."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Device(Protocol):
    """Access to the registers of one accelerator; a context manager that closes it."""

    def read32(self, address: int) -> int:
        """Read the register at byte address `address`, a multiple of 4 in 0..4092.

        Raises BusError if the device refuses.
        """

    def write32(self, address: int, value: int) -> None:
        """Write `value`, in 0..2**32 - 1, to the register at byte address `address`.

        Raises BusError if the device refuses.
        """

    def wait_interrupt(self, timeout: float | None = None) -> None:
        """Return when the interrupt request is active.

        `timeout` is in seconds on hardware; None waits indefinitely. A simulation has a limit in
        clock cycles instead. Raises InterruptTimeout.
        """

    def close(self) -> None:
        """Release the device. Closing twice is allowed."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


@runtime_checkable
class BlockDevice(Protocol):
    """An optional addition to a Device: transfers of many words, instead of one by one."""

    def read_block(self, address: int, count: int) -> list[int]:
        """Read `count` consecutive registers, 0 or more, from `address` on.

        Raises BusError if the device refuses any.
        """

    def write_block(self, address: int, values: Sequence[int]) -> None:
        """Write consecutive registers from `address` on, in this order.

        Raises BusError if the device refuses any.
        """


def read_block(device: Device, address: int, count: int) -> list[int]:
    """Read consecutive registers as a block, or one by one if the device has no blocks."""
    if isinstance(device, BlockDevice):
        return device.read_block(address, count)
    return [device.read32(address + 4 * word) for word in range(count)]


def write_block(device: Device, address: int, values: Sequence[int]) -> None:
    """Write consecutive registers as a block, or one by one if the device has no blocks."""
    if isinstance(device, BlockDevice):
        device.write_block(address, values)
        return
    for word, value in enumerate(values):
        device.write32(address + 4 * word, value)


def check_address(address: int) -> None:
    """Check that this is the byte address of a register; raises TypeError or ValueError."""
    if not isinstance(address, int):
        raise TypeError(f"address must be an int, not {address!r}")
    if address not in range(0, ADDRESS_SPACE, 4):
        raise ValueError(
            f"address must be a multiple of 4 in 0..{ADDRESS_SPACE - 4}, not {address}"
        )


def check_value(value: int) -> None:
    """Check that a value fits a register; raises TypeError or ValueError."""
    if not isinstance(value, int):
        raise TypeError(f"value must be an int, not {value!r}")
    if value not in range(1 << 32):
        raise ValueError(f"value must be in 0..2**32 - 1, not {value}")


def check_block(address: int, count: int) -> None:
    """Check that these are consecutive registers; raises TypeError or ValueError."""
    check_address(address)
    if not isinstance(count, int):
        raise TypeError(f"count must be an int, not {count!r}")
    if count not in range((ADDRESS_SPACE - address) // 4 + 1):
        raise ValueError(
            f"count must be in 0..{(ADDRESS_SPACE - address) // 4} from address {address} on,"
            f" not {count}"
        )


def _access(address: int, write: bool) -> str:
    return f"{'writing to' if write else 'reading'} address 0x{address:03X}"
