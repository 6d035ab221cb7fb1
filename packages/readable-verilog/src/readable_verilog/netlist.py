"""Amaranth's netlists, read from RTLIL, the text that Yosys exchanges.

Source: Yosys's manual, "RTLIL text representation". Only what `amaranth.back.rtlil` writes is read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """`width` bits of `wire` from bit `low` on; or, without a wire, the constant `bits`."""

    wire: str
    low: int
    width: int
    bits: str = ""  # the digits 0, 1 and x of a constant, highest first


Value = tuple[Part, ...]  # parts, the lowest first


@dataclass
class Wire:
    """A wire or a port; names are as in RTLIL: public ones start with a backslash."""

    name: str
    width: int
    attributes: dict[str, str]
    direction: str = ""  # `input`, `output` or `inout` of a port


@dataclass
class NetlistMemory:
    """An array of words."""

    name: str
    width: int
    depth: int
    attributes: dict[str, str]


@dataclass
class Cell:
    """An operator or a register ($...), or an instance of a module."""

    kind: str
    name: str
    attributes: dict[str, str]
    parameters: dict[str, str] = field(default_factory=dict)
    """Texts as they are written: `3`, `4'0101`, `"TRUE"`; a real number as `1.5`."""
    ports: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Assign:
    """`target` takes `value`; of several assignments to a bit the last one holds."""

    target: Value
    value: Value


@dataclass(frozen=True)
class Case:
    """What holds where a switch meets one of the patterns of 0, 1 and -; always, without any."""

    patterns: tuple[str, ...]
    body: "Body"


@dataclass(frozen=True)
class Switch:
    """The first of the cases that the value meets holds."""

    value: Value
    cases: list[Case]


Body = list[Assign | Switch]


@dataclass
class NetlistModule:
    """A module: `processes` and `connections` assign to wires, `cells` drive them."""

    name: str
    wires: dict[str, Wire] = field(default_factory=dict)
    memories: dict[str, NetlistMemory] = field(default_factory=dict)
    contents: list[Cell | Body] = field(default_factory=list)  # cells and processes
    connections: list[Assign] = field(default_factory=list)


_CHUNK = re.compile(r"(\d+)'([01x-]*)|(-?\d+)|([\\$]\S*)(?: \[(\d+)(?::(\d+))?\])?|\{|\}")


def read(text: str) -> list[NetlistModule]:
    """Read the modules of a netlist, in their order."""
    modules: list[NetlistModule] = []
    attributes: dict[str, str] = {}
    lines = (line.strip() for line in text.splitlines())
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "attribute":
            name, _, value = rest.partition(" ")
            attributes[name[1:]] = value
            continue
        if word == "module":
            modules.append(NetlistModule(rest))
        elif word == "wire":
            *options, name = rest.split()
            direction = next((word for word in options if word in ("input", "output", "inout")), "")
            width = int(options[options.index("width") + 1])
            modules[-1].wires[name] = Wire(name, width, attributes, direction)
        elif word == "memory":
            _, width_text, _, depth, name = rest.split()
            modules[-1].memories[name] = NetlistMemory(
                name, int(width_text), int(depth), attributes
            )
        elif word == "cell":
            kind, name = rest.split()
            modules[-1].contents.append(
                _read_cell(Cell(kind, name, attributes), lines, modules[-1])
            )
        elif word == "process":
            modules[-1].contents.append(_read_body(lines, modules[-1])[0])
        elif word == "connect":
            assign = _read_assign(rest, modules[-1])
            if assign.target:  # a signal without bits is no wire
                modules[-1].connections.append(assign)
        if word:
            attributes = {}
    return modules


def _read_cell(cell: Cell, lines: Iterator[str], module: NetlistModule) -> Cell:
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "end":
            break
        is_real = rest.startswith("real ")
        name, _, value = rest.removeprefix("signed ").removeprefix("real ").partition(" ")
        if is_real:
            value = value.strip('"')
        if word == "parameter":
            cell.parameters[name[1:]] = value
        else:
            cell.ports[name[1:]] = _read_value(value, module)
    return cell


def _read_body(lines: Iterator[str], module: NetlistModule) -> tuple[Body, str]:
    """Read up to the line that ends this body; give that line too."""
    body: Body = []
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "assign":
            assign = _read_assign(rest, module)
            if assign.target:  # a field without bits takes none
                body.append(assign)
        elif word == "switch":
            body.append(_read_switch(rest, lines, module))
        elif word:
            return body, line
    raise ValueError("the netlist ends within a process")


def _read_switch(value: str, lines: Iterator[str], module: NetlistModule) -> Switch:
    switch = Switch(_read_value(value, module), [])
    _, line = _read_body(lines, module)
    while line != "end":
        patterns = tuple(re.findall(r"'([01-]*)", line))
        body, line = _read_body(lines, module)
        switch.cases.append(Case(patterns, body))
    return switch


def _read_assign(text: str, module: NetlistModule) -> Assign:
    if text.startswith("{"):
        end = text.index("}") + 1
    else:
        end = next(found.end() for found in _CHUNK.finditer(text))
    return Assign(_read_value(text[:end], module), _read_value(text[end:], module))


def _read_value(text: str, module: NetlistModule) -> Value:
    parts: list[Part] = []
    for chunk in _CHUNK.finditer(text):
        width, digits, number, wire, high, low = chunk.groups()
        if wire is not None:
            first = int(low or high or 0)
            count = (int(high) - first + 1) if high else module.wires[wire].width
            parts.append(Part(wire, first, count))
        elif width is not None:
            parts.append(Part("", 0, int(width), digits))
        elif number is not None:
            parts.append(Part("", 0, 32, f"{int(number) & 0xFFFFFFFF:032b}"))
    return merged(parts[::-1])


def merged(parts: list[Part]) -> Value:
    """Join neighbours: bits of one wire that follow each other, and constants."""
    merged: list[Part] = []
    for part in parts:
        last = merged[-1] if merged else None
        if not part.width:
            continue
        if last and last.wire == part.wire and (not part.wire or last.low + last.width == part.low):
            merged[-1] = Part(last.wire, last.low, last.width + part.width, part.bits + last.bits)
        else:
            merged.append(part)
    return tuple(merged)
