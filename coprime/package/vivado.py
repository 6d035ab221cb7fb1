"""The design as a component of a Vivado IP repository: component.xml.

Source: components that Vivado's packager wrote. They are IEEE 1685-2009, in the namespace of the
SPIRIT consortium, with bus definitions and extensions of AMD's (UG1118 describes the packager).
"""

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement

from coprime.bus.axi4_lite import PREFIX
from coprime.bus.axi_accelerator import RANDOM, Bus
from coprime.cells.target import Target

from .description import Description
from .ip_xact import (
    Edition,
    FileSet,
    Interface,
    common_sets,
    component,
    port_maps,
    stream_ports,
)
from .xml import add_texts, written

__all__ = ["files"]

_SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
_XILINX = "http://www.xilinx.com"
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
_VIEWS = {"synthesis": "Synthesis", "simulation": "Simulation"}


def files(own: Description) -> Mapping[str, str]:
    """The component, for targets that Vivado is for."""
    if own.target not in _FAMILIES:
        return {}
    sets = (
        *(FileSet(_view(tool), {own.verilog: "verilogSource"}) for tool in _VIEWS),
        *common_sets(own),
    )
    root = component(own, _Edition2009(), _interfaces(own), sets)
    _identify_parameters(root)
    parameter = SubElement(SubElement(root, "parameters"), "parameter")
    add_texts(parameter, name="Component_Name")
    named = {"resolve": "user", "id": "PARAM_VALUE.Component_Name", "order": "1"}
    SubElement(parameter, "value", named).text = own.name
    _extensions(SubElement(root, "vendorExtensions"), own)
    _qualify(root)
    return {"component.xml": written(root)}


def _interfaces(own: Description) -> list[Interface]:
    slave = stream_ports(own, PREFIX)
    del slave["ACLK"], slave["ARESETN"]
    interfaces = [
        Interface(
            PREFIX.rstrip("_"),
            _bus("interface", "aximm"),
            slave,
            registers=True,
            parameters={"PROTOCOL": _PROTOCOLS[own.bus]},
        )
    ]
    if own.random:
        stream = _bus("interface", "axis")
        interfaces.append(Interface(RANDOM.rstrip("_"), stream, stream_ports(own, RANDOM)))
    associated = {
        "ASSOCIATED_BUSIF": ":".join(interface.name for interface in interfaces),
        "ASSOCIATED_RESET": _RESET,
    }
    return [
        *interfaces,
        Interface(_CLOCK, _bus("signal", "clock"), {"CLK": _CLOCK}, parameters=associated),
        Interface(
            _RESET,
            _bus("signal", "reset"),
            {"RST": _RESET},
            parameters={"POLARITY": "ACTIVE_LOW"},
        ),
        Interface(
            "irq",
            _bus("signal", "interrupt"),
            {"INTERRUPT": "irq"},
            mode="master",
            parameters={"SENSITIVITY": "LEVEL_HIGH"},
        ),
    ]


def _bus(library: str, name: str) -> dict[str, str]:
    return {"vendor": "xilinx.com", "library": library, "name": name, "version": "1.0"}


class _Edition2009(Edition):
    namespace = _SPIRIT

    def number(self, value: int) -> str:
        return f"0x{value:X}"

    def interface(self, one: Element, interface: Interface) -> None:
        SubElement(one, "abstractionType", interface.abstraction)
        mode = SubElement(one, interface.mode)
        if interface.registers:
            SubElement(mode, "memoryMapRef", memoryMapRef="registers")
        port_maps(one, interface)

    def reset_register(self, one: Element, value: int) -> None:
        add_texts(SubElement(one, "reset"), value=self.number(value))

    def reset_field(self, part: Element, value: int) -> None:
        """Registers have the reset values."""

    def model(self, model: Element, own: Description) -> None:
        views = SubElement(model, "views")
        for tool, title in _VIEWS.items():
            view = SubElement(views, "view")
            add_texts(view, name=_view(tool), displayName=title)
            add_texts(view, envIdentifier=f"verilogSource:vivado.xilinx.com:{tool}")
            add_texts(view, language="verilog", modelName=own.name)
            add_texts(SubElement(view, "fileSetRef"), localName=_view(tool))

    def vector(self, wire: Element) -> Element:
        return SubElement(wire, "vector")


def _view(tool: str) -> str:
    return f"xilinx_verilog{tool}"


def _identify_parameters(root: Element) -> None:
    """Give the values of the interfaces' parameters the identifiers that Vivado looks for."""
    for interface in root.iter("busInterface"):
        stem = f"BUSIFPARAM_VALUE.{(interface.findtext('name') or '').upper()}"
        for parameter in interface.iter("parameter"):
            for value in parameter.iter("value"):
                value.set("id", f"{stem}.{parameter.findtext('name')}")


def _extensions(extensions: Element, own: Description) -> None:
    core = SubElement(extensions, "xilinx:coreExtensions")
    families = SubElement(core, "xilinx:supportedFamilies")
    for family in _FAMILIES[own.target]:
        found = SubElement(families, "xilinx:family", {"xilinx:lifeCycle": "Production"})
        found.text = family
    taxonomies = SubElement(core, "xilinx:taxonomies")
    SubElement(taxonomies, "xilinx:taxonomy").text = "/UserIP"
    SubElement(core, "xilinx:displayName").text = f"{own.name}: {own.summary}"
    SubElement(core, "xilinx:coreRevision").text = "1"


def _qualify(root: Element) -> None:
    """Put names into the SPIRIT namespace where they are not in one."""
    root.attrib = {"xmlns:spirit": root.attrib.pop("xmlns"), "xmlns:xilinx": _XILINX}
    for element in root.iter():
        if ":" not in element.tag:
            element.tag = f"spirit:{element.tag}"
        element.attrib = {
            name if ":" in name else f"spirit:{name}": value
            for name, value in element.attrib.items()
        }
