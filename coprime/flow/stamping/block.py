"""One part of a chain, placed and routed inside a rectangle."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..routing import CriticalPath, clock_mhz, critical_path, nextpnr, report_of
from ..targets import Flow, FpgaDevice
from ..tool_errors import ToolError
from .chain import ChainPart
from .ends import with_ends_placed, without_ring
from .fabric import REACH, Fabric, Rectangle
from .netlist import (
    WALL,
    Module,
    clock_of,
    highest_bit,
    modules_of,
    netlist_text,
    place_of,
    route_of,
    shifted,
    wall_cell,
    wall_net,
)

_GIVE_UP = ("--placer-heap-cell-placement-timeout", "20000")
"""With as many walls the tool would look for places in a full rectangle for hours: it gives up
after 100,000 attempts for a cell on the largest device, and the next seed is tried."""
_LIMIT_S = 1200
"""Processor time for a seed. Where wires are scarce the router may go round in circles for ever:
the largest node that was routed took half of this."""
_SHUT_IN = "Failed to find a route for arc 0 of net clk$"
_AT = 'LOCATE COMP "clk" SITE "{pin}";\n'
"""Walls may shut in the pin that the tool chooses for the clock: then it gets the farthest one."""


@dataclass(frozen=True, eq=False)
class Block:
    """A part with the place of each cell and the route of each net.

    All of its cells except pins and clock buffers are inside the rectangle, and for instances also
    all wires, by the tiles that wires are named after. So copies in rectangles that do not overlap
    have no wire in common. Of two rectangles that share a row, the lower one's block avoids the
    places of the upper one's.
    """

    part: ChainPart
    rectangle: Rectangle
    module: Module
    mhz: float  # highest clock of the part by itself
    mhz_by_seed: dict[int, float]
    critical_path: CriticalPath


def place_and_route(
    part: ChainPart,
    rectangle: Rectangle,
    flow: Flow,
    device: FpgaDevice,
    fabric: Fabric,
    *,
    seeds: Sequence[int],
    target_mhz: float,
    luts: int,
    enough_mhz: float = math.inf,
    copies: Sequence[Rectangle] = (),
    above: "Copy | None" = None,
    shared_rows: int = 0,
    constraints: str = "",
) -> Block:
    """Place and route a part with each of some seeds and keep the one with the highest clock.

    No further seeds are tried once a clock of `enough_mhz` is reached. `copies` are the rectangles
    that look like this one and get copies: no switch is used that one of them has not. `above`
    shares the first rows: this block keeps off what it has taken, and off the left half of their
    logic. The right half of the last `shared_rows` is for the block below. The part has so many
    `luts`. `constraints` has the pins of a front end, or the tool chooses them. Raises ToolError if
    with no seed the part fits the rectangle and is routed in time, or the tool fails.
    """
    taken = _right_half(rectangle, shared_rows, fabric)
    taken |= _only_here(rectangle, copies, fabric)
    if above:
        taken |= Taken.by(above) | _left_half(rectangle, above, fabric)
    ring, empty = with_ends_placed(part, rectangle, fabric, taken.bels, luts)
    taken |= Taken(empty, frozenset())
    netlist = netlist_text(_walled(ring, rectangle, fabric, taken))
    place = flow.place if constraints else flow.place_without_pins
    timing = ("--freq", str(target_mhz), "--timing-allow-fail")
    options = (*place, *_GIVE_UP, *timing)
    run = partial(nextpnr, flow, device, netlist, write=WALL, limit_s=_LIMIT_S)
    clocks: dict[int, float] = {}
    best, failed = None, None
    for seed in seeds:
        own = (*options, "--seed", str(seed))
        try:
            try:
                folder = run(constraints, own)
            except ToolError as error:
                if constraints or _SHUT_IN not in str(error):
                    raise
                pin = _AT.format(pin=fabric.farthest_pin(_package(device), rectangle))
                folder = run(pin, (*flow.place, *own))
            module = routed_netlist(folder)
        except ToolError as error:
            failed = error
            continue
        report = report_of(folder)
        clocks[seed] = clock_mhz(report)
        if clocks[seed] == max(clocks.values()):
            best = without_ring(module, part), critical_path(report)
        if clocks[seed] >= enough_mhz:
            break
    if best is None:
        raise failed or ValueError("seeds must name at least one seed")
    module, path = best
    return Block(part, rectangle, module, max(clocks.values()), clocks, path)


def _package(device: FpgaDevice) -> str:
    return device.options[device.options.index("--package") + 1]


def routed_netlist(folder: Path) -> Module:
    """The netlist that nextpnr has written into this folder."""
    (module,) = modules_of((folder / "routed.json").read_text("utf-8")).values()
    return module


def packed(modules: Mapping[str, Module], flow: Flow, device: FpgaDevice) -> dict[str, Any]:
    """The cells of a netlist as nextpnr places them, by name. ToolError if it fails."""
    options = (*flow.place_without_pins, "--pack-only")
    folder = nextpnr(flow, device, netlist_text(modules), "", options, write=WALL)
    cells: dict[str, Any] = routed_netlist(folder)["cells"]
    return cells


@dataclass(frozen=True)
class Copy:
    """A block, and where a copy of it goes: into a rectangle that is equal to its own one."""

    block: Block
    rectangle: Rectangle

    @property
    def shift(self) -> tuple[int, int]:
        """Columns and rows between the block and its copy."""
        rectangle = self.block.rectangle
        return self.rectangle.x - rectangle.x, self.rectangle.y - rectangle.y


@dataclass(frozen=True)
class Taken:
    """Places for cells and wires that are another block's."""

    bels: frozenset[str]
    wires: frozenset[str]

    def __or__(self, other: "Taken") -> "Taken":
        return Taken(self.bels | other.bels, self.wires | other.wires)

    @classmethod
    def by(cls, copy: Copy) -> "Taken":
        """What a copy of a block has taken, but for the clock, which all have."""
        module = copy.block.module
        clock = clock_of(module)
        bels = {cell["attributes"]["NEXTPNR_BEL"] for cell in module["cells"].values()}
        wires = {
            wire
            for net in module["netnames"].values()
            if net["bits"][0] != clock
            for wire, _ in route_of(net)
        }
        rectangle = copy.block.rectangle
        return cls(
            frozenset(shifted(bel, *copy.shift) for bel in bels if place_of(bel) in rectangle),
            frozenset(shifted(wire, *copy.shift) for wire in wires if place_of(wire) in rectangle),
        )


