"""The design as an IP-XACT component, for tools that assemble systems.

A component describes the ports, the bus interfaces, the registers and the files. IEEE 1685-2014 is
for tools in general. AMD's Vivado reads and writes IEEE 1685-2009, with bus definitions of its own:
vivado.py. What the two have in common is here and in the template, once.
"""

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from coprime.bus.axi4_lite import PREFIX
from coprime.bus.axi_accelerator import RANDOM

from . import drivers
from .constraints import noise_files
from .description import Description
from .testbench.folder import simulation_sources
from .xml import filled_xml, written

_NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
_AMBA = {"vendor": "amba.com", "library": "AMBA4"}

ElementTree.register_namespace("", _NAMESPACE)


def component(
    description: Description,
    namespace: str,
    interfaces: Sequence[Mapping[str, object]],
    *,
    vivado: bool = False,
    **values: object,
) -> ElementTree.Element:
    """The design as a component of an edition of the standard, which its namespace names.

    An interface has its `name`, the `bus` (attributes of its definition), the `ports` of the module
    by their names on the bus; if need be `parameters`, `mode` ("slave") and `registers`, whether
    these are behind it. `vivado` has the views and the vendor's extensions.
    """
    return filled_xml(
        "component.xml.j2",
        own=description,
        namespace=namespace,
        interfaces=interfaces,
        simulation=simulation_sources(description),
        constraints=noise_files(description),
        software=(*description.headers, *drivers.files(description)),
        vivado=vivado,
        **values,
    )


def stream_ports(description: Description, prefix: str) -> dict[str, str]:
    """The ports with a prefix, by their names on the bus, which are in capitals."""
    return {
        port.name.removeprefix(prefix).upper(): port.name
        for port in description.ports
        if port.name.startswith(prefix)
    }


def files(description: Description) -> Mapping[str, str]:
    """The design as a component of IEEE 1685-2014."""
    slave = stream_ports(description, PREFIX)
    slave["ARESETn"] = slave.pop("ARESETN")
    buses = [(PREFIX, description.bus.title, slave)]
    if description.random:
        buses.append((RANDOM, "AXI4Stream", stream_ports(description, RANDOM)))
    interfaces = [
        {
            "name": prefix.rstrip("_"),
            "bus": {**_AMBA, "name": name, "version": "r0p0_0"},
            "ports": ports,
            "registers": prefix == PREFIX,
        }
        for prefix, name, ports in buses
    ]
    return {f"{description.name}.xml": written(component(description, _NAMESPACE, interfaces))}
