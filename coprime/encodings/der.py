"""DER (ITU-T X.690): the elements that key files consist of, read and written.

    read(sequence(integer(1), octet_string(b"abc")))  # Element(tag=48, ...)

Numbers of RSA keys are not negative: `unsigned` reads them whether or not a zero for the sign is
missing or one too many, since programs write both, and OpenSSL reads them.
"""

from dataclasses import dataclass, field

INTEGER, BIT_STRING, OCTET_STRING, NULL, OBJECT_IDENTIFIER, SEQUENCE = 2, 3, 4, 5, 6, 0x30
_BOOLEAN, _UTC_TIME, _GENERALIZED_TIME, _SET = 1, 0x17, 0x18, 0x31
_LONGEST_LENGTH = 4  # bytes of a length


@dataclass(frozen=True)
class Element:
    """A tag and what it contains; the repr shows no contents, which may be secret."""

    tag: int
    content: bytes = field(repr=False)

    def parts(self) -> "list[Element]":
        """The elements of a SEQUENCE. ValueError for another element."""
        return elements(self._of(SEQUENCE, "a SEQUENCE"))

    @property
    def encoded(self) -> bytes:
        """The whole element."""
        return _element(self.tag, self.content)

    def octets(self) -> bytes:
        """The bytes of an OCTET STRING. ValueError for another element."""
        return self._of(OCTET_STRING, "an OCTET STRING")

    def bits(self) -> bytes:
        """The bytes of a BIT STRING of whole bytes. ValueError for another element."""
        content = self._of(BIT_STRING, "a BIT STRING")
        if content[:1] != b"\0":
            raise ValueError("a BIT STRING does not consist of whole bytes")
        return content[1:]

    def number(self) -> int:
        """The value of an INTEGER of 0 or more. ValueError for another element."""
        content = self._of(INTEGER, "an INTEGER")
        if content != _minimal(content):
            raise ValueError("an INTEGER of 0 or more has a sign, or zeros in front of it")
        return int.from_bytes(content)

    def unsigned(self) -> int:
        """The value of an INTEGER that is known to have no sign, with any zeros in front of it."""
        return int.from_bytes(self._of(INTEGER, "an INTEGER"))

    def name(self) -> str:
        """An OBJECT IDENTIFIER: 1.2.840.113549. ValueError for another element."""
        content = self._of(OBJECT_IDENTIFIER, "an OBJECT IDENTIFIER")
        if not content or content[-1] & 0x80:
            raise ValueError("an OBJECT IDENTIFIER ends within a number")
        arcs, value = [], 0
        for byte in content:
            if value == 0 and byte == 0x80:
                raise ValueError("an OBJECT IDENTIFIER has a number with zeros in front of it")
            value = value << 7 | byte & 0x7F
            if not byte & 0x80:
                arcs.append(value)
                value = 0
        first = min(arcs[0] // 40, 2)
        return ".".join(map(str, (first, arcs[0] - 40 * first, *arcs[1:])))

    def _of(self, tag: int, what: str) -> bytes:
        if self.tag != tag:
            raise ValueError(f"{what} is needed, and the tag is {self.tag:#x}")
        return self.content


def read(data: bytes) -> Element:
    """The element that `data` is. ValueError if it is none, or more than one."""
    found = elements(data)
    if len(found) != 1:
        raise ValueError(f"there are {len(found)} elements in place of one")
    return found[0]


def elements(data: bytes) -> list[Element]:
    """The elements that `data` consists of.

    Raises ValueError if it does not consist of elements with tags and lengths of one byte, or
    lengths of up to four bytes after their count.
    """
    found: list[Element] = []
    start, end = 0, len(data)
    while start < end:
        if end - start < 2:
            raise ValueError("an element ends within its length")
        tag, length, begin = data[start], data[start + 1], start + 2
        if length >= 0x80:
            count = length - 0x80
            if not 1 <= count <= _LONGEST_LENGTH or end - begin < count:
                raise ValueError("an element has no definite length")
            length, begin = int.from_bytes(data[begin : begin + count]), begin + count
            if length < max(0x80, 1 << 8 * (count - 1)):
                raise ValueError("a length has more bytes than it needs")
        if end - begin < length:
            raise ValueError("an element is longer than what contains it")
        start = begin + length
        found.append(Element(tag, data[begin:start]))
    return found


def _minimal(content: bytes) -> bytes:
    """The shortest content of an INTEGER of 0 or more with this value."""
    value = int.from_bytes(content)
    return value.to_bytes(value.bit_length() // 8 + 1)


# --- Writing ------------------------------------------------------------------------------------


def sequence(*parts: bytes) -> bytes:
    """A SEQUENCE of encoded elements."""
    return _element(SEQUENCE, b"".join(parts))


def tagged(number: int, *parts: bytes) -> bytes:
    """An element with an explicit tag of its context: [number]."""
    return _element(context(number), b"".join(parts))


def implicit(number: int, content: bytes) -> bytes:
    """An element whose tag [number] of its context takes the place of its own: of no elements."""
    return _element(implicit_context(number), content)


def context(number: int) -> int:
    """The tag [number] of an element that consists of elements."""
    return 0xA0 | number


def implicit_context(number: int) -> int:
    """The tag [number] of an element that consists of no elements."""
    return 0x80 | number


def integer(value: int) -> bytes:
    """An INTEGER of 0 or more."""
    return _element(INTEGER, value.to_bytes(value.bit_length() // 8 + 1))


def octet_string(content: bytes) -> bytes:
    """An OCTET STRING."""
    return _element(OCTET_STRING, content)


def bit_string(content: bytes) -> bytes:
    """A BIT STRING of whole bytes."""
    return _element(BIT_STRING, b"\0" + content)


def set_of(*parts: bytes) -> bytes:
    """A SET OF encoded elements, which are in the order of their encodings."""
    return _element(_SET, b"".join(parts))


def boolean(value: bool) -> bytes:
    """A BOOLEAN."""
    return _element(_BOOLEAN, b"\xff" if value else b"\0")


def utc_time(text: bytes) -> bytes:
    """A UTCTime: YYMMDDHHMMSSZ."""
    return _element(_UTC_TIME, text)


def generalized_time(text: bytes) -> bytes:
    """A GeneralizedTime: YYYYMMDDHHMMSSZ."""
    return _element(_GENERALIZED_TIME, text)


def null() -> bytes:
    """NULL."""
    return _element(NULL, b"")


def object_identifier(name: str) -> bytes:
    """An OBJECT IDENTIFIER from its numbers: 1.2.840.113549."""
    first, second, *others = map(int, name.split("."))
    return _element(OBJECT_IDENTIFIER, b"".join(map(_arc, (40 * first + second, *others))))


def _arc(value: int) -> bytes:
    digits = [value & 0x7F]
    while value := value >> 7:
        digits.append(value & 0x7F | 0x80)
    return bytes(reversed(digits))


def _element(tag: int, content: bytes) -> bytes:
    count = len(content)
    if count < 0x80:
        return bytes([tag, count]) + content
    size = count.to_bytes((count.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(size)]) + size + content
