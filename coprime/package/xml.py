"""What the XML files of a package share."""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from coprime.bus.register_classes import Field, Register

from .description import Description

__all__ = ["ACCESS", "add_codes", "add_texts", "written"]

ACCESS = {"R": "read-only", "W": "write-only", "RW": "read-write", "RW1C": "read-write"}
"""How CMSIS-SVD and IP-XACT name the access to a register or field."""


def add_codes(part: Element, own: Description, register: Register, field: Field) -> None:
    """Add the codes that a field takes; both formats write them in one way."""
    codes = own.codes(register, field)
    if codes:
        values = SubElement(part, "enumeratedValues")
        for code in codes:
            add_texts(SubElement(values, "enumeratedValue"), name=code.name, value=int(code))


def add_texts(parent: Element, **children: object) -> None:
    """Add elements that hold a text, in this order."""
    for name, text in children.items():
        SubElement(parent, name).text = str(text)


def written(root: Element) -> str:
    """The text of an XML file, indented."""
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"
