"""The hash functions of RSA's paddings, with their identifiers, and the mask generation MGF1."""

import hashlib

from coprime.rsa import der

__all__ = ["HASHES", "check_hashes", "digest", "digest_information", "digest_size", "mgf1"]

HASHES: dict[str, tuple[int, ...]] = {
    "sha1": (1, 3, 14, 3, 2, 26),
    "sha224": (2, 16, 840, 1, 101, 3, 4, 2, 4),
    "sha256": (2, 16, 840, 1, 101, 3, 4, 2, 1),
    "sha384": (2, 16, 840, 1, 101, 3, 4, 2, 2),
    "sha512": (2, 16, 840, 1, 101, 3, 4, 2, 3),
    "sha512_224": (2, 16, 840, 1, 101, 3, 4, 2, 5),
    "sha512_256": (2, 16, 840, 1, 101, 3, 4, 2, 6),
    "sha3_224": (2, 16, 840, 1, 101, 3, 4, 2, 7),
    "sha3_256": (2, 16, 840, 1, 101, 3, 4, 2, 8),
    "sha3_384": (2, 16, 840, 1, 101, 3, 4, 2, 9),
    "sha3_512": (2, 16, 840, 1, 101, 3, 4, 2, 10),
}
"""Names of the hash functions, as in hashlib, and their object identifiers."""


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
    identifier = der.object_identifier(HASHES[name])
    algorithm = der.element(der.SEQUENCE, identifier + der.element(der.NULL, b""))
    return der.element(der.SEQUENCE, algorithm + der.element(der.OCTET_STRING, value))
