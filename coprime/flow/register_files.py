"""Register descriptions for other tools: CMSIS-SVD (debuggers, Rust's svd2rust) and IP-XACT.

IP-XACT also describes the ports, the bus interface and the files, so that tools that assemble
systems can take the design as it is.
"""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from coprime.bus.accelerator import Bus
from coprime.bus.port import WINDOW_BITS
from coprime.bus.register_classes import Field, Register, Window

from .description import Description

__all__ = ["ip_xact", "svd"]

_ACCESS = {"R": "read-only", "W": "write-only", "RW": "read-write", "RW1C": "read-write"}
_IP_XACT = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
_AMBA = {"vendor": "amba.com", "library": "AMBA4", "version": "r0p0_0"}
_BUS_NAMES = {Bus.AXI4: "AXI4", Bus.AXI4_LITE: "AXI4-Lite"}
_PREFIX = "s_axi_"


def svd(own: Description) -> str:
    """The registers as CMSIS-SVD 1.3: one peripheral, whose base address the user's system sets."""
    device = Element("device", schemaVersion="1.3")
    _text(device, name=own.name, version=own.version, description=own.summary)
    _text(device, addressUnitBits=8, width=32, size=32, access="read-write")
    _text(device, resetValue="0x0", resetMask="0xFFFFFFFF")
    peripheral = SubElement(SubElement(device, "peripherals"), "peripheral")
    _text(peripheral, name="COPRIME", description=own.summary, baseAddress="0x0")
    block = SubElement(peripheral, "addressBlock")
    _text(block, offset="0x0", size=f"0x{1 << WINDOW_BITS:X}", usage="registers")
    found = SubElement(peripheral, "registers")
    for register in own.registers:
        one = SubElement(found, "register")
        name = register.name
        if isinstance(register, Window):
            _text(one, dim=register.words, dimIncrement=4)
            name += "[%s]"
        _text(one, name=name, description=register.doc, addressOffset=f"0x{register.address:X}")
        reset = sum(own.reset(register, field) << field.offset for field in register.fields)
        _text(one, access=_ACCESS[register.access], resetValue=f"0x{reset:08X}")
        fields = SubElement(one, "fields")
        for field in register.fields:
            part = SubElement(fields, "field")
            _text(part, name=field.name, description=field.doc)
            _text(part, bitOffset=field.offset, bitWidth=field.width, access=_ACCESS[field.access])
            if field.access == "RW1C":
                _text(part, modifiedWriteValues="oneToClear")
            _codes(part, own, register, field)
    return _written(device)


def ip_xact(own: Description) -> str:
    """The design as an IP-XACT (IEEE 1685-2014) component."""
    component = Element("component", xmlns=_IP_XACT)
    vlnv = {"vendor": "coprime", "library": "coprocessors", "name": own.name}
    _text(component, **vlnv, version=own.version)
    _interface(SubElement(SubElement(component, "busInterfaces"), "busInterface"), own)
    _memory_map(SubElement(SubElement(component, "memoryMaps"), "memoryMap"), own)
    _model(SubElement(component, "model"), own)
    sets = SubElement(component, "fileSets")
    for name, kind, files in (
        ("verilog", "verilogSource", (own.verilog,)),
        ("headers", "cSource", own.headers),
    ):
        one = SubElement(sets, "fileSet")
        _text(one, name=name)
        for file in files:
            entry = SubElement(one, "file")
            _text(entry, name=file, fileType=kind)
            if kind == "cSource":
                _text(entry, isIncludeFile="true")
    _text(component, description=own.summary)
    return _written(component)


def _interface(interface: Element, own: Description) -> None:
    bus = _BUS_NAMES[own.bus]
    _text(interface, name=_PREFIX.rstrip("_"))
    SubElement(interface, "busType", {**_AMBA, "name": bus})
    kind = SubElement(SubElement(interface, "abstractionTypes"), "abstractionType")
    SubElement(kind, "abstractionRef", {**_AMBA, "name": f"{bus}_rtl"})
    maps = SubElement(kind, "portMaps")
    for port in own.ports:
        if port.name.startswith(_PREFIX):
            one = SubElement(maps, "portMap")
            logical = port.name.removeprefix(_PREFIX).upper()
            _text(SubElement(one, "logicalPort"), name=_LOGICAL.get(logical, logical))
            _text(SubElement(one, "physicalPort"), name=port.name)
    SubElement(SubElement(interface, "slave"), "memoryMapRef", memoryMapRef="registers")


_LOGICAL = {"ARESETN": "ARESETn"}


def _memory_map(found: Element, own: Description) -> None:
    _text(found, name="registers")
    block = SubElement(found, "addressBlock")
    _text(block, name="registers", baseAddress="'h0", range=f"'h{1 << WINDOW_BITS:X}", width=32)
    _text(block, usage="register")
    for register in own.registers:
        one = SubElement(block, "register")
        _text(one, name=register.name, description=register.doc)
        if isinstance(register, Window):
            _text(one, dim=register.words)
        _text(one, addressOffset=f"'h{register.address:X}", size=32)
        _text(one, access=_ACCESS[register.access])
        for field in register.fields:
            part = SubElement(one, "field")
            _text(part, name=field.name, description=field.doc, bitOffset=field.offset)
            reset = SubElement(SubElement(part, "resets"), "reset")
            _text(reset, value=f"'h{own.reset(register, field):X}")
            _text(part, bitWidth=field.width)
            _codes(part, own, register, field)
            _text(part, access=_ACCESS[field.access])
            if field.access == "RW1C":
                _text(part, modifiedWriteValue="oneToClear")


def _model(model: Element, own: Description) -> None:
    _text(
        SubElement(SubElement(model, "views"), "view"),
        name="verilog",
        componentInstantiationRef="verilog",
    )
    instance = SubElement(SubElement(model, "instantiations"), "componentInstantiation")
    _text(instance, name="verilog", language="verilog", moduleName=own.name)
    _text(SubElement(instance, "fileSetRef"), localName="verilog")
    ports = SubElement(model, "ports")
    for port in own.ports:
        one = SubElement(ports, "port")
        _text(one, name=port.name)
        wire = SubElement(one, "wire")
        _text(wire, direction="out" if port.output else "in")
        if port.width > 1:
            vector = SubElement(SubElement(wire, "vectors"), "vector")
            _text(vector, left=port.width - 1, right=0)


def _codes(part: Element, own: Description, register: Register, field: Field) -> None:
    """Add the codes that a field takes; both formats write them in one way."""
    codes = own.codes(register, field)
    if codes:
        values = SubElement(part, "enumeratedValues")
        for code in codes:
            _text(SubElement(values, "enumeratedValue"), name=code.name, value=int(code))


def _text(parent: Element, **children: object) -> None:
    """Add elements that hold a text, in this order."""
    for name, text in children.items():
        SubElement(parent, name).text = str(text)


def _written(root: Element) -> str:
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"
