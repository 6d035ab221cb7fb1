"""Ways into and out of a block, for links that come from elsewhere or lead elsewhere.

In the ring of a block a link may be a single wire between two neighbours. In a copy it comes from
far away, and all other wires around its ends may belong to other nets. So an anchor is put into
each link of the ring, a flip-flop some tiles away from both ends. The wires to anchors and from
them are free in copies, which have none.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .chain import ChainPart
from .fabric import Fabric, Rectangle
from .netlist import (
    LOCKED,
    Bit,
    Module,
    Pin,
    clock_of,
    highest_bit,
    place_of,
    route_of,
    routing_text,
    without_branches,
    word,
)

_ANCHOR = "anchor"  # what cells and nets of anchors begin with
_AWAY = 6
"""Columns and rows from an anchor to an end of its net, at least: as far as the longest wire."""
_FLIP_FLOP = {  # the space keeps the tool from reading a number
    "CEMUX": "1 ",
    "CLKMUX": "CLK",
    "GSR": "DISABLED",
    "LSRMUX": "LSR",
    "REGSET": "RESET",
    "SD": "0 ",
    "SRMODE": "LSR_OVER_CE",
}
_DIRECTIONS = {"M": "input", "CLK": "input", "Q": "output"}


def anchored(
    module: Module, part: ChainPart, rectangle: Rectangle, fabric: Fabric, taken: Iterable[str]
) -> Module:
    """A placed netlist with an anchor in each link that closes its ring. Links lose their routes.

    Anchors get slices that are empty, but no place of `taken`. Where there are too few slices, the
    last links have none.
    """
    cells, nets = dict(module["cells"]), dict(module["netnames"])
    ends: dict[Bit, list[tuple[int, int]]] = {}  # of each net
    for cell in cells.values():
        for bits in cell["connections"].values():
            for bit in bits:
                ends.setdefault(bit, []).append(place_of(cell["attributes"]["NEXTPNR_BEL"]))
    free = list(_empty_slices(module, rectangle, fabric, set(taken)))
    new = highest_bit({"": module})
    for pin, name in part.outputs.items():
        link = nets[name]
        attributes = {k: v for k, v in link["attributes"].items() if k != "ROUTING"}
        nets[name] = {**link, "attributes": attributes}
        if not free:
            continue
        near = ends[link["bits"][0]]
        bel = min(free, key=lambda one: _off(one, near))
        free.remove(bel)
        new += 1
        nets[f"{_ANCHOR}_{new}"] = {"hide_name": 0, "bits": [new], "attributes": {}}
        cells[f"{_ANCHOR}_{new}"] = {
            "hide_name": 0,
            "type": "TRELLIS_FF",
            "parameters": _FLIP_FLOP,
            "attributes": {"NEXTPNR_BEL": bel, "BEL_STRENGTH": word(LOCKED)},
            "port_directions": _DIRECTIONS,
            "connections": {"M": link["bits"], "CLK": [clock_of(module)], "Q": [new]},
        }
        for cell, port in _sinks(part, pin):
            cells[cell] = _connected(cells[cell], port, [new])
    return {**module, "cells": cells, "netnames": nets}


def without_anchors(module: Module, part: ChainPart) -> Module:
    """The same netlist, routed: without anchors, and without the routes to and from them."""
    cells, nets = (
        {name: one for name, one in module[kind].items() if not name.startswith(_ANCHOR)}
        for kind in ("cells", "netnames")
    )
    leaves: dict[Bit, list[str]] = {}
    for name in module["cells"].keys() - cells.keys():
        anchor = module["cells"][name]
        leaves.setdefault(anchor["connections"]["M"][0], []).append(_sink_wire(anchor, "M"))
    for pin, name in part.outputs.items():
        link = nets[name]
        # One that has no anchor leads to its ends in the ring.
        ring = [_sink_wire(cells[cell], port) for cell, port in _sinks(part, pin)]
        gone = ring + leaves.get(link["bits"][0], [])
        route = without_branches(route_of(link), gone)
        attributes = link["attributes"] | {"ROUTING": routing_text(route, LOCKED)}
        nets[name] = {**link, "attributes": attributes}
        for cell, port in _sinks(part, pin):
            cells[cell] = _connected(cells[cell], port, link["bits"])
    return {**module, "cells": cells, "netnames": nets}


def _sinks(part: ChainPart, pin: Pin) -> Iterator[tuple[str, str]]:
    """What a link leads to: cells and their inputs."""
    return (sink for sink, led in part.inputs.items() if led == pin)


def _empty_slices(
    module: Module, rectangle: Rectangle, fabric: Fabric, taken: set[str]
) -> Iterator[str]:
    """A place for a flip-flop in each slice of the rectangle in which nothing is placed."""
    bels = taken | {cell["attributes"]["NEXTPNR_BEL"] for cell in module["cells"].values()}
    used = {bel.rpartition(".")[0] for bel in bels}
    for place in rectangle.places():
        for bel, kind in fabric.bels(place):
            slice_, _, half = bel.rpartition(".")
            if kind == "TRELLIS_FF" and half == "FF0" and slice_ not in used:
                yield bel


def _off(bel: str, ends: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """How many tiles a place is nearer than an anchor should be to an end, and how far off."""
    x, y = place_of(bel)
    tiles = [max(abs(x - column), abs(y - row)) for column, row in ends]
    return max(0, _AWAY - min(tiles)), max(tiles)


def _connected(cell: Mapping[str, Any], port: str, bits: list[Bit]) -> dict[str, Any]:
    return {**cell, "connections": cell["connections"] | {port: bits}}


def _sink_wire(cell: Mapping[str, Any], port: str) -> str:
    """The wire that leads into an input of a LUT or flip-flop."""
    place, slash, bel = cell["attributes"]["NEXTPNR_BEL"].rpartition("/")
    number = 2 * "ABCD".index(bel.partition(".")[0][-1]) + int(bel[-1])
    return f"{place}{slash}{port}{number}_SLICE"
