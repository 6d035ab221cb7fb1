"""Netlists as Yosys and nextpnr write them: modules of cells and nets, in JSON."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..tool_errors import ToolError

Module = dict[str, Any]
"""Of a netlist: its `ports`, `cells` and `netnames`, as in the JSON."""
Bit = int | str
"""A net's number, or a constant: "0", "1", "x"."""
Pin = tuple[str, int]
"""A port, and which bit of it."""

LOCKED, OWN, LOOSE, WEAK = 5, 3, 2, 1
"""How strongly a cell or wire is bound: the tool may not touch it, may go on from it with the same
net, or may use it for another one (a wire of a block, any other one)."""

WALL = "wall"
"""What cells and nets that only keep others out begin with."""

_PLACE = re.compile(r"X(\d+)/Y(\d+)/")
_SWITCH = re.compile(r"X(\d+)/Y(\d+)/(-?\d+)_(-?\d+)_(.+)->(-?\d+)_(-?\d+)_(.+)")


def modules_of(text: str) -> dict[str, Module]:
    """The modules of a netlist by name."""
    modules: dict[str, Module] = json.loads(text)["modules"]
    return modules


def netlist_text(modules: Mapping[str, Module]) -> str:
    """A netlist of these modules."""
    return json.dumps({"creator": "coprime", "modules": modules})


def bits_of(ports: Mapping[str, list[Bit]]) -> Iterator[tuple[Pin, Bit]]:
    """Each bit of the ports or connections in a netlist."""
    for port, bits in ports.items():
        for index, bit in enumerate(bits):
            yield (port, index), bit


def highest_bit(modules: Mapping[str, Module]) -> int:
    """The greatest number of a net."""
    return max(
        bit
        for module in modules.values()
        for part in (*module["cells"].values(), *module["netnames"].values())
        for bits in (part["connections"].values() if "connections" in part else [part["bits"]])
        for bit in bits
        if isinstance(bit, int)
    )


def clock_of(module: Module) -> Bit:
    """The net after the clock's buffer, in a packed netlist. ToolError if it has none."""
    for cell in module["cells"].values():
        if cell["type"] == "DCCA":
            bit: Bit = cell["connections"]["CLKO"][0]
            return bit
    raise ToolError("nextpnr has not made the clock a global net")


def word(value: int, width: int = 32) -> str:
    """A number as netlists have parameters and attributes."""
    return format(value, f"0{width}b")


# --- Placement and routing, in attributes ---------------------------------------------------------

Route = list[tuple[str, str]]
"""Wires of a net, each with the switch that drives it ("" for the net's source)."""


def route_of(net: Mapping[str, Any]) -> Route:
    """The wires that a net is routed on."""
    parts = net["attributes"].get("ROUTING", "").split(";")
    return list(zip(parts[0:-2:3], parts[1:-1:3], strict=True)) if len(parts) > 2 else []


def strength_of(net: Mapping[str, Any]) -> int:
    """How strongly a net is bound to its wires, 0 without any."""
    return int(net["attributes"].get("ROUTING", "").rpartition(";")[2] or 0)


def routing_text(route: Route, strength: int) -> str:
    """The attribute ROUTING."""
    return ";".join(f"{wire};{switch};{strength}" for wire, switch in route)


def with_route(net: Mapping[str, Any], route: Route, strength: int) -> dict[str, Any]:
    """A net that is bound to these wires as strongly, or has no route."""
    attributes = {key: value for key, value in net["attributes"].items() if key != "ROUTING"}
    if route:
        attributes["ROUTING"] = routing_text(route, strength)
    return {**net, "attributes": attributes}


def place_of(name: str) -> tuple[int, int]:
    """Column and row in the name of a place for a cell, a wire or a switch."""
    found = _PLACE.match(name)
    assert found, name
    return int(found[1]), int(found[2])


def shifted(name: str, columns: int, rows: int) -> str:
    """The name of what is as many columns and rows away."""
    x, y = place_of(name)
    return _PLACE.sub(f"X{x + columns}/Y{y + rows}/", name, count=1)


def source_of(switch: str) -> str:
    """The wire that a switch connects to."""
    found = _SWITCH.fullmatch(switch)
    assert found, switch
    return f"X{int(found[1]) + int(found[3])}/Y{int(found[2]) + int(found[4])}/{found[5]}"


def without_branches(route: Route, leaves: Iterable[str]) -> Route:
    """A route without the branches that lead to some wires only."""
    switches = dict(route)
    branches = Counter(source_of(switch) for switch in switches.values() if switch)
    for leaf in leaves:
        wire = leaf
        while wire in switches and switches[wire] and not branches[wire]:
            wire = source_of(switches.pop(wire))
            branches[wire] -= 1
    return list(switches.items()) if len(switches) > 1 else []


# --- Walls ----------------------------------------------------------------------------------------


def wall_cell(kind: str, bel: str) -> dict[str, Any]:
    """A cell of some type that takes a place."""
    return {
        "hide_name": 0,
        "type": kind,
        "parameters": {},
        "attributes": {"NEXTPNR_BEL": bel, "BEL_STRENGTH": word(LOCKED)},
        "port_directions": {},
        "connections": {},
    }


def wall_net(wires: Iterable[str], bit: Bit, cell: dict[str, Any]) -> dict[str, Any]:
    """A net that takes wires. It leads to `cell`, a LUT's place: the tool drops nets to nothing."""
    cell["connections"]["A"], cell["port_directions"]["A"] = [bit], "input"
    route = routing_text([(wire, "") for wire in wires], LOCKED)
    return {"hide_name": 0, "bits": [bit], "attributes": {"ROUTING": route}}
