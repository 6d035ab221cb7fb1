"""What is routed after copies have been put together, in a netlist of its own.

A router that may not move what is around searches all of it again for every net. So it is given
only the nets that are still open, with what they connect. The wires of all others are walls, but
for those of nets that may be moved: they make room.
"""

from collections.abc import Mapping
from typing import Any

from .compose import Composed
from .fabric import Fabric
from .netlist import (
    LOCKED,
    WALL,
    WEAK,
    Module,
    Route,
    clock_of,
    highest_bit,
    place_of,
    route_of,
    routing_text,
    strength_of,
    wall_cell,
    wall_net,
)


def open_nets(composed: Composed, fabric: Fabric) -> Module:
    """The nets that are to be routed, with the cells at their ends, and walls on all other wires.

    Cells are connected to these nets and to the clock only.
    """
    module = composed.module
    kept = composed.open | {clock_of(module)}
    near = {
        _tile(cell)
        for cell in module["cells"].values()
        if any(bits[0] in composed.open for bits in cell["connections"].values())
    }
    # Neighbours tell the tool whether it may exchange the inputs of a LUT.
    cells = {
        name: cell
        | {
            "connections": {
                port: bits if bits[0] in kept else ["x"]
                for port, bits in cell["connections"].items()
            }
        }
        for name, cell in module["cells"].items()
        if _tile(cell) in near or cell["type"] == "DCCA"
    }
    nets = {name: net for name, net in module["netnames"].items() if net["bits"][0] in kept}
    wires = (
        wire
        for net in module["netnames"].values()
        if net["bits"][0] not in kept and strength_of(net) == LOCKED
        for wire, _ in route_of(net)
    )
    used = {cell["attributes"]["NEXTPNR_BEL"] for cell in module["cells"].values()}
    free = next(
        bel
        for place in fabric.tiles
        for bel, kind in fabric.bels(place)
        if kind == "TRELLIS_COMB" and bel not in used
    )
    cells[WALL] = wall_cell("TRELLIS_COMB", free)
    nets[WALL] = wall_net(wires, highest_bit({"": module}) + 1, cells[WALL])
    return {**module, "cells": cells, "netnames": nets}


def _tile(cell: Mapping[str, Any]) -> tuple[int, int]:
    return place_of(cell["attributes"]["NEXTPNR_BEL"])


def close(composed: Composed, routed: Module) -> Module:
    """The whole with the routes that these nets have been given, none of which may be moved.

    Others that had wires of theirs have to be routed again.
    """
    nets = dict(composed.module["netnames"])
    given: dict[str, Route] = {
        name: route_of(net)
        for name, net in routed["netnames"].items()
        if name in nets and nets[name]["bits"][0] in composed.open
    }
    wires = {wire for route in given.values() for wire, _ in route}
    for name, net in nets.items():
        if name in given:
            nets[name] = _with_route(net, given[name])
        elif strength_of(net) == WEAK and any(wire in wires for wire, _ in route_of(net)):
            nets[name] = _with_route(net, [])
    return {**composed.module, "netnames": nets}


def _with_route(net: Mapping[str, Any], route: Route) -> dict[str, Any]:
    attributes = {key: value for key, value in net["attributes"].items() if key != "ROUTING"}
    if route:
        attributes["ROUTING"] = routing_text(route, LOCKED)
    return {**net, "attributes": attributes}
