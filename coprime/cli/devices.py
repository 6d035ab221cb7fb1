"""`--device`: the accelerator that keys are used on, simulated or real.

A device is text: a kind, a colon, and what that kind needs. Options hold it as a NamedDevice, whose
`open` gives the accelerator. A new kind is a class with `parse` and `open`, and its line in KINDS.
"""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol, Self

from coprime.bus import cluster_registers
from coprime.catalog import Choice, ClusterChoice, choose
from coprime.device.accelerator import Accelerator
from coprime.device.base import Device
from coprime.device.cluster import Cluster
from coprime.device.keyed_cluster import KeyedCluster
from coprime.device.serial import BAUD, open_serial
from coprime.device.simulated import SimulatedDevice, open_cluster, open_simulation
from coprime.device.uio import UioDevice
from coprime.engine.lengths import Lengths

from .options import parse_settings
from .output import announce, progress

__all__ = ["NamedDevice", "add_device", "parse_device"]

DEFAULT = "sim:compact"
"""The device if none is named."""
_FORMS = "sim:FAMILY[,NAME=VALUE...], serial:PATH[,BAUD] or uio:PATH"


class DeviceKey(Protocol):
    """A key, or one that is still to be made."""

    @property
    def n(self) -> int | None:
        """The modulus; None if it is still to be made."""
        ...

    @property
    def lengths(self) -> Lengths:
        """Of the numbers in its operations."""
        ...


class NamedDevice(Protocol):
    """A device as --device names it."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what follows the colon. Raises ValueError."""
        ...

    def open(self, key: DeviceKey) -> AbstractContextManager[Accelerator | KeyedCluster]:
        """Open the device for operations with a key.

        Raises ValueError, before anything is built, if it does not take the key; DeviceError if it
        cannot be opened.
        """
        ...


@dataclass(frozen=True)
class Simulated:
    """`sim:FAMILY[,NAME=VALUE...]`: a family, or a cluster, with its parameters."""

    family: str
    settings: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read family and parameters. ValueError as `coprime.catalog.choose`."""
        family, *settings = text.split(",")
        simulated = cls(family, parse_settings(settings, f"sim:{family}"))
        choose(simulated.family, simulated.settings)
        return simulated

    @contextmanager
    def open(self, key: DeviceKey) -> Iterator[Accelerator | KeyedCluster]:
        """Simulate a design that holds the key."""
        choice = choose(self.family, self.settings, key.lengths, option=f"sim:{self.family},")
        _check_modulus(choice.core, key)
        announce(choice)
        with _simulation(choice) as device, progress("simulating") as passed:
            device.progress = passed
            yield _driver(device)


@dataclass(frozen=True)
class Uio:
    """`uio:PATH`: hardware under Linux."""

    path: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the path."""
        if not text:
            raise ValueError("uio: needs the path of a device, such as uio:/dev/uio0")
        return cls(text)

    @contextmanager
    def open(self, key: DeviceKey) -> Iterator[Accelerator | KeyedCluster]:
        """Open the device, and compare the key's lengths with those that it reports."""
        with UioDevice(self.path) as device:
            yield _checked_driver(device, key, f"uio:{self.path}")


@dataclass(frozen=True)
class Serial:
    """`serial:PATH[,BAUD]`: a board at a serial port."""

    path: str
    baud: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read path and baud."""
        path, _, baud = text.partition(",")
        if not path:
            raise ValueError("serial: needs the path of a port, such as serial:/dev/ttyUSB0")
        if not baud:
            return cls(path, BAUD)
        if not (baud.isascii() and baud.isdigit() and int(baud)):
            raise ValueError(f"serial:{path} needs bits per second, such as {BAUD}, not {baud!r}")
        return cls(path, int(baud))

    @contextmanager
    def open(self, key: DeviceKey) -> Iterator[Accelerator | KeyedCluster]:
        """Open a session, and compare the key's lengths with those that the board reports."""
        with open_serial(self.path, self.baud) as device:
            yield _checked_driver(device, key, f"serial:{self.path}")


KINDS: Mapping[str, type[NamedDevice]] = {"sim": Simulated, "serial": Serial, "uio": Uio}


def add_device(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add --device; optional: without it there is no device, and not the default one."""
    default = "none" if optional else f"{DEFAULT}, which is constant-time and checks its results"
    parser.add_argument(
        "--device",
        type=_device,
        default=None if optional else DEFAULT,
        metavar="DEVICE",
        help="sim:FAMILY[,NAME=VALUE...] simulates an accelerator, for which max_bits follows the"
        " key; serial:PATH[,BAUD] is a board at a serial port, such as serial:/dev/ttyUSB0;"
        f" uio:/dev/uioN is hardware under Linux ({default})",
    )


def parse_device(text: str) -> NamedDevice:
    """Read a device. ValueError, which says what a device is, if the text is none."""
    kind, colon, rest = text.partition(":")
    if not colon or kind not in KINDS:
        raise ValueError(f"a device is {_FORMS}, not {text!r}")
    return KINDS[kind].parse(rest)


def _device(text: str) -> NamedDevice:
    try:
        return parse_device(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _check_modulus(choice: Choice, key: DeviceKey) -> None:
    fixed = choice.design.capabilities.fixed_modulus
    if fixed not in (None, key.n):
        raise ValueError(
            f"{choice.family.name} is built for one modulus of {fixed.bit_length()} bits, and the"
            " key's is another: set modulus= to the key's, or take another family"
        )


def _simulation(choice: Choice | ClusterChoice) -> SimulatedDevice:
    return open_cluster(choice) if isinstance(choice, ClusterChoice) else open_simulation(choice)


def _driver(device: Device) -> Accelerator | KeyedCluster:
    """The driver for what the device identifies itself as."""
    register = cluster_registers.IDENTIFICATION
    if device.read32(register.address) == register["ID"].reset:
        return KeyedCluster(Cluster(device))
    return Accelerator(device)


def _checked_driver(device: Device, key: DeviceKey, name: str) -> Accelerator | KeyedCluster:
    """The driver, of hardware that takes the key; ValueError if it does not."""
    driver = _driver(device)
    excess = key.lengths.excess(driver)
    if excess:
        raise ValueError(f"the accelerator at {name} takes {excess}")
    return driver
