"""An accelerator in a Linux system, through the kernel's userspace I/O (UIO).

The device tree assigns the accelerator to the driver `generic-uio`, which provides /dev/uioN: a
memory map of its registers, and a file that counts interrupts. The kernel masks the interrupt when
it occurs; writing 1 to the file unmasks it.
"""

import mmap
import os
import select
import sys

from .base import ADDRESS_SPACE, Closing, DeviceError, InterruptTimeout, check_address, check_value

__all__ = ["UioDevice"]

_UNMASK = (1).to_bytes(4, sys.byteorder)


class UioDevice(Closing):
    """A Device at /dev/uioN.

    A refused access cannot be caught: the processor takes a bus error, and the kernel terminates
    the process. BusError is therefore never raised.

    Parameters
    ----------
    path (str or path): the device file; its first memory map holds the registers

    Raises DeviceError if the file cannot be opened, or has no registers to map.
    """

    def __init__(self, path: str | os.PathLike[str] = "/dev/uio0"):
        self._file: int | None = None
        try:
            self._file = os.open(path, os.O_RDWR | os.O_SYNC)
            self._map = mmap.mmap(self._file, ADDRESS_SPACE)
        except (OSError, ValueError) as error:
            if self._file is not None:
                os.close(self._file)
                self._file = None
            reason = error.strerror if isinstance(error, OSError) else "it is too short"
            raise DeviceError(
                f"{os.fspath(path)!r} is no UIO device: {reason}; those that the kernel has bound"
                " are in /sys/class/uio"
            ) from error
        # Items of a memoryview are read and written as a whole, as the registers require.
        self._words = memoryview(self._map).cast("I")

    def read32(self, address: int) -> int:
        """Read a register, as Device.read32."""
        check_address(address)
        self._open()
        return self._words[address // 4]

    def write32(self, address: int, value: int) -> None:
        """Write a register, as Device.write32."""
        check_address(address)
        check_value(value)
        self._open()
        self._words[address // 4] = value

    def wait_interrupt(self, timeout: float | None = None) -> None:
        """Unmask the interrupt and sleep until it occurs, as Device.wait_interrupt.

        Raises InterruptTimeout if none comes in time, ValueError for a negative timeout.
        """
        if timeout is not None and not timeout >= 0:
            raise ValueError(f"timeout must be at least 0 seconds, or None, not {timeout}")
        file = self._open()
        os.write(file, _UNMASK)
        ready, _, _ = select.select([file], [], [], timeout)
        if not ready:
            raise InterruptTimeout(f"no interrupt came in {timeout} seconds")
        os.read(file, 4)

    def close(self) -> None:
        """Unmap the registers and close the file."""
        if self._file is not None:
            self._words.release()
            self._map.close()
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        if self._file is None:
            raise DeviceError("the device is closed")
        return self._file
