"""What is stamped: a module whose instances form a chain, and the rest of the netlist around them.

Nothing here knows what the modules do. An instance's inputs are the clock, which all share;
outputs of the instance before it, the links; and constants, which may differ.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..tool_errors import ToolError
from .netlist import Bit, Module, Pin, bits_of, highest_bit, word

Sink = tuple[str, str]
"""A cell and its port."""
_LUT, _FLIP_FLOP = "LUT4", "TRELLIS_FF"
_LUT_INPUTS = "ABCD"
_MULTIPLIER = "MULT18X18D"
_SIGNALS = 4
"""Enables and resets, of each kind, that multipliers next to each other have."""


@dataclass(frozen=True)
class NodeChain:
    """The parts of a mapped netlist that has been stamped from one module and a front end."""

    modules: Mapping[str, Module]  # of the whole netlist
    top: str  # module with the instances
    node: str  # module that is repeated
    instances: Sequence[str]  # names of the instances, from first to last
    clock: str  # port of an instance
    links: Mapping[Pin, Pin]  # input of an instance: output of the one before it
    constants: Sequence[Mapping[Pin, int]]  # of each instance

    @classmethod
    def of(cls, modules: Mapping[str, Module], top: str, node: str) -> "NodeChain":
        """Find the chain of all instances of `node` in module `top`.

        Raises ToolError if they are none, or have other inputs than those above.
        """
        found = {
            name: cell["connections"]
            for name, cell in modules[top]["cells"].items()
            if cell["type"] == node
        }
        outputs = {
            bit: (name, pin)
            for name, connections in found.items()
            for pin, bit in bits_of(connections)
            if _direction(modules[node], pin) == "output"
        }
        after: dict[str | None, str] = {}
        links: dict[Pin, Pin] = {}
        for name, connections in found.items():
            drivers = {
                pin: outputs[bit] for pin, bit in _inputs(modules[node], connections, outputs)
            }
            before = {driver for driver, _ in drivers.values()}
            if len(before) > 1 or (before or {None}) & after.keys():
                raise ToolError(f"the instances of {node} are no chain")
            after[next(iter(before), None)] = name
            links |= {pin: output for pin, (_, output) in drivers.items()}
        instances: list[str] = []
        while (last := instances[-1] if instances else None) in after:
            instances.append(after[last])
        if len(instances) < 2 or len(instances) != len(found):
            raise ToolError(f"{node} must have at least two instances, on one chain")
        return cls(
            modules, top, node, instances, *_other_inputs(modules, node, found, instances, links)
        )

    @property
    def head(self) -> dict[Pin, Bit]:
        """What the first instance's linked inputs are connected to."""
        given = dict(bits_of(self.connections(0)))
        return {pin: given[pin] for pin in self.links}

    @property
    def tail(self) -> dict[Bit, Pin]:
        """The last instance's linked outputs, by what they are connected to."""
        given = dict(bits_of(self.connections(-1)))
        return {given[pin]: pin for pin in self.links.values()}

    def connections(self, index: int) -> dict[str, list[Bit]]:
        """What the ports of an instance are connected to."""
        cells = self.modules[self.top]["cells"]
        connections: dict[str, list[Bit]] = cells[self.instances[index]]["connections"]
        return connections


def _direction(module: Module, pin: Pin) -> str:
    direction: str = module["ports"][pin[0]]["direction"]
    return direction


def _inputs(
    module: Module, connections: Mapping[str, list[Bit]], among: Mapping[Bit, object]
) -> Iterator[tuple[Pin, Bit]]:
    for pin, bit in bits_of(connections):
        if _direction(module, pin) == "input" and bit in among:
            yield pin, bit


def _other_inputs(
    modules: Mapping[str, Module],
    node: str,
    found: Mapping[str, Mapping[str, list[Bit]]],
    instances: Sequence[str],
    links: Mapping[Pin, Pin],
) -> tuple[str, dict[Pin, Pin], list[dict[Pin, int]]]:
    shared: dict[Pin, set[Bit]] = {}
    constants: list[dict[Pin, int]] = []
    for name in instances:
        given = {
            pin: bit
            for pin, bit in bits_of(dict(found[name]))
            if _direction(modules[node], pin) == "input" and pin not in links
        }
        constants.append({pin: int(bit) for pin, bit in given.items() if bit in ("0", "1")})
        for pin, bit in given.items():
            if bit not in ("0", "1"):
                shared.setdefault(pin, set()).add(bit)
    if len(shared) != 1 or any(len(bits) != 1 for bits in shared.values()):
        raise ToolError(
            f"the instances of {node} must share one clock and nothing else, not {sorted(shared)}"
        )
    return next(iter(shared))[0], dict(links), constants


