"""The C header of an engine of byte strings: numbers of slots, calls and parameter sets."""

import re

from coprime.calls.interface import EngineInterface

from .templates import filled


def call_header(module_name: str, interface: EngineInterface) -> str:
    """The header; its names begin with the top module's."""
    return filled(
        "calls.h.j2", own=interface, prefix=module_name, macro=module_name.upper(), c_name=c_name
    )


def c_name(name: str) -> str:
    """A name as a part of a macro: in capitals, with `_` for what C has not in names."""
    return re.sub(r"[^A-Z0-9]+", "_", name.upper())
