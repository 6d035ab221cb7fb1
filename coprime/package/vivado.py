"""The design as a component of a Vivado IP repository: component.xml.

Source: components that Vivado's packager wrote. They are IEEE 1685-2009, in the namespace of the
SPIRIT consortium, with bus definitions and extensions of AMD's (UG1118 describes the packager).
"""

from collections.abc import Mapping
from xml.etree import ElementTree

from coprime.bus.axi4_lite import PREFIX
from coprime.bus.axi_accelerator import RANDOM
from coprime.bus.kinds import Bus
from coprime.cells.target import Target

from .description import Description
from .ip_xact import component, stream_ports
from .xml import written

_SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
_CLOCK, _RESET = f"{PREFIX}aclk", f"{PREFIX}aresetn"
_PROTOCOLS = {Bus.AXI4: "AXI4", Bus.AXI4_LITE: "AXI4LITE"}
_SEVEN_SERIES = (
    *("artix7", "artix7l", "aartix7", "qartix7", "kintex7", "kintex7l", "qkintex7", "qkintex7l"),
    *("spartan7", "aspartan7", "virtex7", "qvirtex7", "zynq", "azynq", "qzynq"),
)
_FAMILIES = {
    Target.XC7: _SEVEN_SERIES,
    Target.GENERIC: (
        *_SEVEN_SERIES,
        *("kintexu", "virtexu", "artixuplus", "kintexuplus", "virtexuplus", "zynquplus", "versal"),
    ),
}
"""Vivado's families for which the Verilog of a target is."""

ElementTree.register_namespace("spirit", _SPIRIT)
ElementTree.register_namespace("xilinx", "http://www.xilinx.com")


def files(description: Description) -> Mapping[str, str]:
    """The component, for targets that Vivado is for."""
    if description.target not in _FAMILIES:
        return {}
    families = _FAMILIES[description.target]
    root = component(description, _SPIRIT, _interfaces(description), vivado=True, families=families)
    for element in root.iter():  # a default namespace is not that of attributes
        element.attrib = {
            name if name.startswith("{") else f"{{{_SPIRIT}}}{name}": value
            for name, value in element.attrib.items()
        }
    return {"component.xml": written(root)}


def _interfaces(description: Description) -> list[Mapping[str, object]]:
    slave = stream_ports(description, PREFIX)
    del slave["ACLK"], slave["ARESETN"]
    protocol = {"PROTOCOL": _PROTOCOLS[description.bus]}
    streams = [_interface(PREFIX.rstrip("_"), "interface", "aximm", slave, protocol)]
    if description.random:
        ports = stream_ports(description, RANDOM)
        streams.append(_interface(RANDOM.rstrip("_"), "interface", "axis", ports))
    associated = {
        "ASSOCIATED_BUSIF": ":".join(str(stream["name"]) for stream in streams),
        "ASSOCIATED_RESET": _RESET,
    }
    active, level = {"POLARITY": "ACTIVE_LOW"}, {"SENSITIVITY": "LEVEL_HIGH"}
    interrupt = _interface("irq", "signal", "interrupt", {"INTERRUPT": "irq"}, level)
    return [
        {**streams[0], "registers": True},
        *streams[1:],
        _interface(_CLOCK, "signal", "clock", {"CLK": _CLOCK}, associated),
        _interface(_RESET, "signal", "reset", {"RST": _RESET}, active),
        {**interrupt, "mode": "master"},
    ]


def _interface(
    name: str,
    library: str,
    bus: str,
    ports: Mapping[str, str],
    parameters: Mapping[str, str] | None = None,
) -> dict[str, object]:
    definition = {"vendor": "xilinx.com", "library": library, "name": bus, "version": "1.0"}
    return {"name": name, "bus": definition, "ports": ports, "parameters": parameters or {}}
