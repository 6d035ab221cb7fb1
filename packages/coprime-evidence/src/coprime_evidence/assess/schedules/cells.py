"""The cells of a netlist, before they are executed: without a reset, and a flag by itself."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

Bit = int | str
NetCell = Mapping[str, Any]

_FIELDWISE = {"$dff": "Q", "$mux": "Y", "$pmux": "Y"}
"""Cells that could be one for each bit, and their outputs."""


def without_reset(
    cells: Sequence[NetCell], ports: Mapping[str, Mapping[str, Any]]
) -> tuple[list[NetCell], dict[str, Sequence[Bit]]]:
    """The cells, and the bits of each port, with 0 in place of the reset: it selects nothing."""
    (reset,) = ports["rst"]["bits"] if "rst" in ports else (None,)
    same: dict[Bit, Bit] = {} if reset is None else {reset: "0"}
    found = []
    for cell in cells:
        connections = cell["connections"]
        if reset is not None and cell["type"] == "$mux" and connections["S"] == [reset]:
            same |= zip(connections["Y"], connections["A"], strict=True)
        else:
            found.append(cell)

    def replaced(bits: Sequence[Bit]) -> list[Bit]:
        replacements = []
        for bit in bits:
            while bit in same:
                bit = same[bit]
            replacements.append(bit)
        return replacements

    return [
        {**cell, "connections": {p: replaced(bits) for p, bits in cell["connections"].items()}}
        for cell in found
    ], {name: replaced(port["bits"]) for name, port in ports.items() if name not in ("clk", "rst")}


def in_fields(
    cells: Sequence[NetCell], ports: Iterable[Sequence[Bit]], of_digits: set[Bit]
) -> list[NetCell]:
    """The cells, with one of its own for each field of a record that is kept or selected.

    But words, the bits `of_digits`, stay whole.
    Bits are in different fields if no cell that calculates, and no port, has one after the other;
    to read a memory calculates nothing with its address. So that a flag is known does not depend on
    whether the next one is.
    """
    together: set[tuple[Bit, Bit]] = set()
    for bits in ports:
        together |= set(pairwise(bits))
    for cell in cells:
        for port, bits in cell["connections"].items():
            if port == "S" or (cell["type"] not in _FIELDWISE and port != "RD_ADDR"):
                together |= set(pairwise(bits))
    divided: list[NetCell] = []
    found: list[NetCell] = []
    for cell in cells:
        is_divided = cell["type"] in _FIELDWISE and not of_digits.intersection(_output(cell))
        (divided if is_divided else found).append(cell)
    before = -1
    while before != len(together):
        before = len(together)
        for cell in divided:
            for k, pair in enumerate(pairwise(_output(cell))):
                if pair in together:
                    together |= {(input_bits[k], input_bits[k + 1]) for input_bits in _inputs(cell)}
    for cell in divided:
        bits = _output(cell)
        ends = [k + 1 for k, pair in enumerate(pairwise(bits)) if pair not in together]
        for start, end in pairwise([0, *ends, len(bits)]):
            found.append(_field(cell, start, end))
    return found


def reached_from(cells: Sequence[NetCell], digits: set[Bit]) -> set[Bit]:
    """All bits that may depend on these, or on what is in a memory."""
    reached = set(digits)
    before = -1
    while before != len(reached):
        before = len(reached)
        for cell in cells:
            ports: dict[str, list[Bit]] = {"input": [], "output": []}
            for port, bits in cell["connections"].items():
                ports[cell["port_directions"][port]] += bits
            if cell["type"] == "$mem_v2" or reached.intersection(ports["input"]):
                reached.update(ports["output"])
        reached -= set("01x")
    return reached


def _output(cell: NetCell) -> Sequence[Bit]:
    bits: Sequence[Bit] = cell["connections"][_FIELDWISE[cell["type"]]]
    return bits


def _inputs(cell: NetCell) -> list[Sequence[Bit]]:
    """Words of which a cell keeps or selects one; some may be joined at a port."""
    width, connections = len(_output(cell)), cell["connections"]
    return [
        connections[port][at : at + width]
        for port in "DAB"
        if port in connections
        for at in range(0, len(connections[port]), width)
    ]


def _field(cell: NetCell, start: int, end: int) -> NetCell:
    """What a cell does for some of its bits."""
    width = len(_output(cell))
    connections = dict(cell["connections"])
    for port, bits in connections.items():
        if port not in ("CLK", "S"):
            words = [bits[at : at + width] for at in range(0, len(bits), width)]
            connections[port] = [bit for word in words for bit in word[start:end]]
    return {**cell, "connections": connections}