# --- The parts, each made a netlist of its own ----------------------------------------------------


@dataclass(frozen=True)
class ChainPart:
    """Some instances, or everything but them, with the chain closed to a ring."""

    modules: Mapping[str, Module]
    top: str
    instances: int  # 0 for the front end
    clock: Bit  # net of the clock in module `top`
    outputs: Mapping[Pin, str]  # nets that leave it, by the outputs of an instance
    inputs: Mapping[Sink, Pin]  # what they lead to here and must not in the whole, by its inputs
    constants: Mapping[Sink, Pin]  # inputs of LUTs that are constant, which the LUT replaces


def front_end(chain: NodeChain) -> ChainPart:
    """Everything but the instances."""
    modules = copy.deepcopy(dict(chain.modules))
    del modules[chain.node]
    top = modules[chain.top]
    for name in chain.instances:
        del top["cells"][name]
    pins = {output: pin for pin, output in chain.links.items()}
    sinks = {
        sink: pins[chain.tail[bit]]
        for bit in chain.tail
        for sink in _separate(modules, chain.top, bit)
    }
    head = _driven(modules, chain.top, chain.head)
    for cell in top["cells"].values():
        for bits in cell["connections"].values():
            bits[:] = [head[pins[chain.tail[bit]]] if bit in chain.tail else bit for bit in bits]
    # The tool keeps one name of a net: it must be the one by which the net is found again.
    named = {*head.values()}
    top["netnames"] = {
        name: net for name, net in top["netnames"].items() if named.isdisjoint(net["bits"])
    }
    outputs = {}
    for pin, bit in head.items():
        name = f"{pin[0]}_{pin[1]}"
        top["netnames"][name] = {"hide_name": 0, "bits": [bit], "attributes": {}}
        outputs[pin] = name
    clock = dict(bits_of(chain.connections(0)))[chain.clock, 0]
    return ChainPart(modules, chain.top, 0, clock, outputs, sinks, {})


def instances_in_a_ring(chain: NodeChain, count: int, signals: int = 0) -> ChainPart:
    """`count` instances, the last one's outputs leading to the first one.

    Multipliers next to each other share four inputs for enables and four for resets. Those of this
    part use the ones from number `signals` on, 0 to 3. Raises ToolError if they are too many.
    """
    node = copy.deepcopy(chain.modules[chain.node])
    for cell in node["cells"].values():
        if signals and cell["type"] == _MULTIPLIER:
            _renumber(cell, signals)
    modules = {name: module for name, module in chain.modules.items() if _is_primitive(module)} | {
        chain.node: node
    }
    ports = {name: port["bits"] for name, port in node["ports"].items()}
    constants = {}
    for pin, bit in bits_of(ports):
        if pin in chain.constants[0]:
            for cell, port in _separate(modules, chain.node, bit):
                constants[cell, port] = pin
                node["cells"][cell]["connections"][port] = ["x"]
    inside = {
        sink: pin
        for pin, bit in bits_of(ports)
        if pin in chain.links
        for sink in _separate(modules, chain.node, bit)
    }
    clock = 2
    bits = iter(range(clock + 1, 1 << 31))
    links = [{pin: next(bits) for pin in dict.fromkeys(chain.links.values())} for _ in range(count)]
    cells, nets = {}, {"clk": {"hide_name": 0, "bits": [clock], "attributes": {}}}
    for index in range(count):
        given = {pin: links[index - 1][output] for pin, output in chain.links.items()}
        given |= links[index]
        given[chain.clock, 0] = clock
        cells[f"node_{index}"] = {
            "hide_name": 0,
            "type": chain.node,
            "parameters": {},
            "attributes": {},
            "port_directions": {name: port["direction"] for name, port in node["ports"].items()},
            "connections": {
                name: [given.get((name, k), "x") for k in range(len(port["bits"]))]
                for name, port in node["ports"].items()
            },
        }
        for pin, bit in links[index].items():
            name = f"link{index}_{pin[0]}_{pin[1]}"
            nets[name] = {"hide_name": 0, "bits": [bit], "attributes": {}}
    modules["top"] = {
        "attributes": {"top": word(1)},
        "ports": {"clk": {"direction": "input", "bits": [clock]}},
        "cells": cells,
        "netnames": nets,
    }
    return ChainPart(
        modules,
        "top",
        count,
        clock,
        {pin: f"link{count - 1}_{output[0]}_{output[1]}" for pin, output in chain.links.items()},
        {(f"node_0.{cell}", port): pin for (cell, port), pin in inside.items()},
        {
            (f"node_{index}.{cell}", port): pin
            for index in range(count)
            for (cell, port), pin in constants.items()
        },
    )


