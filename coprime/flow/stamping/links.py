"""What is routed after copies have been put together, in a netlist of its own.

A router that may not move what is around searches all of it again for every net. So it is given
only the nets that are still open, with what they connect; the wires of all others are walls.
"""

from typing import Any

from .compose import Composed
from .fabric import Fabric
from .netlist import (
    LOCKED,
    WALL,
    Module,
    clock_of,
    highest_bit,
    route_of,
    routing_text,
    wall_cell,
    wall_net,
)


def open_nets(composed: Composed, fabric: Fabric) -> Module:
    """The nets that are to be routed, with the cells at their ends, and walls on all other wires.

    Cells are connected to these nets and to the clock only.
    """
    module = composed.module
    kept = composed.open | {clock_of(module)}
    cells: dict[str, Any] = {}
    for name, cell in module["cells"].items():
        connections = {
            port: bits if bits[0] in kept else ["x"] for port, bits in cell["connections"].items()
        }
        opens = any(bits[0] in composed.open for bits in connections.values())
        if opens or cell["type"] == "DCCA":
            cells[name] = {**cell, "connections": connections}
    nets = {name: net for name, net in module["netnames"].items() if net["bits"][0] in kept}
    wires = (
        wire
        for net in module["netnames"].values()
        if net["bits"][0] not in kept
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


def close(composed: Composed, routed: Module) -> Module:
    """The whole with the routes that these nets have been given, none of which may be moved."""
    module = composed.module
    nets = dict(module["netnames"])
    for name, net in routed["netnames"].items():
        if name in nets and nets[name]["bits"][0] in composed.open:
            attributes = nets[name]["attributes"] | {"ROUTING": routing_text(route_of(net), LOCKED)}
            nets[name] = {**nets[name], "attributes": attributes}
    return {**module, "netnames": nets}
