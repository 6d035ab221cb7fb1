"""What the clock of the whole depends on beside the blocks: paths that no block has.

nextpnr gives the two halves of a carry cell different delays, and tells them apart by how it has
packed them. In a netlist that it reads again both have those of the slower half, so the clock that
it reports of the whole is a lower bound, which may be far too low for long carry chains. But a
copy's cells and wires are those of its block, and so are the delays of a path whose nets all have
the routes of the block. Left are the paths over links and over nets that have been routed again.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from typing import Any

from .netlist import Bit, Module, clock_of, route_of

_REGISTERED = ("TRELLIS_FF", "DP16KD")
"""Cells that no path leads through; any other one may be combinational."""


def paths_since(blocks: Module, routed: Module) -> Module:
    """The paths over nets of a routed netlist that `blocks`, as put together, routes otherwise.

    Cells are connected to the clock and to nets on such paths only, all ends of these among them:
    a wire that leads to fewer is faster.
    """
    clock, now = clock_of(blocks), routed["netnames"]
    changed = {
        net["bits"][0]
        for name, net in blocks["netnames"].items()
        if name not in now or _switches(net) != _switches(now[name])
    } - {clock}
    reached = _reached(blocks, changed, "input", "output")
    reached |= _reached(blocks, changed, "output", "input") | {clock}
    cells = {}
    for name, cell in blocks["cells"].items():
        connections = {
            port: bits if bits[0] in reached else ["x"]
            for port, bits in cell["connections"].items()
        }
        if cell["type"] == "DCCA" or any(bits != ["x"] for bits in connections.values()):
            cells[name] = cell | {"connections": connections}
    nets = {
        name: net | {"attributes": now.get(name, net)["attributes"]}
        for name, net in blocks["netnames"].items()
        if net["bits"][0] in reached
    }
    return {**blocks, "cells": cells, "netnames": nets}


def _reached(module: Module, bits: Set[Bit], far: str, near: str) -> set[Bit]:
    """Nets that paths over some nets come over (`far` is "input") or go on over ("output")."""
    beyond: dict[Bit, list[Bit]] = defaultdict(list)
    for cell in filter(_combinational, module["cells"].values()):
        for bit in _bits(cell, near):
            beyond[bit] += _bits(cell, far)
    reached, new = set(bits), list(bits)
    while new:
        found = set(beyond.pop(new.pop(), ())) - reached
        reached |= found
        new += found
    return reached


def _switches(net: Mapping[str, Any]) -> set[tuple[str, str]]:
    """What a net is routed over. One inside of a slice has none, but a wire after routing."""
    return {(wire, switch) for wire, switch in route_of(net) if switch}


def _combinational(cell: Mapping[str, Any]) -> bool:
    return cell["type"] not in _REGISTERED


def _bits(cell: Mapping[str, Any], direction: str) -> Iterator[Bit]:
    """The nets at the inputs or outputs of a cell."""
    for port, bits in cell["connections"].items():
        if cell["port_directions"][port] == direction and bits != ["x"]:
            yield bits[0]
