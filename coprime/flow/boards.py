"""The boards that bitstreams are written for: the records of boards.toml."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from coprime.cells.target import Target

from .board import Board, Pin
from .board_records import RECORDS
from .targets import DEVICES, FpgaDevice


def _pin(content: Mapping[str, Any], platform: Any, io: Mapping[str, str]) -> Pin:
    """A pin by its site, or one of Amaranth's platform."""
    own, label = content.get("attributes", {}), content.get("label", "")
    if "site" in content:
        active_low = content.get("active_low", False)
        return Pin(content["site"], {**io, **own}, label, active_low)
    name, number, *part = content["from"].split()
    for resource in platform.resources:
        if (resource.name, resource.number) == (name, int(number)):
            ios = next(
                subsignal
                for subsignal in resource.ios
                if not part or getattr(subsignal, "name", "") in part
            )
            pins = ios.ios[0] if part else ios
            (site,) = pins.names
            return Pin(site, {**resource.attrs, **own}, label, pins.invert)
    raise LookupError(f"{platform.__name__} has no {content['from']}")


def _board(name: str, records: Mapping[str, Mapping[str, Any]]) -> Board:
    content = dict(records[name])
    content = {**records.get(content.pop("like", ""), {}), **content}
    module, _, platform_name = content.pop("platform", "").partition(":")
    platform = (
        getattr(import_module(f"amaranth_boards.{module}"), platform_name) if module else None
    )
    device, io = content.pop("device"), content.pop("io", {})
    pins = {port: _pin(pin, platform, io) for port, pin in content.pop("pins").items()}
    return Board(
        name=name,
        target=Target(content.pop("target")),
        device=DEVICES[device] if isinstance(device, str) else FpgaDevice(**device),
        pins=pins,
        **content,
    )


BOARDS: Mapping[str, Board] = MappingProxyType({name: _board(name, RECORDS) for name in RECORDS})
"""Every known board by name. "ulx3s" is the one with the LFE5U-25F."""


def board_named(name: str) -> Board:
    """Look a board up; ValueError that lists them if there is none."""
    if name not in BOARDS:
        raise ValueError(f"no board is called {name!r}; there are: {', '.join(BOARDS)}")
    return BOARDS[name]
