"""Assignments between ports of the same name."""

from typing import Any


def same_named(sink: Any, source: Any, *names: str) -> list[Any]:
    """Drive ports, or fields, of `sink` with those of `source` that have the same names."""
    return [getattr(sink, name).eq(getattr(source, name)) for name in names]
