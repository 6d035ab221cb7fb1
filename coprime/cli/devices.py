"""`--device`: the accelerator that keys are used on, simulated or real.

A device is text: a kind, a colon, and what that kind needs. Options hold it as a NamedDevice, whose
`open` gives the accelerator. A new kind is a function that reads the text, and its line in KINDS.
"""

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping
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
from coprime.engine.contract import Command
from coprime.engine.lengths import Lengths

from .options import parse_settings
from .output import announce, progress

DEFAULT = "sim:compact"  # the device if none is named
_FORMS = "sim:FAMILY[,NAME=VALUE...], serial:PATH[,BAUD] or uio:PATH"


class DeviceKey(Protocol):
    """A key, or one that is still to be made."""

    @property
    def n(self) -> int | None:
        """The modulus; None if it is still to be made."""

    @property
    def lengths(self) -> Lengths:
        """Of the numbers in its operations."""


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
    def open(
        self, key: DeviceKey, command: Command | None = None
    ) -> Iterator[Accelerator | KeyedCluster]:
        """Simulate a design that holds the key, and has the command.

        ValueError, before it is built, if none does.
        """
        choice = choose(self.family, self.settings, key.lengths, option=f"sim:{self.family},")
        _check_command(f"sim:{self.family}", command, choice.core.design.capabilities.commands)
        _check_modulus(choice.core, key)
        announce(choice)
        with _simulation(choice) as device, progress("simulating") as passed:
            device.progress = passed
            yield _driver(device)


@dataclass(frozen=True)
class Hardware:
    """`uio:PATH`, hardware under Linux, or `serial:PATH[,BAUD]`, a board at a serial port."""

    name: str
    """Of the device, without baud."""
    connect: Callable[[], AbstractContextManager[Device]]
    """Opens it; raises DeviceError if it cannot."""

    @classmethod
    def uio(cls, path: str) -> Self:
        """Read the path. Raises ValueError."""
        if not path:
            raise ValueError("uio: needs the path of a device, such as uio:/dev/uio0")
        return cls(f"uio:{path}", lambda: UioDevice(path))

    @classmethod
    def serial(cls, text: str) -> Self:
        """Read path and baud. Raises ValueError."""
        path, _, baud = text.partition(",")
        if not path:
            raise ValueError("serial: needs the path of a port, such as serial:/dev/ttyUSB0")
        if baud and not (baud.isascii() and baud.isdigit() and int(baud)):
            raise ValueError(f"serial:{path} needs bits per second, such as {BAUD}, not {baud!r}")
        return cls(f"serial:{path}", lambda: open_serial(path, int(baud or BAUD)))

    @contextmanager
    def open(
        self, key: DeviceKey, command: Command | None = None
    ) -> Iterator[Accelerator | KeyedCluster]:
        """Open it. ValueError if the key is longer than it reports to take, or it has no command.

        None: any command.
        """
        with self.connect() as device:
            driver = _driver(device)
            excess = key.lengths.excess(driver)
            if excess:
                raise ValueError(f"the accelerator at {self.name} takes {excess}")
            _check_command(f"the accelerator at {self.name}", command, driver.commands)
            yield driver


NamedDevice = Simulated | Hardware
KINDS: Mapping[str, Callable[[str], NamedDevice]] = {
    "sim": Simulated.parse,
    "serial": Hardware.serial,
    "uio": Hardware.uio,
}


def add_device(
    parser: argparse.ArgumentParser, *, optional: bool = False, curves: bool = False
) -> None:
    """Add --device; optional: without it there is no device, and not the default one.

    `curves`: it is for elliptic curves, and the default one depends on the command: `device_for`.
    """
    default = f"{DEFAULT}, which is constant-time and checks its results"
    if optional:
        default = "none"
    elif curves:
        default = f"{DEFAULT} with curves= as the key needs it, which is constant-time"
    parser.add_argument(
        "--device",
        type=_device,
        default=None if optional or curves else DEFAULT,
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
    return KINDS[kind](rest)


def device_for(options: argparse.Namespace, command: Command) -> NamedDevice:
    """The device of --device; without it, the default one that has the command."""
    named: NamedDevice | None = options.device
    return named or parse_device(_default_with(command))


def _default_with(command: Command) -> str:
    """The default device, built with a command."""
    setting = command.operation.setting
    return DEFAULT if setting is None else f"{DEFAULT},{setting[0]}={setting[1]}"


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


def _check_command(name: str, command: Command | None, commands: Collection[Command]) -> None:
    """ValueError unless a device that is called `name` has the command, which is of curves."""
    if command is not None and command not in commands:
        raise ValueError(
            f"{name} has no {command.name}: take an engine that has it, such as"
            f" {_default_with(command)}"
        )


def _simulation(choice: Choice | ClusterChoice) -> SimulatedDevice:
    return open_cluster(choice) if isinstance(choice, ClusterChoice) else open_simulation(choice)


def _driver(device: Device) -> Accelerator | KeyedCluster:
    """The driver for what the device identifies itself as."""
    register = cluster_registers.IDENTIFICATION
    if device.read32(register.address) == register["ID"].reset:
        return KeyedCluster(Cluster(device))
    return Accelerator(device)
