"""Accesses that the register map does not allow."""

import pytest

from coprime.device.base import BusError


def check_accesses(device, registers):
    """A register is read, and written, only where the map says that it can be."""
    for register in registers:
        if not register.readable:
            with pytest.raises(BusError):
                device.read32(register.address)
        if not register.writable:
            with pytest.raises(BusError):
                device.write32(register.address, 0)
