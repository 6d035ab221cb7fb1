"""The design as an IP-XACT component, for tools that assemble systems.

A component describes the ports, the bus interfaces, the registers and the files. IEEE 1685-2014 is
for tools in general. AMD's Vivado reads and writes IEEE 1685-2009, with bus definitions of its own:
vivado.py. What the two have in common is here, once.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from coprime.bus.axi4_lite import PREFIX
from coprime.bus.axi_accelerator import RANDOM, Bus
from coprime.bus.port import WINDOW_BITS
from coprime.bus.register_classes import Window

from . import drivers
from .description import Description, Port
from .testbench.folder import simulation_sources
from .xml import ACCESS, add_codes, add_texts, written

__all__ = [
    "Edition",
    "FileSet",
    "Interface",
    "common_sets",
    "component",
    "files",
    "port_maps",
    "stream_ports",
]

_AMBA = {"vendor": "amba.com", "library": "AMBA4"}
_BUS_NAMES = {Bus.AXI4: "AXI4", Bus.AXI4_LITE: "AXI4-Lite"}


@dataclass(frozen=True)
class Interface:
    """A bus interface.

    Parameters
    ----------
    name : str
    bus : attributes that name the bus definition; its abstraction has the suffix `_rtl`
    ports : the ports of the module, by their names on the bus
    mode : "slave" or "master"
    registers : whether the registers are behind it
    parameters : by name
    """

    name: str
    bus: Mapping[str, str]
    ports: Mapping[str, str]
    mode: str = "slave"
    registers: bool = False
    parameters: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def abstraction(self) -> dict[str, str]:
        """Attributes that name the abstraction of the bus."""
        return {**self.bus, "name": f"{self.bus['name']}_rtl"}


@dataclass(frozen=True)
class FileSet:
    """Files for one purpose: their kinds by their paths. C headers are marked as such."""

    name: str
    kinds: Mapping[str, str]


class Edition(ABC):
    """What differs between the editions of the standard."""

    namespace: str

    @abstractmethod
    def number(self, value: int) -> str:
        """A number in hexadecimal."""

    @abstractmethod
    def interface(self, one: Element, interface: Interface) -> None:
        """Add abstraction, mode and ports, in the edition's order."""

    @abstractmethod
    def reset_register(self, one: Element, value: int) -> None:
        """Add the reset value of a register, if it is the register that has it."""

    @abstractmethod
    def reset_field(self, part: Element, value: int) -> None:
        """Add the reset value of a field, if it is the field that has it."""

    @abstractmethod
    def model(self, model: Element, own: Description) -> None:
        """Add the views."""

    @abstractmethod
    def vector(self, wire: Element) -> Element:
        """Add the element that holds the range of a port."""


def component(
    own: Description,
    edition: Edition,
    interfaces: Iterable[Interface],
    file_sets: Iterable[FileSet],
) -> Element:
    """The design as a component of an edition."""
    root = Element("component", xmlns=edition.namespace)
    vlnv = {"vendor": "coprime", "library": "coprocessors", "name": own.name}
    add_texts(root, **vlnv, version=own.version)
    found = SubElement(root, "busInterfaces")
    for interface in interfaces:
        one = SubElement(found, "busInterface")
        add_texts(one, name=interface.name)
        SubElement(one, "busType", dict(interface.bus))
        edition.interface(one, interface)
        if interface.parameters:
            parameters = SubElement(one, "parameters")
            for name, value in interface.parameters.items():
                add_texts(SubElement(parameters, "parameter"), name=name, value=value)
    _memory_map(SubElement(SubElement(root, "memoryMaps"), "memoryMap"), own, edition)
    model = SubElement(root, "model")
    edition.model(model, own)
    _ports(SubElement(model, "ports"), own.ports, edition)
    sets = SubElement(root, "fileSets")
    for file_set in file_sets:
        one = SubElement(sets, "fileSet")
        add_texts(one, name=file_set.name)
        for path, kind in file_set.kinds.items():
            file = SubElement(one, "file")
            add_texts(file, name=path, fileType=kind)
            if path.endswith(".h"):
                add_texts(file, isIncludeFile="true")
    add_texts(root, description=own.summary)
    return root


