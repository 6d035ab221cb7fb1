import mmap
import socket
import sys

import pytest

from coprime.device import uio
from coprime.device.base import DeviceError, InterruptTimeout
from coprime.device.uio import UioDevice


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """A device whose registers are a file and whose interrupts come through a socket."""
    registers = tmp_path / "registers"
    registers.write_bytes(bytes(4096))
    ours, kernels = socket.socketpair()
    with registers.open("r+b") as file:
        real_map = mmap.mmap
        with monkeypatch.context() as patch:
            patch.setattr(uio.os, "open", lambda path, flags: ours.detach())
            patch.setattr(uio.mmap, "mmap", lambda _, size: real_map(file.fileno(), size))
            device = UioDevice("/dev/uio7")
    kernels.setblocking(False)
    with device, kernels:
        yield device, registers, kernels


def test_registers(fake):
    device, registers, _ = fake
    device.write32(0x84, 0x01234567)
    device.write32(0xFFC, 0xFFFFFFFF)
    content = registers.read_bytes()
    assert content[0x84:0x88] == (0x01234567).to_bytes(4, sys.byteorder)
    assert content[0x80:0x84] == content[0x88:0x8C] == bytes(4)
    assert content[-4:] == b"\xff" * 4
    assert device.read32(0x84) == 0x01234567
    assert device.read32(0xFFC) == 0xFFFFFFFF


def test_interrupt(fake):
    device, _, kernel = fake
    kernel.send((41).to_bytes(4, sys.byteorder))
    device.wait_interrupt()
    # It was unmasked once, and the count was consumed.
    assert kernel.recv(100) == (1).to_bytes(4, sys.byteorder)
    with pytest.raises(InterruptTimeout, match=r"no interrupt came in 0\.01 seconds"):
        device.wait_interrupt(0.01)
    with pytest.raises(ValueError, match="timeout must be at least 0 seconds, or None, not -1"):
        device.wait_interrupt(-1)


def test_arguments(fake):
    device, _, _ = fake
    for address in (-4, 2, 4096):
        with pytest.raises(ValueError, match=rf"multiple of 4 in 0\.\.4092, not {address}"):
            device.read32(address)
    with pytest.raises(TypeError, match="address must be an int, not '0'"):
        device.read32("0")
    for value in (-1, 1 << 32):
        with pytest.raises(ValueError, match=rf"value must be in 0..2\*\*32 - 1, not {value}"):
            device.write32(0, value)
    with pytest.raises(TypeError, match="value must be an int, not None"):
        device.write32(0, None)


def test_closed(fake):
    device, _, _ = fake
    device.close()
    device.close()
    for access in (lambda: device.read32(0), lambda: device.write32(0, 0), device.wait_interrupt):
        with pytest.raises(DeviceError, match="the device is closed"):
            access()


def test_no_such_device(tmp_path):
    with pytest.raises(DeviceError, match=r"uio0' is no UIO device: No such file or directory"):
        UioDevice(tmp_path / "uio0")
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(DeviceError, match=r"empty' is no UIO device: it is too short"):
        UioDevice(empty)