def _only_here(rectangle: Rectangle, copies: Sequence[Rectangle], fabric: Fabric) -> Taken:
    """Wires that a tile outside of the rectangle drives which is another one beside a copy."""
    shifts = [(copy.x - rectangle.x, copy.y - rectangle.y) for copy in copies]
    other = {
        (x, y)
        for x, y in rectangle.places(REACH)
        if (x, y) not in rectangle
        and not all(fabric.alike((x, y), (x + columns, y + rows)) for columns, rows in shifts)
    }
    return Taken(
        frozenset(),
        frozenset(
            wire
            for place in rectangle.places()
            for wire, driver in fabric.driven_from(place)
            if driver in other
        ),
    )


def _right_half(rectangle: Rectangle, rows: int, fabric: Fabric) -> Taken:
    """Places for cells in the right half of the last rows, and wires but those of the first row."""
    left, end = rectangle.width // 2, rectangle.y + rectangle.height
    half = Rectangle(rectangle.x + left, end - rows, rectangle.width - left, rows)
    return Taken(
        frozenset(bel for place in half.places() for bel, _ in fabric.bels(place)),
        frozenset(
            wire
            for place in half.places()
            if place[1] > half.y
            for wire in fabric.span_wires(place)
        ),
    )


def _left_half(rectangle: Rectangle, above: Copy, fabric: Fabric) -> Taken:
    """Places for cells in the left half of the rows shared with `above`, but of the first row."""
    rows = above.rectangle.y + above.rectangle.height - rectangle.y - 1
    half = Rectangle(rectangle.x, rectangle.y + 1, rectangle.width // 2, rows)
    bels = frozenset(bel for place in half.places() for bel, _ in fabric.bels(place))
    return Taken(bels, frozenset())


def _walled(
    part: ChainPart, rectangle: Rectangle, fabric: Fabric, taken: Taken
) -> dict[str, Module]:
    """The part with every place outside of the rectangle taken, and what is another block's.

    Around instances also the wires that lead out; the front end needs those to its pins.
    """
    top = part.modules[part.top]
    cells, nets = dict(top["cells"]), dict(top["netnames"])
    bel = ""
    for place in fabric.tiles:
        inside = place in rectangle
        for bel, cell in fabric.bels(place):
            if inside and bel not in taken.bels:
                continue
            cells[f"{WALL}_{len(cells)}"] = wall_cell(cell, bel)
    if part.instances:
        wires = _wires_of_others(rectangle, fabric, taken)
        last = next(reversed(cells.values()))
        nets[WALL] = wall_net(wires, highest_bit(part.modules) + 1, last)
    return {**part.modules, part.top: {**top, "cells": cells, "netnames": nets}}


def _wires_of_others(rectangle: Rectangle, fabric: Fabric, taken: Taken) -> list[str]:
    # A wire of its own ends up to REACH tiles outside, and one that begins there has its middle as
    # far from that.
    wires = [
        wire
        for place in rectangle.places(2 * REACH)
        if place not in rectangle
        for wire in fabric.span_wires(place)
    ]
    return wires + sorted(wire for wire in taken.wires if place_of(wire) in rectangle)
