"""Pieces of Verilog's text: numbers, attributes, blocks of lines."""

import re
import textwrap
from collections.abc import Iterable, Mapping

from .netlist import Wire

KEPT_ATTRIBUTES = ("keep", "no_rw_check", "ram_style")
"""Attributes of wires, registers and memories that tools act upon; others are left out."""
_COLUMNS = 100
LONGEST_PART = 72
"""Characters of an expression from which on it has a wire of its own."""


def number(bits: str, *, signed: bool = False) -> str:
    """A constant with its width, from its digits 0, 1 and x, highest first."""
    sign = "s" if signed else ""
    if "x" in bits:
        return f"{len(bits)}'{sign}b{bits}"
    return f"{len(bits)}'{sign}h{int(bits, 2):0{(len(bits) + 3) // 4}x}"


def pattern(digits: str) -> str:
    """A label of `casez`, from digits of which - stands for either."""
    return f"{len(digits)}'b{digits.replace('-', '?')}"


def identifier(name: str) -> str:
    """A name of RTLIL with underscores for what no identifier has."""
    return re.sub(r"\W", "_", name.removeprefix("\\"))


def attributes_of(
    attributes: Mapping[str, str], kept: Iterable[str] = KEPT_ATTRIBUTES
) -> list[str]:
    """A line for each of the attributes that are kept, in the order of `kept`."""
    return [f"(* {name} = {attributes[name]} *)" for name in kept if name in attributes]


def range_of(width: int) -> str:
    """The range of a declaration, with a space after it; nothing for one bit."""
    return f"[{width - 1}:0] " if width > 1 else ""


def meanings_of(wire: Wire) -> str:
    """The names of an enumeration's values, if there are few."""
    found = {
        int(name.removeprefix("enum_value_"), 2): value.strip('"').lstrip("\\").rpartition(".")[2]
        for name, value in wire.attributes.items()
        if name.startswith("enum_value_")
    }
    text = ", ".join(f"{number}: {found[number]}" for number in sorted(found))
    return text if len(text) <= LONGEST_PART else ""


def inverse_of(condition: str) -> str:
    """The opposite of a condition."""
    if not is_simple(condition):
        return f"!({condition})"
    return condition[1:] if condition.startswith("!") else f"!{condition}"


def is_simple(condition: str) -> bool:
    """Whether a condition is a name, or a bit of one, or its inverse."""
    return re.fullmatch(r"!?\\?[\w$]+ ?(\[\d+\])?", condition) is not None


def wrap(line: str) -> list[str]:
    """A line, or several where it is too long."""
    if len(line) <= _COLUMNS:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line,
        _COLUMNS,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def indented(lines: list[str]) -> list[str]:
    """The lines, one level further in."""
    return [f"  {line}" for line in lines]


def block(head: str, body: list[str]) -> list[str]:
    """Statements between `begin` and `end`."""
    return [f"{head} begin", *indented(body), "end"]


def listed(items: list[str]) -> list[str]:
    """The items with commas after all but the last."""
    return [item + ("," if place < len(items) - 1 else "") for place, item in enumerate(items)]


def controlled(head: str, body: list[str]) -> list[str]:
    """Statements under a condition, a label or a clock."""
    if len(body) == 1 and not body[0].startswith(("if ", "for ")):  # whose would an `else` be?
        return [f"{head} {body[0]}"]
    return [f"{head} begin", *indented(body), "end"]
