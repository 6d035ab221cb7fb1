"""Ways into and out of a block, for links that come from elsewhere or lead elsewhere.

In the ring of a block a link may be a single wire between two neighbours. In a copy it comes from
far away, and all other wires around its ends may belong to other nets. So an anchor is put into
each link of the ring, a flip-flop at the rectangle's right edge, with nothing else near it if there
is room. The wires to anchors and from them are free in copies, which have none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from .chain import ChainPart
from .fabric import Fabric, Rectangle
from .netlist import (
    LOCKED,
    Bit,
    Module,
    Pin,
    highest_bit,
    route_of,
    routing_text,
    without_branches,
    word,
)

_ANCHOR = "anchor"  # what cells and nets of anchors begin with
_MARGIN = 2
"""Tiles around anchors in which nothing is placed, if there is room."""
_FULL = 0.8  # of a rectangle's LUTs, at most, with these tiles left empty
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
_LUT, _REGISTER = "TRELLIS_COMB", "TRELLIS_FF"


def anchored(
    part: ChainPart, rectangle: Rectangle, fabric: Fabric, taken: frozenset[str], luts: int
) -> tuple[ChainPart, frozenset[str]]:
    """A part with an anchor in each link that closes its ring, and places to leave empty.

    Anchors get no place of `taken`. The part needs `luts` LUTs; where they would fill the rectangle
    with less room around anchors, nothing is left empty.
    """
    used = set(part.inputs.values())
    links = [name for pin, name in part.outputs.items() if pin in used]
    tiles: list[tuple[int, int]] = []
    places: list[str] = []
    for tile in _from_the_right(rectangle):
        bels = [bel for bel, kind in fabric.bels(tile) if kind == _REGISTER]
        if len(places) < len(links) and bels and taken.isdisjoint(bels):
            tiles.append(tile)
            places += bels
    top = part.modules[part.top]
    nets = dict(top["netnames"])
    highest = highest_bit(part.modules)
    after = {nets[name]["bits"][0]: highest + 1 + k for k, name in enumerate(links)}
    cells = {name: _behind_anchors(cell, after) for name, cell in top["cells"].items()}
    for (link, bit), bel in zip(after.items(), places[: len(after)], strict=True):
        nets[f"{_ANCHOR}_{bit}"] = {"hide_name": 0, "bits": [bit], "attributes": {}}
        cells[f"{_ANCHOR}_{bit}"] = {
            "hide_name": 0,
            "type": _REGISTER,
            "parameters": _FLIP_FLOP,
            "attributes": {"NEXTPNR_BEL": bel, "BEL_STRENGTH": word(LOCKED)},
            "port_directions": _DIRECTIONS,
            "connections": {"M": [link], "CLK": [part.clock], "Q": [bit]},
        }
    modules = {**part.modules, part.top: {**top, "cells": cells, "netnames": nets}}
    return replace(part, modules=modules), _empty(tiles, rectangle, fabric, taken, luts)


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


def _from_the_right(rectangle: Rectangle) -> list[tuple[int, int]]:
    """Its tiles: the middle of the last column first."""
    middle = rectangle.middle[1]
    return sorted(rectangle.places(), key=lambda tile: (-tile[0], abs(tile[1] - middle)))


def _behind_anchors(cell: Mapping[str, Any], after: Mapping[Bit, Bit]) -> dict[str, Any]:
    """A cell with its inputs connected to the nets after anchors in place of those before them."""
    connections = {
        port: bits
        if cell["port_directions"][port] == "output"
        else [after.get(bit, bit) for bit in bits]
        for port, bits in cell["connections"].items()
    }
    return {**cell, "connections": connections}


def _empty(
    tiles: list[tuple[int, int]],
    rectangle: Rectangle,
    fabric: Fabric,
    taken: frozenset[str],
    luts: int,
) -> frozenset[str]:
    """Places in the tiles with anchors and around them, if the LUTs have room in the others.

    Flip-flops beside an anchor stay possible: the tool takes no dummy there.
    """
    near = {
        place
        for x, y in tiles
        for place in Rectangle(x, y, 1, 1).places(_MARGIN)
        if place in rectangle
    }
    rest = sum(
        kind == _LUT and bel not in taken
        for place in rectangle.places()
        if place not in near
        for bel, kind in fabric.bels(place)
    )
    if luts > _FULL * rest:
        return frozenset()
    return frozenset(
        bel
        for place in near
        for bel, kind in fabric.bels(place)
        if kind == _LUT or (kind == _REGISTER and place not in tiles)
    )


def _sinks(part: ChainPart, pin: Pin) -> Iterator[tuple[str, str]]:
    """What a link leads to: cells and their inputs."""
    return (sink for sink, led in part.inputs.items() if led == pin)


def _connected(cell: Mapping[str, Any], port: str, bits: list[Bit]) -> dict[str, Any]:
    return {**cell, "connections": cell["connections"] | {port: bits}}


def _sink_wire(cell: Mapping[str, Any], port: str) -> str:
    """The wire that leads into an input of a LUT or flip-flop."""
    place, slash, bel = cell["attributes"]["NEXTPNR_BEL"].rpartition("/")
    number = 2 * "ABCD".index(bel.partition(".")[0][-1]) + int(bel[-1])
    return f"{place}{slash}{port}{number}_SLICE"
