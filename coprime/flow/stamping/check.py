"""Checks of a composed netlist before a tool routes the rest of it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from ..tool_errors import ToolError
from .fabric import Fabric
from .netlist import Bit, Module, route_of, source_of


def check(module: Module, fabric: Fabric, whole: Mapping[str, Any]) -> None:
    """Assert what a stamped netlist must fulfil.

    Each place for a cell exists and is used once; each net has one driver; no wire belongs to two
    nets, and each is driven by one switch, from a wire of the same net; the netlist is the one that
    the tool packs, `whole`, the cells of the design by name. Raises ToolError that names the first
    fault.
    """
    for fault in chain(
        _places(module, fabric), _drivers(module), _wires(module), _differences(module, whole)
    ):
        raise ToolError(f"the stamped netlist is wrong: {fault}")


def _places(module: Module, fabric: Fabric) -> Iterator[str]:
    kinds = {bel: cell for place in fabric.tiles for bel, cell in fabric.bels(place)}
    known = set(kinds.values())
    used: dict[str, str] = {}
    for name, cell in module["cells"].items():
        bel = cell["attributes"]["NEXTPNR_BEL"]
        if cell["type"] in known and kinds.get(bel) != cell["type"]:
            yield f"{name} is placed on {bel}, which is no {cell['type']}"
        if bel in used:
            yield f"{name} and {used[bel]} are both placed on {bel}"
        used[bel] = name


def _drivers(module: Module) -> Iterator[str]:
    drivers: dict[Bit, str] = {}
    led: dict[Bit, str] = {}
    pads = {bit for port in module["ports"].values() for bit in port["bits"]}
    for name, cell in module["cells"].items():
        for port, bits in cell["connections"].items():
            for bit in bits:
                if isinstance(bit, str) or bit in pads:
                    continue
                if cell["port_directions"][port] == "output":
                    if bit in drivers:
                        yield f"{name} and {drivers[bit]} drive the same net"
                    drivers[bit] = name
                else:
                    led[bit] = f"{port} of {name}"
    for bit, where in led.items():
        if bit not in drivers:
            yield f"{where} is connected to a net that nothing drives"


def _wires(module: Module) -> Iterator[str]:
    owners: dict[str, str] = {}
    for name, net in module["netnames"].items():
        route = dict(route_of(net))
        for wire, switch in route.items():
            if wire in owners:
                yield f"the nets {name} and {owners[wire]} have the wire {wire}"
            owners[wire] = name
            if switch and source_of(switch) not in route:
                yield f"the net {name} has {wire} but not the wire before it"


# --- Equal to the whole design --------------------------------------------------------------------

_CONSTANTS = {"0" * 16: "0", "1" * 16: "1"}
_AUTOMATIC = "$nextpnr"  # in the names of cells that packing makes, with numbers of its own
_SHARED = re.compile(r"(?:CLK|CE|RST)[0-3]")
"""Inputs of a multiplier that its neighbours have, too; its parameters say which one it uses."""
_Driver = tuple[object, ...]


def _differences(module: Module, whole: Mapping[str, Any]) -> Iterator[str]:
    """Cells of two packed netlists that differ: in type, parameters, or what drives an input.

    They are compared by name; those that packing has named, by what they do.
    """
    ours, theirs = _Netlist(module["cells"]), _Netlist(whole)
    for name in sorted(ours.named.keys() | theirs.named.keys()):
        if name not in theirs.named:
            yield f"{name} is not of the design"
        elif name not in ours.named:
            yield f"{name} is missing"
        elif (a := ours.described(name)) != (b := theirs.described(name)):
            yield f"{name} is {_difference(a, b)}"
    if ours.automatic != theirs.automatic:
        yield "carry chains differ"


def _difference(a: Mapping[str, object], b: Mapping[str, object]) -> str:
    (key, *_) = (key for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key))
    return f"different at {key}: {a.get(key)}, not {b.get(key)}"


class _Netlist:
    """Cells of a packed netlist, and what drives them."""

    def __init__(self, cells: Mapping[str, Any]):
        self._cells = cells
        self._drivers: dict[Bit, tuple[str, str]] = {}
        self._known: dict[str, _Driver] = {}
        for name, cell in cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output" and bits:
                    self._drivers[bits[0]] = name, port
        plain = [name for name in cells if _constant(cells[name]) is None]
        self.named = {name: cells[name] for name in plain if _AUTOMATIC not in name}
        self.automatic = Counter(self._identity(name) for name in plain if _AUTOMATIC in name)

    def described(self, name: str) -> dict[str, object]:
        """Type, parameters and the drivers of the inputs of a cell."""
        cell = self._cells[name]
        flip_flop = cell["type"] == "TRELLIS_FF"
        described: dict[str, object] = {"type": cell["type"]} | cell["parameters"]
        if flip_flop:  # whether the LUT of its slice drives it, or something else does
            described.pop("SD", None)
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "input" and bits and not isinstance(bits[0], str):
                described["D" if flip_flop and port in ("DI", "M") else port] = self._driver(
                    bits[0]
                )
        if cell["type"] == "MULT18X18D":
            chosen = {
                key: described.get(str(value))
                for key, value in cell["parameters"].items()
                if _SHARED.fullmatch(value)
            }
            described = {k: v for k, v in described.items() if not _SHARED.fullmatch(k)} | chosen
        return described

    def _driver(self, bit: Bit) -> _Driver | None:
        if bit not in self._drivers:
            return None
        name, port = self._drivers[bit]
        constant = _constant(self._cells[name])
        if constant is not None:
            return (constant,)
        return (self._identity(name) if _AUTOMATIC in name else name), port

    def _identity(self, name: str) -> _Driver:
        """What a cell that packing has named does: it has no loops without other cells."""
        if name not in self._known:
            self._known[name] = (hash(tuple(sorted(self.described(name).items()))),)
        return self._known[name]


def _constant(cell: Mapping[str, Any]) -> str | None:
    """The value of a LUT that has no inputs."""
    if cell["type"] != "TRELLIS_COMB" or cell["parameters"].get("MODE", "LOGIC") != "LOGIC":
        return None
    for port, bits in cell["connections"].items():
        if cell["port_directions"][port] == "input" and bits and not isinstance(bits[0], str):
            return None
    return _CONSTANTS.get(cell["parameters"]["INITVAL"])
