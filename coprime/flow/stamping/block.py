"""One part of a chain, placed and routed inside a rectangle."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..routing import clock_mhz, nextpnr
from ..targets import Flow, FpgaDevice
from .chain import ChainPart
from .fabric import REACH, Fabric, Rectangle
from .netlist import LOCKED, Bit, Module, highest_bit, modules_of, netlist_text, routing_text, word

_WALL = "wall"  # what cells and nets that only keep others out begin with


@dataclass(frozen=True)
class Block:
    """A part with the place of each cell and the route of each net.

    All of its cells but pins and clock buffers are inside the rectangle, and of instances also all
    wires, by the tiles that wires are named after. So copies in rectangles that do not overlap have
    no wire in common.
    """

    part: ChainPart
    rectangle: Rectangle
    module: Module
    mhz: float  # highest clock of the part by itself
    mhz_by_seed: dict[int, float]


def place_and_route(
    part: ChainPart,
    rectangle: Rectangle,
    flow: Flow,
    device: FpgaDevice,
    fabric: Fabric,
    *,
    seeds: Sequence[int],
    target_mhz: float,
    enough_mhz: float = math.inf,
    constraints: str = "",
) -> Block:
    """Place and route a part with each of some seeds and keep the one with the highest clock.

    No further seeds are tried once a clock of `enough_mhz` is reached. `constraints` has the pins
    of a front end; without, the tool chooses them. Raises ToolError if the part does not fit the
    rectangle, or the tool fails.
    """
    netlist = netlist_text(_walled(part, rectangle, fabric))
    place = flow.place if constraints else flow.place_without_pins
    options = (*place, "--freq", str(target_mhz), "--timing-allow-fail")
    clocks: dict[int, float] = {}
    best = None
    for seed in seeds:
        own = (*options, "--seed", str(seed))
        folder = nextpnr(flow, device, netlist, constraints, own, write=_WALL)
        clocks[seed] = clock_mhz(json.loads((folder / "report.json").read_text("utf-8")))
        if clocks[seed] == max(clocks.values()):
            best = folder
        if clocks[seed] >= enough_mhz:
            break
    assert best is not None
    (module,) = modules_of((best / "routed.json").read_text("utf-8")).values()
    return Block(part, rectangle, module, max(clocks.values()), clocks)


def packed(modules: Mapping[str, Module], flow: Flow, device: FpgaDevice) -> dict[str, Any]:
    """The cells of a netlist as nextpnr places them, by name. ToolError if it fails."""
    options = (*flow.place_without_pins, "--pack-only")
    folder = nextpnr(flow, device, netlist_text(modules), "", options, write=_WALL)
    (module,) = modules_of((folder / "routed.json").read_text("utf-8")).values()
    cells: dict[str, Any] = module["cells"]
    return cells


def _walled(part: ChainPart, rectangle: Rectangle, fabric: Fabric) -> dict[str, Module]:
    """The part with every place outside of the rectangle taken.

    Around instances also the wires that lead out; the front end needs those to its pins.
    """
    top = part.modules[part.top]
    cells, nets = dict(top["cells"]), dict(top["netnames"])
    bel = ""
    for place in fabric.tiles:
        if place in rectangle:
            continue
        for bel, cell in fabric.bels(place):
            cells[f"{_WALL}_{len(cells)}"] = _taken(cell, bel)
    if part.instances:
        wires = [
            wire
            for place in rectangle.places(REACH)
            if place not in rectangle
            for wire in fabric.span_wires(place)
        ]
        bit = highest_bit(part.modules) + 1
        route = routing_text([(wire, "") for wire in wires], LOCKED)
        nets[_WALL] = {"hide_name": 0, "bits": [bit], "attributes": {"ROUTING": route}}
        last = next(reversed(cells.values()))
        last["connections"]["A"], last["port_directions"]["A"] = [bit], "input"
    return {**part.modules, part.top: {**top, "cells": cells, "netnames": nets}}


def _taken(cell: str, bel: str) -> dict[str, object]:
    connections: dict[str, list[Bit]] = {}
    return {
        "hide_name": 0,
        "type": cell,
        "parameters": {},
        "attributes": {"NEXTPNR_BEL": bel, "BEL_STRENGTH": word(LOCKED)},
        "port_directions": {},
        "connections": connections,
    }
