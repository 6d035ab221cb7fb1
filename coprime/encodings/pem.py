"""PEM (RFC 7468), with the headers of older files (RFC 1421)."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_BEGIN = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----")
_HEADERS = re.compile(rb"\s*((?:[A-Za-z0-9-]+:[^\n]*\n(?:[ \t]+\S[^\n]*\n)*)+)\s*\n")
_LINE = 64  # characters


@dataclass(frozen=True)
class PemBlock:
    """One block of a file; its repr shows no contents.

    Parameters
    ----------
    label : what is in it, such as PRIVATE KEY
    headers : in front of the contents, by name
    content : decoded; empty if it is no Base64
    """

    label: str
    headers: Mapping[str, str]
    content: bytes = field(repr=False)


def is_pem(data: bytes) -> bool:
    """Whether a block begins somewhere in a file."""
    return b"-----BEGIN" in data


def blocks(data: bytes) -> list[PemBlock]:
    """The blocks of a file, up to the first one without an end."""
    found, start = [], 0
    while (begin := _BEGIN.search(data, start)) is not None:
        end = data.find(b"-----END " + begin[1] + b"-----", begin.end())
        if end < 0:
            break
        found.append(_block(begin[1].decode(), data[begin.end() : end]))
        start = end + 1
    return found


def _block(label: str, body: bytes) -> PemBlock:
    found = _HEADERS.match(body)
    headers = {}
    if found is not None:
        body = body[found.end() :]
        for line in found[1].decode("latin-1").splitlines():
            name, colon, value = line.partition(":")
            if colon:
                headers[name] = value.strip()
    try:
        content = base64.b64decode(b"".join(body.split()), validate=True)
    except binascii.Error:
        content = b""
    return PemBlock(label, headers, content)


def write(label: str, content: bytes) -> bytes:
    """A file of one block."""
    text = base64.b64encode(content).decode()
    lines = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", "")).encode()
