"""`--device`: the accelerator that keys are used on, simulated or real."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from coprime.catalog import family_named
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from coprime.device.uio import UioDevice

from .output import progress

__all__ = ["add_device", "open_accelerator"]

DEFAULT = "sim:fdfm"
"""The device if none is named."""


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add --device."""
    parser.add_argument(
        "--device",
        default=DEFAULT,
        metavar="DEVICE",
        help=f"sim:FAMILY, or uio:/dev/uioN for hardware under Linux ({DEFAULT})",
    )


@contextmanager
def open_accelerator(options: argparse.Namespace) -> Iterator[Accelerator]:
    """The accelerator of --device. Raises ValueError for bad text, DeviceError if it cannot be
    opened.
    """
    kind, colon, name = options.device.partition(":")
    if kind == "sim" and colon:
        simulated = open_simulation(family_named(name).choose({}))
        with simulated as device, progress("simulating") as passed:
            device.progress = passed
            yield Accelerator(device)
    elif kind == "uio" and colon:
        with UioDevice(name) as device:
            yield Accelerator(device)
    else:
        raise ValueError(f"a device is sim:FAMILY or uio:/dev/uioN, not {options.device!r}")
