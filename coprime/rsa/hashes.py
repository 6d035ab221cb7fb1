"""The hash functions of RSA's paddings, with their identifiers, and the mask generation MGF1."""

import hashlib
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

__all__ = [
    "HASHES",
    "check_hashes",
    "digest",
    "digest_file",
    "digest_information",
    "digest_size",
    "mgf1",
    "pieces",
]

_NIST = bytes.fromhex("6086480165030402")
"""2.16.840.1.101.3.4.2, under which NIST's hash functions have their numbers."""
HASHES: dict[str, bytes] = {
    "sha1": bytes.fromhex("2b0e03021a"),  # 1.3.14.3.2.26
    "sha224": _NIST + b"\x04",
    "sha256": _NIST + b"\x01",
    "sha384": _NIST + b"\x02",
    "sha512": _NIST + b"\x03",
    "sha512_224": _NIST + b"\x05",
    "sha512_256": _NIST + b"\x06",
    "sha3_224": _NIST + b"\x07",
    "sha3_256": _NIST + b"\x08",
    "sha3_384": _NIST + b"\x09",
    "sha3_512": _NIST + b"\x0a",
}
"""Names of the hash functions, as in hashlib, and their object identifiers as DER encodes them."""


def check_hashes(*names: object) -> None:
    """Raise TypeError or ValueError unless each is a name in HASHES."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"the hash must be a str, not {type(name).__name__}")
        if name not in HASHES:
            raise ValueError(f"the hash must be one of {', '.join(HASHES)}, not {name!r}")


def digest(name: str, data: bytes) -> bytes:
    """The digest of `data` with the hash called `name`."""
    return hashlib.new(name, data).digest()


def digest_file(name: str, file: BinaryIO) -> bytes:
    """The digest of what is still to be read from a file, which is read in pieces."""
    state = hashlib.new(name)
    for piece in pieces(file):
        state.update(piece)
    return state.digest()


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """What is still to be read from a file, in pieces of up to 1 MiB."""
    return iter(partial(file.read, 1 << 20), b"")


def digest_size(name: str) -> int:
    """Bytes of a digest of the hash called `name`."""
    return hashlib.new(name).digest_size


def mgf1(name: str, seed: bytes, length: int) -> bytes:
    """Mask of `length` bytes from a seed (RFC 8017, B.2.1) with the hash called `name`."""
    mask = b""
    counter = 0
    while len(mask) < length:
        mask += digest(name, seed + counter.to_bytes(4))
        counter += 1
    return mask[:length]


def digest_information(name: str, value: bytes) -> bytes:
    """DER of the DigestInfo of a digest (RFC 8017, 9.2, note 1)."""

    def element(tag: int, content: bytes) -> bytes:
        return bytes([tag, len(content)]) + content

    identifier, null = element(0x06, HASHES[name]), element(0x05, b"")
    algorithm = element(0x30, identifier + null)
    return element(0x30, algorithm + element(0x04, value))
