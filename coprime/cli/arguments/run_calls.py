"""Options of `coprime run` for an engine of byte strings."""

import argparse
from collections.abc import Callable
from pathlib import Path

from coprime.calls.interface import Slot
from coprime.catalog import CALL_FAMILIES

from ..options import Parser, add_json, add_parameters, add_random, hexadecimal_bytes


def add_options(parser: Parser, family: str) -> None:
    """Add the options for engines of a family: one for each slot that a call takes."""
    interfaces = CALL_FAMILIES[family].interfaces
    parser.add_argument("family", metavar="FAMILY", choices=[family], help="the family")
    add_parameters(parser)
    calls_by_name = {call.name: call for each in interfaces for call in each.calls}
    slots = {slot.name: slot for each in interfaces for slot in each.slots}
    sets = [name for each in interfaces for name in each.parameter_sets]
    names = list(calls_by_name)
    calls = "; ".join(f"{call.name}, {call.summary}" for call in calls_by_name.values())
    parser.add_argument("operation", metavar="CALL", choices=names, help=f"one of: {calls}")
    if len(sets) > 1:
        text = f"parameter set: {', '.join(sets)} (default: the engine's first one)"
        parser.choice("--set", sets, text, None)
    taken = {name for call in calls_by_name.values() for name in call.takes}
    for slot in [slot for slot in slots.values() if slot.name in taken]:
        metavar = "N" if slot.number_of else "HEX|@FILE"
        parser.add_argument(
            option_of(slot.name),
            dest=place_of(slot.name),
            type=_number(slot) if slot.number_of else _data,
            metavar=metavar,
            help=f"{slot.summary} (default: random)",
        )
        if slot.streamed:
            text = f"bytes of a random {slot.name}"
            option = f"{option_of(slot.name)}-bytes"
            parser.add_argument(option, dest=length_of(slot.name), type=int, metavar="N", help=text)
    parser.number("--seed", "seed of what is random", 1)
    add_random(parser)
    parser.number("--requests", "number of calls that several cores run (default: one for each)")
    parser.path("--trace", metavar="FST", help="file to write waveforms to")
    add_json(parser)


def option_of(slot: str) -> str:
    """The option that gives a slot."""
    return f"--{slot.replace('_', '-')}"


def place_of(slot: str) -> str:
    """Where the parsed options have it."""
    return f"slot_{slot}"


def length_of(slot: str) -> str:
    """Where the parsed options have the length of a stream that is drawn."""
    return f"length_{slot}"


def _data(text: str) -> bytes:
    """Hexadecimal digits, or the bytes of a file."""
    return Path(text[1:]).read_bytes() if text.startswith("@") else hexadecimal_bytes(text)


def _number(slot: Slot) -> Callable[[str], bytes]:
    """A number of bytes, as the slot holds it."""
    size = slot.lengths[0]

    def read(text: str) -> bytes:
        if not text.isdecimal() or int(text) >> 8 * size:
            most = (1 << 8 * size) - 1
            raise argparse.ArgumentTypeError(f"not a number of bytes, 0 to {most}: {text!r}")
        return int(text).to_bytes(size, "little")

    return read
