"""DER, the encoding of key files and digests (ITU-T X.690): as much of it as RSA needs."""

from collections.abc import Sequence

__all__ = [
    "INTEGER",
    "NULL",
    "OBJECT_IDENTIFIER",
    "OCTET_STRING",
    "SEQUENCE",
    "element",
    "elements",
    "object_identifier",
]

INTEGER, OCTET_STRING, NULL, OBJECT_IDENTIFIER, SEQUENCE = 0x02, 0x04, 0x05, 0x06, 0x30
"""Tags."""


def element(tag: int, content: bytes) -> bytes:
    """Encode one element; its content has less than 128 bytes."""
    assert len(content) < 128
    return bytes([tag, len(content)]) + content


def object_identifier(arcs: Sequence[int]) -> bytes:
    """Encode an object identifier of at least two arcs."""
    first, second, *rest = arcs
    content = bytes([40 * first + second])
    for arc in rest:
        groups = [arc & 0x7F]
        while arc := arc >> 7:
            groups.append(arc & 0x7F | 0x80)
        content += bytes(reversed(groups))
    return element(OBJECT_IDENTIFIER, content)


def elements(data: bytes) -> list[tuple[int, bytes]]:
    """Tags and contents of the elements that `data` consists of.

    Raises ValueError if it does not consist of elements with tags and lengths of one byte, or
    lengths of up to four bytes after their count.
    """
    found = []
    while data:
        if len(data) < 2:
            raise ValueError("an element ends within its length")
        tag, length, start = data[0], data[1], 2
        if length >= 0x80:
            count = length - 0x80
            start += count
            if not 1 <= count <= 4 or len(data) < start:
                raise ValueError("an element has no definite length")
            length = int.from_bytes(data[2:start])
        if len(data) < start + length:
            raise ValueError("an element is longer than what contains it")
        found.append((tag, data[start : start + length]))
        data = data[start + length :]
    return found
