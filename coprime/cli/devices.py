"""`--device`: the accelerator that keys are used on, simulated or real.

A device is text: a kind, a colon, and what that kind needs. Options hold it as a NamedDevice, which
`open_devices` opens. A new kind is a function that reads the text, and its line in KINDS.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

from coprime.bus.serial.protocol import BAUD
from coprime.catalog import (
    CALL_FAMILIES,
    SUITE,
    choose,
    choose_calls,
    choose_suite,
    with_source,
)
from coprime.random.kinds import RandomSource, parse_source

from .options import parse_settings

if TYPE_CHECKING:
    from coprime.operations.commands import Command

DEFAULT = "sim:compact"  # the device if none is named
DEFAULT_OF_CALLS = "sim:lattice"  # the same for ML-KEM
DEFAULT_OF_SIGNATURES = "sim:lattice,schemes=ml-dsa"  # the same for ML-DSA
_CALL_DEFAULTS = (DEFAULT_OF_CALLS, DEFAULT_OF_SIGNATURES)
_FORMS = "sim:FAMILY[,NAME=VALUE...], serial:PATH[,BAUD] or uio:PATH"


@dataclass(frozen=True)
class Simulated:
    """`sim:FAMILY[,NAME=VALUE...]`: a family, a cluster or a suite, with its parameters, and
    random=.
    """

    family: str
    settings: Mapping[str, str]
    source: RandomSource = RandomSource.STREAM

    @property
    def name(self) -> str:
        """As --device has it."""
        settings = [f",{setting}={value}" for setting, value in self.settings.items()]
        return f"sim:{self.family}{''.join(settings)}"

    @property
    def is_suite(self) -> bool:
        """Whether it has several engines."""
        return self.family == SUITE

    @classmethod
    def parse(cls, text: str, *, calls: bool = False) -> Self:
        """Read family and parameters, with `calls` those of an engine of byte strings.

        ValueError as `coprime.catalog.choose`, `choose_calls` or `choose_suite`.
        """
        family, *settings = text.split(",")
        known = parse_settings(settings, f"sim:{family}")
        source = parse_source(known.pop("random", RandomSource.STREAM.value))
        simulated = cls(family, known, source)
        if family == SUITE:
            with_source(choose_suite(known, option=f"sim:{SUITE},"), source)
        elif calls:
            with_source(choose_calls(family, known), source)
        else:
            with_source(choose(family, known), source)
        return simulated


@dataclass(frozen=True)
class Hardware:
    """`uio:PATH`, hardware under Linux, or `serial:PATH[,BAUD]`, a board at a serial port."""

    name: str
    """Of the device, without baud."""
    path: str
    baud: int | None = None
    """Of a serial port; None for hardware under Linux."""

    @classmethod
    def uio(cls, path: str) -> Self:
        """Read the path. Raises ValueError."""
        if not path:
            raise ValueError("uio: needs the path of a device, such as uio:/dev/uio0")
        return cls(f"uio:{path}", path)

    @classmethod
    def serial(cls, text: str) -> Self:
        """Read path and baud. Raises ValueError."""
        path, _, baud = text.partition(",")
        if not path:
            raise ValueError("serial: needs the path of a port, such as serial:/dev/ttyUSB0")
        if baud and not (baud.isascii() and baud.isdigit() and int(baud)):
            raise ValueError(f"serial:{path} needs bits per second, such as {BAUD}, not {baud!r}")
        return cls(f"serial:{path}", path, int(baud or BAUD))


NamedDevice = Simulated | Hardware
KINDS: Mapping[str, Callable[[str], NamedDevice]] = {
    "sim": Simulated.parse,
    "serial": Hardware.serial,
    "uio": Hardware.uio,
}
_CALL_KINDS: Mapping[str, Callable[[str], NamedDevice]] = {
    **KINDS,
    "sim": partial(Simulated.parse, calls=True),
}


def add_device(
    parser: argparse.ArgumentParser,
    option: str = "--device",
    *,
    optional: bool = False,
    curves: bool = False,
) -> None:
    """Add --device, or another option.

    `optional`: without it there is no device, and not the default one.
    `curves`: it is for elliptic curves, and the default one depends on the command: `device_for`.
    """
    default = f"{DEFAULT}, which is constant-time and checks its results"
    if optional:
        default = "none"
    elif curves:
        default = f"{DEFAULT} with curves= as the key needs it, which is constant-time"
    parser.add_argument(
        option,
        type=_device,
        default=None if optional or curves else DEFAULT,
        metavar="DEVICE",
        help="sim:FAMILY[,NAME=VALUE...] simulates an accelerator, for which max_bits follows the"
        " key, such as sim:suite for several engines; serial:PATH[,BAUD] is a board at a serial"
        " port, such as serial:/dev/ttyUSB0;"
        f" uio:/dev/uioN is hardware under Linux ({default})",
    )


def add_call_device(parser: argparse.ArgumentParser, default: str = DEFAULT_OF_CALLS) -> None:
    """Add --device, for calls of engines of byte strings."""
    text = ", which is constant-time" if default == DEFAULT_OF_CALLS else ""
    parser.add_argument(
        "--device",
        type=partial(_device, calls=True),
        default=default,
        metavar="DEVICE",
        help="sim:FAMILY[,NAME=VALUE...] simulates an accelerator, such as sim:suite for several"
        " engines; serial:PATH[,BAUD] is a board at"
        " a serial port, such as serial:/dev/ttyUSB0; uio:/dev/uioN is hardware under Linux"
        f" ({default}{text})",
    )


def add_noise_device(parser: argparse.ArgumentParser, option: str, text: str) -> None:
    """Add an option for a device of any kind whose noise source is read; without it, none is."""
    parser.add_argument(
        option,
        type=_any_device,
        metavar="DEVICE",
        help=f"{text}: serial:PATH[,BAUD] or uio:/dev/uioN, built with --random trng;"
        " sim:FAMILY,random=trng[,NAME=VALUE...] has a model, and no noise",
    )


def parse_device(text: str, *, calls: bool = False) -> NamedDevice:
    """Read a device, with `calls` one with an engine of byte strings.

    ValueError, which says what a device is, if the text is none.
    """
    kinds = _CALL_KINDS if calls else KINDS
    kind, colon, rest = text.partition(":")
    if not colon or kind not in kinds:
        raise ValueError(f"a device is {_FORMS}, not {text!r}")
    return kinds[kind](rest)


def device_for(
    options: argparse.Namespace, command: "Command", name: str = "device"
) -> NamedDevice:
    """The device of --device, or of another option; without it, the default with the command."""
    named: NamedDevice | None = getattr(options, name)
    return named or parse_device(default_with(command))


def default_with(command: "Command") -> str:
    """The default device, built with a command."""
    setting = command.operation.setting
    return DEFAULT if setting is None else f"{DEFAULT},{setting[0]}={setting[1]}"


def calls_default_with(call: str) -> Simulated:
    """The default device of an engine of byte strings that has the call."""
    defaults = (
        Simulated.parse(default.removeprefix("sim:"), calls=True) for default in _CALL_DEFAULTS
    )
    return next(
        default
        for default in defaults
        if call in choose_calls(default.family, default.settings).design.interface.call
    )


def _any_device(text: str) -> NamedDevice:
    """With an engine of either kind."""
    family = text.removeprefix("sim:").partition(",")[0]
    return _device(text, calls=family in CALL_FAMILIES)


def _device(text: str, *, calls: bool = False) -> NamedDevice:
    try:
        return parse_device(text, calls=calls)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
