"""Places in a block for the registers at the ends of links.

A link between registers is only a wire, and spans no more than the distance between two rectangles
if the registers are near the middle: the sources of links above it, the destinations below it. In
the ring of a block a link then takes several wires, which a copy leaves free for its own link. The
tool places all other ends.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .chain import ChainPart
from .fabric import Fabric, Rectangle
from .netlist import LOCKED, Bit, Module, route_of, with_route, without_branches, word

_FULL = 0.8
"""Of a rectangle's LUTs, at most, that are used when those beside ends of links are not."""
_LUT, _REGISTER = "TRELLIS_COMB", "TRELLIS_FF"
_IN_TILE = 8  # flip-flops
_WIDE = 20  # columns
_OFF = 4
"""Columns from the middle of a rectangle to the ends, towards the middle of the device. In a narrow
one that is at the edge; at the edge of a wide one they would keep the tool from routing it."""
_DATA = {"DI": "M"}  # inputs of flip-flops for a LUT beside them, and for anything else
_OWN = "REGSET"  # the parameter in which flip-flops of a tile may differ


def with_ends_placed(
    part: ChainPart, rectangle: Rectangle, fabric: Fabric, taken: frozenset[str], luts: int
) -> tuple[ChainPart, frozenset[str]]:
    """A part with places for the registers at the ends of its links, and places to leave empty.

    The part gets no place of `taken`, and needs `luts` LUTs: where those would be crowded,
    nothing is left empty. For a register too many the tool finds a place.
    """
    nets = part.modules[part.top]["netnames"]
    links = (nets[name]["bits"][0] for name in part.outputs.values())
    drivers = [_driver(part.modules, part.top, link) for link in links]
    sources = [name for name in drivers if name and _is_register(part, name)]
    sinks = [name for name, _ in part.inputs if name not in sources and _is_register(part, name)]
    groups = [*_alike(part, sources), *_alike(part, sinks)]
    tiles = list(_tiles(rectangle, fabric, taken))[: len(groups)]
    places: dict[str, str] = {}
    for tile, group in zip(sorted(tiles, key=lambda tile: tile[::-1]), groups, strict=False):
        bels = [bel for bel, kind in fabric.bels(tile) if kind == _REGISTER]
        places |= zip(group, bels, strict=False)
    modules = dict(part.modules)
    modules[part.top] = _placed(modules, part.top, places)
    return replace(part, modules=modules), _empty(tiles, rectangle, fabric, taken, luts)


def without_ring(module: Module, part: ChainPart) -> Module:
    """The same netlist, routed: without the routes that close the ring of its links."""
    nets = dict(module["netnames"])
    for pin, name in part.outputs.items():
        ring = [
            _sink_wire(module["cells"][cell], port)
            for (cell, port), led in part.inputs.items()
            if led == pin
        ]
        nets[name] = with_route(nets[name], without_branches(route_of(nets[name]), ring), LOCKED)
    return {**module, "netnames": nets}


# --- Registers in a netlist of modules, by their names after it is flattened ----------------------


def _inside(modules: Mapping[str, Module], module: str) -> Iterator[tuple[str, str]]:
    """The instances of modules in a module: names, and of which module."""
    for name, cell in modules[module]["cells"].items():
        if cell["type"] in modules and modules[cell["type"]]["cells"]:
            yield name, cell["type"]


def _driver(modules: Mapping[str, Module], module: str, bit: Bit) -> str | None:
    """The cell that drives a net."""
    instances = dict(_inside(modules, module))
    for name, cell in modules[module]["cells"].items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] != "output" or bit not in bits:
                continue
            if name not in instances:
                return str(name)
            inner = modules[instances[name]]["ports"][port]["bits"][bits.index(bit)]
            below = _driver(modules, instances[name], inner)
            return None if below is None else f"{name}.{below}"
    return None


def _cell(modules: Mapping[str, Module], module: str, name: str) -> Mapping[str, Any]:
    for instance, kind in _inside(modules, module):
        if name.startswith(f"{instance}."):
            return _cell(modules, kind, name.removeprefix(f"{instance}."))
    cell: Mapping[str, Any] = modules[module]["cells"][name]
    return cell


def _is_register(part: ChainPart, name: str) -> bool:
    kind: str = _cell(part.modules, part.top, name)["type"]
    return kind == _REGISTER


def _alike(part: ChainPart, names: Collection[str]) -> Iterator[Sequence[str]]:
    """Registers that may be in one tile, up to eight: with the same enable and reset."""
    groups = defaultdict(list)
    for name in names:
        cell = _cell(part.modules, part.top, name)
        shared = [(key, value) for key, value in cell["parameters"].items() if key != _OWN]
        shared += [(port, str(cell["connections"].get(port))) for port in ("CE", "LSR")]
        groups[tuple(sorted(shared))].append(name)
    for group in groups.values():
        for first in range(0, len(group), _IN_TILE):
            yield group[first : first + _IN_TILE]


def _placed(modules: dict[str, Module], module: str, places: Mapping[str, str]) -> Module:
    """A module with places for some of its cells; where they are in instances, with new ones."""
    instances, cells = dict(_inside(modules, module)), dict(modules[module]["cells"])
    for name, cell in cells.items():
        start = f"{name}."
        below = {k.removeprefix(start): bel for k, bel in places.items() if k.startswith(start)}
        if name in instances and below:
            own = f"{instances[name]} {name}"
            modules[own] = _placed(modules, instances[name], below)
            cells[name] = {**cell, "type": own}
        elif name in places:
            placed = {"NEXTPNR_BEL": places[name], "BEL_STRENGTH": word(LOCKED)}
            cells[name] = {**cell, "attributes": cell["attributes"] | placed} | {
                key: {_DATA.get(port, port): value for port, value in cell[key].items()}
                for key in ("connections", "port_directions")
            }
    return {**modules[module], "cells": cells}


# --- Places ---------------------------------------------------------------------------------------


def _tiles(
    rectangle: Rectangle, fabric: Fabric, taken: frozenset[str]
) -> Iterator[tuple[int, int]]:
    """Its tiles of registers that are free, those of the first column or columns first.

    In a wide rectangle they are several, so that carry chains find a way around.
    """
    column, row = rectangle.middle
    off = min(_OFF, (rectangle.width - 1) // 2)
    column += off if column <= fabric.middle[0] else -off
    near = max(1, rectangle.width // _WIDE)
    for tile in sorted(
        rectangle.places(),
        key=lambda place: (abs(place[0] - column) // near, abs(place[1] - row), place),
    ):
        registers = [bel for bel, kind in fabric.bels(tile) if kind == _REGISTER]
        if registers and taken.isdisjoint(registers):
            yield tile


def _empty(
    tiles: Collection[tuple[int, int]],
    rectangle: Rectangle,
    fabric: Fabric,
    taken: frozenset[str],
    luts: int,
) -> frozenset[str]:
    """The places for LUTs in these tiles, if the others have room for all."""
    free = {
        bel: place
        for place in rectangle.places()
        for bel, kind in fabric.bels(place)
        if kind == _LUT and bel not in taken
    }
    empty = frozenset(bel for bel, place in free.items() if place in tiles)
    return empty if luts <= _FULL * (len(free) - len(empty)) else frozenset()


def _sink_wire(cell: Mapping[str, Any], port: str) -> str:
    """The wire that leads into an input of a LUT or flip-flop."""
    place, slash, bel = cell["attributes"]["NEXTPNR_BEL"].rpartition("/")
    number = 2 * "ABCD".index(bel.partition(".")[0][-1]) + int(bel[-1])
    return f"{place}{slash}{port}{number}_SLICE"
