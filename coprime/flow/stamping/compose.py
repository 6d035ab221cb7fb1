"""The whole device from placed and routed blocks: the front end once, the others copied."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .block import Block
from .chain import Chain, with_constants
from .fabric import Fabric, Rectangle
from .netlist import (
    LOCKED,
    WEAK,
    Bit,
    Module,
    Pin,
    Route,
    place_of,
    route_of,
    routing_text,
    shifted,
    source_of,
    word,
)

_UNIQUE = "WID"  # attribute that numbers block RAMs, whose contents the bitstream has by number
_LUT_TABLE = "INITVAL"
_MADE_AGAIN = ("ROUTING", "src", "hdlname")  # attributes that are another copy's, or not needed


@dataclass(frozen=True)
class Copy:
    """A block, and where a copy of it goes: into a rectangle that looks like its own one."""

    block: Block
    rectangle: Rectangle

    @property
    def shift(self) -> tuple[int, int]:
        """Columns and rows between the block and its copy."""
        own = self.block.rectangle
        return self.rectangle.x - own.x, self.rectangle.y - own.y


@dataclass(frozen=True)
class Composed:
    """A packed and placed netlist, for a router that leaves alone what is routed already."""

    module: Module
    routed: int  # nets that keep their routes
    left: int  # nets without: the chain, the clock, and those that must find other wires


class _Composition:
    """The netlist so far."""

    def __init__(self, chain: Chain, fabric: Fabric, front: Block):
        self.chain, self.fabric = chain, fabric
        source = front.module
        self.module: Module = {
            "settings": {k: v for k, v in source["settings"].items() if k != "route"},
            "attributes": source["attributes"],
            "ports": {},
            "cells": {},
            "netnames": {},
        }
        self.bits = 1
        self.block_rams = 0
        self.node = 0  # of the chain, the next one
        self.counts: Counter[bool] = Counter()
        self.clock: Bit = -1  # net of the clock in the fabric, once the front end is there

    def fresh(self) -> int:
        """A number for a net."""
        self.bits += 1
        return self.bits

    def add(self, copy: Copy, prefix: str, given: dict[Pin, Bit], outputs: dict[Pin, Bit]) -> None:
        """Add a copy, with the nets that lead to its inputs and those for its outputs.

        Names begin with `prefix` unless they are of an instance of the chain.
        """
        block = copy.block
        part, source = block.part, block.module
        names = {f"node_{k}": self.chain.instances[self.node + k] for k in range(part.instances)}

        def name(old: str) -> str:
            instance, dot, rest = old.partition(".")
            return names[instance] + dot + rest if instance in names else prefix + old

        new: dict[Bit, Bit] = {
            source["netnames"][part.outputs[pin]]["bits"][0]: bit for pin, bit in outputs.items()
        }
        pins = self._pins(source) if part.instances else set()
        clock = next(_output(c, "CLKO") for c in source["cells"].values() if c["type"] == "DCCA")
        if part.instances:
            new[clock] = self.clock
        gone: dict[Bit, list[str]] = {}
        for cell, port in part.inputs:
            own = source["cells"][cell]
            gone.setdefault(_output(own, port), []).append(_sink_wire(own, port))
        nets = {
            old: net
            for old, net in source["netnames"].items()
            if net["bits"][0] not in pins and not (net["bits"][0] == clock and part.instances)
        }
        routes = {
            old: _without(route_of(net), gone.get(net["bits"][0], ()))
            for old, net in nets.items()
            if net["bits"][0] != clock
        }
        moved = {old: self._moved(route, copy) for old, route in routes.items()}
        # A net that has to find other wires can only do so if its neighbours may make room.
        strength = LOCKED if all(moved[old] or not routes[old] for old in moved) else WEAK
        for old, net in nets.items():
            (bit,) = net["bits"]
            new.setdefault(bit, self.fresh())
            attributes = {k: v for k, v in net["attributes"].items() if k not in _MADE_AGAIN}
            if moved.get(old):
                attributes["ROUTING"] = routing_text(moved[old], strength)
            self.counts[bool(moved.get(old))] += 1
            self.module["netnames"][name(old)] = {
                "hide_name": 0,
                "bits": [new[bit]],
                "attributes": attributes,
            }
        if not part.instances:
            self.clock = new[clock]
            for port, pin in source["ports"].items():
                self.module["ports"][port] = {**pin, "bits": [new[bit] for bit in pin["bits"]]}
        for old, cell in source["cells"].items():
            if part.instances and cell["type"] in ("DCCA", "TRELLIS_IO"):
                continue
            connections = {
                port: [self._bit(new, bit) for bit in bits] or ["x"]
                for port, bits in cell["connections"].items()
            }
            parameters = cell["parameters"]
            self.module["cells"][name(old)] = {
                "hide_name": 0,
                "type": cell["type"],
                "parameters": parameters,
                "attributes": self._attributes(cell, copy),
                "port_directions": cell["port_directions"],
                "connections": connections,
            }
        cells = self.module["cells"]
        for (cell, port), pin in part.inputs.items():
            cells[name(cell)]["connections"][port] = [given[pin]]
        tables: dict[str, dict[str, int]] = {}
        for (cell, port), pin in part.constants.items():
            number = self.node + int(cell.partition(".")[0].removeprefix("node_"))
            tables.setdefault(cell, {})[port] = self.chain.constants[number][pin]
        for cell, constants in tables.items():
            own = cells[name(cell)]
            table = with_constants(int(own["parameters"][_LUT_TABLE], 2), constants)
            own["parameters"] = own["parameters"] | {_LUT_TABLE: word(table, 16)}
        self.node += part.instances

    def _bit(self, new: dict[Bit, Bit], bit: Bit) -> Bit:
        return bit if isinstance(bit, str) else new.setdefault(bit, self.fresh())

    def _attributes(self, cell: dict[str, Any], copy: Copy) -> dict[str, str]:
        kept = {} if cell["type"] in ("TRELLIS_COMB", "TRELLIS_FF") else cell["attributes"]
        kept = {key: value for key, value in kept.items() if key not in _MADE_AGAIN}
        if _UNIQUE in kept:
            self.block_rams += 1
            kept[_UNIQUE] = word(self.block_rams)
        bel = shifted(cell["attributes"]["NEXTPNR_BEL"], *copy.shift)
        return {**kept, "NEXTPNR_BEL": bel, "BEL_STRENGTH": word(LOCKED)}

    def _pins(self, source: Module) -> set[Bit]:
        """Nets between the clock's pin and its buffer, which the front end has."""
        return {
            bit
            for cell in source["cells"].values()
            if cell["type"] == "TRELLIS_IO"
            for bits in cell["connections"].values()
            for bit in bits
        }

    def _moved(self, route: Route, copy: Copy) -> Route:
        """A route in a copy; none if it leaves the rectangle, or switches are different there."""
        for wire, switch in route:
            if place_of(wire) not in copy.block.rectangle:
                return []
            if switch:
                place = place_of(switch)
                if place not in copy.block.rectangle and not self.fabric.alike(
                    place, place_of(shifted(switch, *copy.shift))
                ):
                    return []
        return [
            (shifted(wire, *copy.shift), switch and shifted(switch, *copy.shift))
            for wire, switch in route
        ]


