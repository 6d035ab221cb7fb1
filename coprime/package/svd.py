"""The registers as CMSIS-SVD, for debuggers and generators of software such as svd2rust."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement

from coprime.bus.port import WINDOW_BITS
from coprime.bus.register_classes import Window

from .description import Description
from .xml import ACCESS, add_codes, add_texts, written

__all__ = ["files"]


def files(own: Description) -> Mapping[str, str]:
    """The registers as CMSIS-SVD 1.3: one peripheral, whose base address the user's system sets."""
    device = Element("device", schemaVersion="1.3")
    add_texts(device, name=own.name, version=own.version, description=own.summary)
    add_texts(device, addressUnitBits=8, width=32, size=32, access="read-write")
    add_texts(device, resetValue="0x0", resetMask="0xFFFFFFFF")
    peripheral = SubElement(SubElement(device, "peripherals"), "peripheral")
    add_texts(peripheral, name="COPRIME", description=own.summary, baseAddress="0x0")
    block = SubElement(peripheral, "addressBlock")
    add_texts(block, offset="0x0", size=f"0x{1 << WINDOW_BITS:X}", usage="registers")
    interrupt = "Number 0 stands for the one that your system gives it."
    add_texts(SubElement(peripheral, "interrupt"), name="COPRIME", description=interrupt, value=0)
    found = SubElement(peripheral, "registers")
    for register in own.registers:
        one = SubElement(found, "register")
        name = register.name
        if isinstance(register, Window):
            add_texts(one, dim=register.words, dimIncrement=4)
            name += "[%s]"
        add_texts(one, name=name, description=register.doc, addressOffset=f"0x{register.address:X}")
        reset = f"0x{own.register_reset(register):08X}"
        add_texts(one, access=ACCESS[register.access], resetValue=reset)
        fields = SubElement(one, "fields")
        for field in register.fields:
            part = SubElement(fields, "field")
            add_texts(part, name=field.name, description=field.doc)
            add_texts(part, bitOffset=field.offset, bitWidth=field.width)
            add_texts(part, access=ACCESS[field.access])
            if field.access == "RW1C":
                add_texts(part, modifiedWriteValues="oneToClear")
            add_codes(part, own, register, field)
    return {f"{own.name}.svd": written(device)}
