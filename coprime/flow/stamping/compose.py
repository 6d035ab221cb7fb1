"""The whole device from placed and routed blocks: the front end once, the others copied."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .block import Block, Copy
from .chain import NodeChain, with_constants
from .fabric import Fabric
from .netlist import (
    LOCKED,
    LOOSE,
    OWN,
    WEAK,
    Bit,
    Module,
    Pin,
    Route,
    clock_of,
    place_of,
    route_of,
    routing_text,
    shifted,
    without_branches,
    word,
)

_MULTIPLIER_INPUT = re.compile(r"X\d+/Y\d+/J\w+_MULT18")
_UNIQUE = "WID"  # attribute that numbers block RAMs, whose contents the bitstream has by number
_LUT_TABLE = "INITVAL"
_SETTLED = ("route", "router")  # settings of the tool that hold for a block only
_MADE_AGAIN = ("ROUTING", "src", "hdlname")  # attributes that are another copy's, or not needed


Links = Mapping[Pin, Bit]
"""Nets between two rectangles, by the inputs that they lead to."""


@dataclass(frozen=True)
class Composed:
    """A packed and placed netlist, for a router that does not change existing routes."""

    module: Module
    open: frozenset[Bit]
    """Nets to be routed before all others: links, and those without a route in a copy."""
    routed: int  # nets that keep their routes
    left: int
    """Nets without: most are inside of a slice and need none; the chain, the clock, and those that
    must find other wires."""


class _Composition:
    """The netlist so far."""

    def __init__(
        self,
        chain: NodeChain,
        fabric: Fabric,
        front: Block,
        copies: Sequence[Copy],
        loose: Collection[Block],
    ):
        self._chain, self._fabric, self._loose = chain, fabric, loose
        self._of_copies = {place for copy in copies for place in copy.rectangle.places()}
        self.module: Module = {
            "settings": {
                key: value for key, value in front.module["settings"].items() if key not in _SETTLED
            },
            "attributes": front.module["attributes"],
            "ports": {},
            "cells": {},
            "netnames": {},
        }
        self.open: set[Bit] = set()
        self.routes: Counter[bool] = Counter()
        """Nets with and without a route."""
        self._routes: dict[Block, Mapping[str, Route]] = {}
        self._bits = 1
        self._block_rams = 0
        self._clock: Bit = -1  # net of the clock in the fabric, once the front end is there

    def fresh(self) -> int:
        """A number for a net."""
        self._bits += 1
        return self._bits

    def add_front_end(self, front: Block, given: Links, outputs: Links) -> None:
        """Add the front end, with the chain's nets that lead to it and from it."""
        own = Copy(front, front.rectangle)
        numbers = self._add(own, lambda name: name, given, outputs, front.module["cells"], {})
        self._clock = numbers[clock_of(front.module)]
        for port, pads in front.module["ports"].items():
            bits = [numbers[bit] for bit in pads["bits"]]
            self.module["ports"][port] = {**pads, "bits": bits}

    def add_instances(self, copy: Copy, first: int, given: Links, outputs: Links) -> None:
        """Add a copy of some instances, of which the first one has number `first` on the chain."""
        source, part = copy.block.module, copy.block.part

        def name(old: str) -> str:
            instance, dot, rest = old.partition(".")
            if instance not in source_names:
                return f"{self._chain.instances[first]}.{old}"
            return source_names[instance] + dot + rest

        source_names = {
            f"node_{k}": self._chain.instances[first + k] for k in range(part.instances)
        }
        # The clock comes from the front end's pin and buffer.
        cells = {
            old: cell
            for old, cell in source["cells"].items()
            if cell["type"] not in ("DCCA", "TRELLIS_IO")
        }
        self._add(copy, name, given, outputs, cells, {clock_of(source): self._clock})
        tables: dict[str, dict[str, int]] = {}
        for (cell, port), pin in part.constants.items():
            index = int(cell.partition(".")[0].removeprefix("node_"))
            tables.setdefault(name(cell), {})[port] = self._chain.constants[first + index][pin]
        for cell, constants in tables.items():
            own = self.module["cells"][cell]
            table = with_constants(int(own["parameters"][_LUT_TABLE], 2), constants)
            own["parameters"] = own["parameters"] | {_LUT_TABLE: word(table, 16)}

    def _add(
        self,
        copy: Copy,
        name: Callable[[str], str],
        given: Links,
        outputs: Links,
        cells: Mapping[str, Any],
        shared: Mapping[Bit, Bit],
    ) -> dict[Bit, Bit]:
        """Add some cells of a block and the nets between them; give the new numbers of nets.

        `shared` has the nets that are there already.
        """
        source, part = copy.block.module, copy.block.part
        numbers = dict(shared)
        for pin, bit in outputs.items():
            numbers[source["netnames"][part.outputs[pin]]["bits"][0]] = bit
        used = {
            bit for cell in cells.values() for bits in cell["connections"].values() for bit in bits
        }
        nets = {
            old: net
            for old, net in source["netnames"].items()
            if net["bits"][0] in used and net["bits"][0] not in shared
        }
        self._add_nets(copy, name, nets, numbers)
        for old, cell in cells.items():
            self.module["cells"][name(old)] = {
                "hide_name": 0,
                "type": cell["type"],
                "parameters": cell["parameters"],
                "attributes": self._attributes(cell, copy),
                "port_directions": cell["port_directions"],
                "connections": {
                    # An empty list is no connection that the tool takes back.
                    port: [self._number(numbers, bit) for bit in bits] or ["x"]
                    for port, bits in cell["connections"].items()
                },
            }
        for (old, port), pin in part.inputs.items():
            self.module["cells"][name(old)]["connections"][port] = [given[pin]]
        return numbers

    def _add_nets(
        self,
        copy: Copy,
        name: Callable[[str], str],
        nets: Mapping[str, Any],
        numbers: dict[Bit, Bit],
    ) -> None:
        part, routes = copy.block.part, self._kept(copy.block)
        links = set(part.outputs.values())
        strength = LOOSE if copy.block in self._loose else LOCKED if part.instances else WEAK
        for old, net in nets.items():
            number = self._number(numbers, net["bits"][0])
            attributes = {k: v for k, v in net["attributes"].items() if k not in _MADE_AGAIN}
            route = routes.get(old, [])
            moved = self._moved(route, copy) if part.instances else self._apart(route)
            if moved:
                attributes["ROUTING"] = routing_text(moved, OWN if old in links else strength)
            elif old in routes and part.instances:
                self.open.add(number)
            self.routes[bool(moved)] += 1
            self.module["netnames"][name(old)] = {
                "hide_name": 0,
                "bits": [number],
                "attributes": attributes,
            }

    def _kept(self, block: Block) -> Mapping[str, Route]:
        """The routes in a block, the same for all its copies."""
        if block not in self._routes:
            self._routes[block] = _kept_routes(block)
        return self._routes[block]

    def _number(self, numbers: dict[Bit, Bit], bit: Bit) -> Bit:
        return bit if isinstance(bit, str) else numbers.setdefault(bit, self.fresh())

    def _attributes(self, cell: Mapping[str, Any], copy: Copy) -> dict[str, str]:
        kept = {} if cell["type"] in ("TRELLIS_COMB", "TRELLIS_FF") else cell["attributes"]
        kept = {key: value for key, value in kept.items() if key not in _MADE_AGAIN}
        if _UNIQUE in kept:
            self._block_rams += 1
            kept[_UNIQUE] = word(self._block_rams)
        bel = shifted(cell["attributes"]["NEXTPNR_BEL"], *copy.shift)
        return {**kept, "NEXTPNR_BEL": bel, "BEL_STRENGTH": word(LOCKED)}

    def _apart(self, route: Route) -> Route:
        """A route of the front end; none if it takes a wire of a copy."""
        return [] if any(place_of(wire) in self._of_copies for wire, _ in route) else route

    def _moved(self, route: Route, copy: Copy) -> Route:
        """A route in a copy; none if it leaves the rectangle, or switches are different there."""
        rectangle, (columns, rows) = copy.block.rectangle, copy.shift
        for wire, switch in route:
            x, y = place_of(wire)
            other = (x + columns, y + rows)
            if (x, y) not in rectangle and not self._fabric.same_edge((x, y), other):
                return []
            if switch and place_of(switch) not in rectangle:
                x, y = place_of(switch)
                # At the border of the device that place may be outside.
                if not self._fabric.alike((x, y), (x + columns, y + rows)):
                    return []
        return [
            (shifted(wire, *copy.shift), switch and shifted(switch, *copy.shift))
            for wire, switch in route
        ]