def _memory_map(found: Element, own: Description, edition: Edition) -> None:
    add_texts(found, name="registers")
    block = SubElement(found, "addressBlock")
    add_texts(block, name="registers", baseAddress=edition.number(0))
    add_texts(block, range=edition.number(1 << WINDOW_BITS), width=32, usage="register")
    for register in own.registers:
        one = SubElement(block, "register")
        add_texts(one, name=register.name, description=register.doc)
        if isinstance(register, Window):
            add_texts(one, dim=register.words)
        add_texts(one, addressOffset=edition.number(register.address), size=32)
        add_texts(one, access=ACCESS[register.access])
        edition.reset_register(one, own.register_reset(register))
        for field in register.fields:
            part = SubElement(one, "field")
            add_texts(part, name=field.name, description=field.doc, bitOffset=field.offset)
            edition.reset_field(part, own.reset(register, field))
            add_texts(part, bitWidth=field.width, access=ACCESS[field.access])
            add_codes(part, own, register, field)
            if field.access == "RW1C":
                add_texts(part, modifiedWriteValue="oneToClear")


def _ports(found: Element, ports: Iterable[Port], edition: Edition) -> None:
    for port in ports:
        one = SubElement(found, "port")
        add_texts(one, name=port.name)
        wire = SubElement(one, "wire")
        add_texts(wire, direction="out" if port.output else "in")
        if port.width > 1:
            add_texts(edition.vector(wire), left=port.width - 1, right=0)


def port_maps(parent: Element, interface: Interface) -> None:
    """Add which port is which signal of the bus."""
    maps = SubElement(parent, "portMaps")
    for logical, physical in interface.ports.items():
        one = SubElement(maps, "portMap")
        add_texts(SubElement(one, "logicalPort"), name=logical)
        add_texts(SubElement(one, "physicalPort"), name=physical)


def stream_ports(own: Description, prefix: str) -> dict[str, str]:
    """The ports with a prefix, by their names on the bus, which are in capitals."""
    return {
        port.name.removeprefix(prefix).upper(): port.name
        for port in own.ports
        if port.name.startswith(prefix)
    }


def common_sets(own: Description) -> tuple[FileSet, ...]:
    """The file sets that no view of the hardware has: the testbench; headers and driver."""
    software = (*own.headers, *drivers.files(own))
    return (
        FileSet("testbench", dict.fromkeys(simulation_sources(own), "verilogSource")),
        FileSet("software", dict.fromkeys(software, "cSource")),
    )


class _Edition2014(Edition):
    namespace = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"

    def number(self, value: int) -> str:
        return f"'h{value:X}"

    def interface(self, one: Element, interface: Interface) -> None:
        kind = SubElement(SubElement(one, "abstractionTypes"), "abstractionType")
        SubElement(kind, "abstractionRef", interface.abstraction)
        port_maps(kind, interface)
        mode = SubElement(one, interface.mode)
        if interface.registers:
            SubElement(mode, "memoryMapRef", memoryMapRef="registers")

    def reset_register(self, one: Element, value: int) -> None:
        """Fields have the reset values."""

    def reset_field(self, part: Element, value: int) -> None:
        reset = SubElement(SubElement(part, "resets"), "reset")
        add_texts(reset, value=self.number(value))

    def model(self, model: Element, own: Description) -> None:
        view = SubElement(SubElement(model, "views"), "view")
        add_texts(view, name="verilog", componentInstantiationRef="verilog")
        instance = SubElement(SubElement(model, "instantiations"), "componentInstantiation")
        add_texts(instance, name="verilog", language="verilog", moduleName=own.name)
        add_texts(SubElement(instance, "fileSetRef"), localName="verilog")

    def vector(self, wire: Element) -> Element:
        return SubElement(SubElement(wire, "vectors"), "vector")


def files(own: Description) -> Mapping[str, str]:
    """The design as a component of IEEE 1685-2014."""
    bus = {**_AMBA, "name": _BUS_NAMES[own.bus], "version": "r0p0_0"}
    slave = stream_ports(own, PREFIX)
    slave["ARESETn"] = slave.pop("ARESETN")
    interfaces = [Interface(PREFIX.rstrip("_"), bus, slave, registers=True)]
    if own.random:
        stream = {**_AMBA, "name": "AXI4Stream", "version": "r0p0_0"}
        interfaces.append(Interface(RANDOM.rstrip("_"), stream, stream_ports(own, RANDOM)))
    sets = (FileSet("verilog", {own.verilog: "verilogSource"}), *common_sets(own))
    return {f"{own.name}.xml": written(component(own, _Edition2014(), interfaces, sets))}
