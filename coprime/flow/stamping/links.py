"""Routes the nets that are open after copies have been assembled, in a separate netlist.

A router that must not change its surroundings searches all of them again for every net. So it gets
only the open nets, with the cells that they connect. The wires of all other nets are locked, except
those of loose blocks, which may be rerouted.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .compose import Composed
from .fabric import Fabric
from .netlist import (
    LOCKED,
    LOOSE,
    WALL,
    WEAK,
    Module,
    Route,
    clock_of,
    highest_bit,
    place_of,
    route_of,
    strength_of,
    wall_cell,
    wall_net,
    with_route,
    word,
)

_ANYWHERE = {f"router2/bbMargin/{axis}": word(1000) for axis in "xy"}
"""Tiles around a net's ends in which router2 looks for wires, 4 by default: a link may have to go
around copies."""


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
        if net["bits"][0] not in kept and strength_of(net) != LOOSE
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
    settings = {**module.get("settings", {}), **_ANYWHERE}
    return {**module, "settings": settings, "cells": cells, "netnames": nets}


def _tile(cell: Mapping[str, Any]) -> tuple[int, int]:
    return place_of(cell["attributes"]["NEXTPNR_BEL"])


def opened(composed: Composed, routed: Module) -> Composed:
    """The same with nets open, too, that have lost wires of theirs; copies may not be moved now."""
    taken = {wire for route in _given(composed, routed).values() for wire, _ in route}
    nets, lost = dict(composed.module["netnames"]), set()
    for name, net in nets.items():
        if net["bits"][0] in composed.open or strength_of(net) in (0, LOCKED):
            continue
        if any(wire in taken for wire, _ in route_of(net)):
            lost.add(net["bits"][0])
            nets[name] = with_route(net, [], 0)
        elif strength_of(net) == LOOSE:
            nets[name] = with_route(net, route_of(net), LOCKED)
    return replace(
        composed, module={**composed.module, "netnames": nets}, open=composed.open | lost
    )


def close(composed: Composed, routed: Module) -> Module:
    """The whole with the routes that open nets have been given.

    Others that have lost wires of theirs have to be routed again, and may move what may be moved.
    """
    nets, given = dict(composed.module["netnames"]), _given(composed, routed)
    lost = opened(composed, routed).open - composed.open
    for name, net in nets.items():
        if name in given:
            nets[name] = with_route(net, given[name], WEAK)
        elif net["bits"][0] in lost:
            nets[name] = with_route(net, [], 0)
    return {**composed.module, "netnames": nets}


def _given(composed: Composed, routed: Module) -> dict[str, Route]:
    nets = composed.module["netnames"]
    return {
        name: route_of(net)
        for name, net in routed["netnames"].items()
        if name in nets and nets[name]["bits"][0] in composed.open
    }