def compose(
    chain: NodeChain,
    fabric: Fabric,
    front: Block,
    copies: Sequence[Copy],
    loose: Collection[Block] = (),
) -> Composed:
    """Put the front end and copies together, in the order of the chain.

    Links may take wires of blocks that are `loose`, and of their copies. In the end the tool may
    move the routes of the front end.
    """
    composition = _Composition(chain, fabric, front, copies, loose)
    links: list[Links] = [
        {pin: composition.fresh() for pin in chain.links} for _ in range(len(copies) + 1)
    ]
    composition.add_front_end(front, links[-1], links[0])
    first = 0
    for copy, given, outputs in zip(copies, links[:-1], links[1:], strict=True):
        composition.add_instances(copy, first, given, outputs)
        first += copy.block.part.instances
    composition.open |= {bit for link in links for bit in link.values()}
    routes = composition.routes
    return Composed(composition.module, frozenset(composition.open), routes[True], routes[False])


def _kept_routes(block: Block) -> dict[str, Route]:
    source, clock = block.module, clock_of(block.module)
    multipliers = {
        place_of(cell["attributes"]["NEXTPNR_BEL"])
        for cell in source["cells"].values()
        if cell["type"] == "MULT18X18D"
    }
    routes: dict[str, Route] = {}
    for name, net in source["netnames"].items():
        route = route_of(net)
        if net["bits"][0] != clock and len(route) > 1:
            routes[name] = without_branches(route, _idle(route, multipliers))
    return routes


def _idle(route: Route, multipliers: Container[tuple[int, int]]) -> Iterator[str]:
    """Wires into multipliers at other places than these.

    The tool has one enable and reset for all multipliers next to each other: the dummies that keep
    a place free get them, too.
    """
    for wire, _ in route:
        if _MULTIPLIER_INPUT.fullmatch(wire) and place_of(wire) not in multipliers:
            yield wire