def _renumber(multiplier: dict[str, Any], signals: int) -> None:
    """Have a multiplier use other ones of its enables and resets."""
    parameters = multiplier["parameters"]
    for kind in ("CE", "RST"):
        own = {key: name for key, name in parameters.items() if key.endswith(f"_{kind}")}
        others = {name: f"{kind}{int(name[len(kind) :]) + signals}" for name in own.values()}
        if any(int(name[len(kind) :]) >= _SIGNALS for name in others.values()):
            raise ToolError("the multipliers of two instances cannot be neighbours")
        parameters |= {key: others[name] for key, name in own.items()}
        for ports in (multiplier["connections"], multiplier["port_directions"]):
            ports |= {others[name]: ports.pop(name) for name in others.keys() & ports.keys()}


def with_constants(table: int, constants: Mapping[str, int]) -> int:
    """The table of a LUT of which some inputs, "A" to "D", are constant."""
    for port, value in constants.items():
        mask = 1 << _LUT_INPUTS.index(port)
        table = sum(
            (table >> ((row | mask) if value else (row & ~mask)) & 1) << row for row in range(16)
        )
    return table


def _driven(modules: Mapping[str, Module], top: str, head: Mapping[Pin, Bit]) -> dict[Pin, int]:
    """Nets for what the first instance is given, constants too: a LUT drives those."""
    cells = modules[top]["cells"]
    within: dict[Bit, Bit] = {}  # what module a net comes from, as that names it
    for cell in cells.values():
        inner = modules.get(cell["type"])
        if inner and not _is_primitive(inner):
            for (port, index), bit in bits_of(cell["connections"]):
                if inner["ports"][port]["direction"] == "output":
                    within[bit] = inner["ports"][port]["bits"][index]
    highest = highest_bit(modules)
    driven: dict[Pin, int] = {}
    for pin, bit in head.items():
        constant = within.get(bit, bit)
        if isinstance(bit, int) and isinstance(constant, int):
            driven[pin] = bit
            continue
        highest += 1
        driven[pin] = highest
        cells[f"constant_{pin[0]}_{pin[1]}"] = {
            "hide_name": 0,
            "type": _LUT,
            "parameters": {"INIT": word(0xFFFF if constant == "1" else 0, 16)},
            "attributes": {},
            "port_directions": {"Z": "output"},
            "connections": {"Z": [highest]},
        }
    return driven


def _is_primitive(module: Module) -> bool:
    return bool(int(module.get("attributes", {}).get("blackbox", "0"), 2))


def _separate(modules: Mapping[str, Module], module: str, bit: Bit, prefix: str = "") -> list[Sink]:
    """Cells that a net leads to, flattened; none of them in a place that its driver decides.

    A flip-flop with this net at its input DI must share a slice with the LUT that drives it: it
    gets the net at its input M.
    """
    sinks: list[Sink] = []
    for name, cell in modules[module]["cells"].items():
        for port, bits in list(cell["connections"].items()):
            if bit not in bits or cell["port_directions"][port] != "input":
                continue
            inner = modules.get(cell["type"])
            if inner and not _is_primitive(inner):
                for index, given in enumerate(bits):
                    if given == bit:
                        below = inner["ports"][port]["bits"][index]
                        sinks += _separate(modules, cell["type"], below, f"{prefix}{name}.")
                continue
            if cell["type"] == _FLIP_FLOP and port == "DI":
                cell["connections"]["M"] = cell["connections"].pop("DI")
                cell["port_directions"]["M"] = cell["port_directions"].pop("DI")
                port = "M"
            elif cell["type"] != _LUT:
                raise ToolError(f"the chain leads to {port} of a {cell['type']}, not to a LUT")
            sinks.append((prefix + name, port))
    return sinks
