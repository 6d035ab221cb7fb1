"""What the XML files of a package share."""

from xml.etree import ElementTree

from coprime.bus.port import WINDOW_BITS

from .templates import filled

_ACCESS = {"R": "read-only", "W": "write-only", "RW": "read-write", "RW1C": "read-write"}
"""How CMSIS-SVD and IP-XACT name the access to a register or field."""


def filled_xml(template: str, **values: object) -> ElementTree.Element:
    """The root of a template, whose own indentation does not matter."""
    text = filled(template, access=_ACCESS, size=1 << WINDOW_BITS, **values)
    root = ElementTree.fromstring(text)
    ElementTree.indent(root)
    return root


def written(root: ElementTree.Element) -> str:
    """The text of an XML file."""
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"
