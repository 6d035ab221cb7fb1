"""What must be true of a composed netlist before a tool routes the rest of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..tools import ToolError
from .chain import Chain
from .fabric import Fabric
from .netlist import Bit, Module, route_of, source_of


def check(module: Module, chain: Chain, fabric: Fabric) -> None:
    """Assert what a stamped netlist must fulfil.

    Each place for a cell exists and is used once; each net has one driver; no wire belongs to two
    nets, and each is driven by one switch, from a wire of the same net; the cells are those of the
    chain's netlist, each once. Raises ToolError that names the first fault.
    """
    for fault in (
        *_places(module, fabric),
        *_drivers(module),
        *_wires(module),
        *_cells(module, chain),
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


def _cells(module: Module, chain: Chain) -> Iterator[str]:
    """Flip-flops, block RAMs and multipliers, which packing neither merges nor makes."""
    expected: Counter[str] = Counter()
    kinds: dict[str, str] = {}
    for name, kind in _flat(chain.modules, chain.top):
        expected[kind] += 1
        kinds[name] = kind
    for kind in ("TRELLIS_FF", "DP16KD", "MULT18X18D"):
        found = {name for name, cell in module["cells"].items() if cell["type"] == kind}
        wanted = {name for name in kinds if kinds[name] == kind}
        for name in sorted(found ^ wanted):
            yield f"{name}, a {kind}, is {'missing' if name in wanted else 'not of the design'}"


def _flat(
    modules: Mapping[str, dict[str, Any]], module: str, prefix: str = ""
) -> Iterator[tuple[str, str]]:
    for name, cell in modules[module]["cells"].items():
        inner = modules.get(cell["type"])
        if inner and not int(inner.get("attributes", {}).get("blackbox", "0"), 2):
            yield from _flat(modules, cell["type"], f"{prefix}{name}.")
        else:
            yield prefix + name, cell["type"]