def compose(chain: Chain, fabric: Fabric, front: Block, copies: Sequence[Copy]) -> Composed:
    """Put the front end and copies together, in the order of the chain."""
    composition = _Composition(chain, fabric, front)
    links = [{pin: composition.fresh() for pin in chain.links} for _ in range(len(copies) + 1)]
    composition.add(Copy(front, front.rectangle), "", dict(links[-1]), dict(links[0]))
    for index, copy in enumerate(copies):
        composition.add(copy, f"copy_{index}.", dict(links[index]), dict(links[index + 1]))
    return Composed(composition.module, composition.counts[True], composition.counts[False])


def _output(cell: dict[str, Any], port: str) -> Bit:
    bit: Bit = cell["connections"][port][0]
    return bit


def _sink_wire(cell: dict[str, Any], port: str) -> str:
    """The wire that leads into an input of a LUT or flip-flop."""
    place, slash, bel = cell["attributes"]["NEXTPNR_BEL"].rpartition("/")
    number = 2 * "ABCD".index(bel.partition(".")[0][-1]) + int(bel[-1])
    return f"{place}{slash}{port}{number}_SLICE"


def _without(route: Route, leaves: Iterable[str]) -> Route:
    """A route without the branches that lead to some wires only."""
    switches = dict(route)
    branches = Counter(source_of(switch) for switch in switches.values() if switch)
    for leaf in leaves:
        wire = leaf
        while wire in switches and switches[wire] and not branches[wire]:
            wire = source_of(switches.pop(wire))
            branches[wire] -= 1
    return list(switches.items()) if len(switches) > 1 else []
