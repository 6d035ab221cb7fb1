"""A simulation in a library of C functions, which take a handle until it is closed."""

import ctypes

from .base import Closing, DeviceError


class LibrarySimulation(Closing):
    """The handle that PREFIX_create returned, until `close` passes it to PREFIX_destroy."""

    PREFIX = "coprime"
    WHAT = "device"
    _library: ctypes.CDLL
    _handle: int | None = None

    def close(self) -> None:
        """End the simulation."""
        if self._handle is not None:
            getattr(self._library, f"{self.PREFIX}_destroy")(self._handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()

    def _open(self) -> int:
        if self._handle is None:
            raise DeviceError(f"the simulated {self.WHAT} is closed")
        return self._handle
