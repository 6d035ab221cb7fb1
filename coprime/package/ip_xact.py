"""The design as an IP-XACT component, for tools that assemble systems.

It describes the ports, the bus interface, the registers and the files.
"""

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement

from coprime.bus.accelerator import Bus
from coprime.bus.port import WINDOW_BITS
from coprime.bus.register_classes import Window

from .description import Description
from .xml import ACCESS, add_codes, add_texts, written

__all__ = ["files"]

_IP_XACT = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
_AMBA = {"vendor": "amba.com", "library": "AMBA4", "version": "r0p0_0"}
_BUS_NAMES = {Bus.AXI4: "AXI4", Bus.AXI4_LITE: "AXI4-Lite"}
_PREFIX = "s_axi_"


def files(own: Description) -> Mapping[str, str]:
    """The design as an IP-XACT (IEEE 1685-2014) component."""
    component = Element("component", xmlns=_IP_XACT)
    vlnv = {"vendor": "coprime", "library": "coprocessors", "name": own.name}
    add_texts(component, **vlnv, version=own.version)
    _interface(SubElement(SubElement(component, "busInterfaces"), "busInterface"), own)
    _memory_map(SubElement(SubElement(component, "memoryMaps"), "memoryMap"), own)
    _model(SubElement(component, "model"), own)
    sets = SubElement(component, "fileSets")
    for name, kind, files in (
        ("verilog", "verilogSource", (own.verilog,)),
        ("headers", "cSource", own.headers),
    ):
        one = SubElement(sets, "fileSet")
        add_texts(one, name=name)
        for file in files:
            entry = SubElement(one, "file")
            add_texts(entry, name=file, fileType=kind)
            if kind == "cSource":
                add_texts(entry, isIncludeFile="true")
    add_texts(component, description=own.summary)
    return {f"{own.name}.xml": written(component)}


def _interface(interface: Element, own: Description) -> None:
    bus = _BUS_NAMES[own.bus]
    add_texts(interface, name=_PREFIX.rstrip("_"))
    SubElement(interface, "busType", {**_AMBA, "name": bus})
    kind = SubElement(SubElement(interface, "abstractionTypes"), "abstractionType")
    SubElement(kind, "abstractionRef", {**_AMBA, "name": f"{bus}_rtl"})
    maps = SubElement(kind, "portMaps")
    for port in own.ports:
        if port.name.startswith(_PREFIX):
            one = SubElement(maps, "portMap")
            logical = port.name.removeprefix(_PREFIX).upper()
            add_texts(SubElement(one, "logicalPort"), name=_LOGICAL.get(logical, logical))
            add_texts(SubElement(one, "physicalPort"), name=port.name)
    SubElement(SubElement(interface, "slave"), "memoryMapRef", memoryMapRef="registers")


_LOGICAL = {"ARESETN": "ARESETn"}


def _memory_map(found: Element, own: Description) -> None:
    add_texts(found, name="registers")
    block = SubElement(found, "addressBlock")
    add_texts(block, name="registers", baseAddress="'h0", range=f"'h{1 << WINDOW_BITS:X}", width=32)
    add_texts(block, usage="register")
    for register in own.registers:
        one = SubElement(block, "register")
        add_texts(one, name=register.name, description=register.doc)
        if isinstance(register, Window):
            add_texts(one, dim=register.words)
        add_texts(one, addressOffset=f"'h{register.address:X}", size=32)
        add_texts(one, access=ACCESS[register.access])
        for field in register.fields:
            part = SubElement(one, "field")
            add_texts(part, name=field.name, description=field.doc, bitOffset=field.offset)
            reset = SubElement(SubElement(part, "resets"), "reset")
            add_texts(reset, value=f"'h{own.reset(register, field):X}")
            add_texts(part, bitWidth=field.width)
            add_codes(part, own, register, field)
            add_texts(part, access=ACCESS[field.access])
            if field.access == "RW1C":
                add_texts(part, modifiedWriteValue="oneToClear")


def _model(model: Element, own: Description) -> None:
    add_texts(
        SubElement(SubElement(model, "views"), "view"),
        name="verilog",
        componentInstantiationRef="verilog",
    )
    instance = SubElement(SubElement(model, "instantiations"), "componentInstantiation")
    add_texts(instance, name="verilog", language="verilog", moduleName=own.name)
    add_texts(SubElement(instance, "fileSetRef"), localName="verilog")
    ports = SubElement(model, "ports")
    for port in own.ports:
        one = SubElement(ports, "port")
        add_texts(one, name=port.name)
        wire = SubElement(one, "wire")
        add_texts(wire, direction="out" if port.output else "in")
        if port.width > 1:
            vector = SubElement(SubElement(wire, "vectors"), "vector")
            add_texts(vector, left=port.width - 1, right=0)
