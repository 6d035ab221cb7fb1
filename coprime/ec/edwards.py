"""Edwards curves and their encodings, as EdDSA uses them: Ed25519 and Ed448.

Source: RFC 8032; the names in the notes are its.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO

from coprime.model.edwards_points import on_curve
from coprime.model.roots import square_root
from coprime.operations.commands import Command
from coprime.operations.lengths import Lengths
from coprime.rsa.hashes import pieces

from .weierstrass import Point

LONGEST_CONTEXT = 255
"""Bytes."""


@dataclass(frozen=True)
class Variant:
    """The variant of a signature: Ed25519 or Ed448 of a message, Ed25519ctx with a context.

    ValueError for a context that is too long.

    Parameters
    ----------
    prehashed : the message's digest, Ed25519ph and Ed448ph
    context : bytes that both sides know
    """

    prehashed: bool = False
    context: bytes = b""

    def __post_init__(self) -> None:
        if len(self.context) > LONGEST_CONTEXT:
            raise ValueError(
                f"a context has {LONGEST_CONTEXT} bytes at most, not {len(self.context)}"
            )

    def message(self, curve: "EdwardsCurve", data: bytes | BinaryIO) -> bytes:
        """PH(M): the message, or its digest of 64 bytes.

        A file is read in pieces for the digest. The message itself is read once and kept, as two
        hashes need it: if it changed from one to the other, the signature would reveal the key.
        """
        if self.prehashed:
            parts = (data,) if isinstance(data, bytes) else pieces(data)
            return curve.digest_of(parts, size=64)
        return data if isinstance(data, bytes) else data.read()

    def number(self, curve: "EdwardsCurve", *parts: bytes) -> int:
        """A hash modulo n."""
        begin = b""
        if curve.always or self.prehashed or self.context:
            begin = curve.prefix + bytes([self.prehashed, len(self.context)]) + self.context
        return int.from_bytes(curve.digest(begin, *parts), "little") % curve.n


@dataclass(frozen=True)
class EdwardsCurve:
    """a x^2 + y^2 = 1 + d x^2 y^2 modulo p, with an EdDSA; its repr is the name.

    Parameters
    ----------
    name : of the signatures
    p : the modulus, a prime
    a, d : coefficients, below p
    n : the order of the base point, a prime; L in the RFC
    base : the base point B
    size : bytes of a point, of a private key, and of each half of a signature
    cofactor : of the curve, a power of two
    prefix : what a hash of a context begins with; `always`: every hash does
    """

    name: str
    p: int = field(repr=False)
    a: int = field(repr=False)
    d: int = field(repr=False)
    n: int = field(repr=False)
    base: Point = field(repr=False)
    size: int = field(repr=False)
    cofactor: int = field(repr=False)
    prefix: bytes = field(repr=False)
    always: bool = field(repr=False)

    @property
    def command(self) -> Command:
        """The operation that makes a public key."""
        return Command.ED_BASE_MULTIPLY

    @property
    def lengths(self) -> Lengths:
        """Of the numbers in an operation."""
        return self.command.operation.encoding.lengths(self.numbers)

    @property
    def numbers(self) -> dict[str, int]:
        """The curve's numbers, as inputs of an operation."""
        return {"a": self.a, "d": self.d, "p": self.p, "n": self.n}

    @property
    def domain(self) -> dict[str, int]:
        """The same with the base point."""
        return {**self.numbers, "gx": self.base[0], "gy": self.base[1]}

    def has(self, point: Point) -> bool:
        """Whether a point is on the curve, with coordinates below p."""
        return max(point) < self.p and on_curve(point, self.a, self.d, self.p)

    def digest(self, *parts: bytes, size: int = 0) -> bytes:
        """H of the RFC, or of another size, which Ed448 has; of Ed25519 it is SHA-512's."""
        return self.digest_of(parts, size)

    def digest_of(self, parts: Iterable[bytes], size: int = 0) -> bytes:
        """The same of many parts, one after the other."""
        if self.always:
            state = hashlib.shake_256()
            for part in parts:
                state.update(part)
            return state.digest(size or 2 * self.size)
        fixed = hashlib.sha512()
        for part in parts:
            fixed.update(part)
        return fixed.digest()

    def expand(self, private: bytes) -> tuple[int, bytes]:
        """The clamped secret scalar of a private key, and the prefix that r is hashed with.

        Raises ValueError for another number of bytes.
        """
        if len(private) != self.size:
            raise ValueError(
                f"a private key of {self.name} has {self.size} bytes, not {len(private)}"
            )
        hashed = self.digest(private)
        highest = 1 << self.p.bit_length() - 1
        number = int.from_bytes(hashed[: self.size], "little") % highest | highest
        return number - number % self.cofactor, hashed[self.size :]

    def decode_scalar(self, private: bytes) -> int:
        """The secret scalar of a private key. ValueError for another number of bytes."""
        return self.expand(private)[0]

    def encode_point(self, point: Point) -> bytes:
        """y, the lowest byte first, with the lowest bit of x as the highest bit."""
        x, y = point
        return (y | (x & 1) << 8 * self.size - 1).to_bytes(self.size, "little")

    def decode_point(self, data: bytes) -> Point:
        """The point of an encoding (RFC 8032, 5.1.3 and 5.2.3). ValueError if it is none."""
        wrong = ValueError(f"the bytes are no point of {self.name}")
        number = int.from_bytes(data, "little")
        y = number % (1 << 8 * self.size - 1)
        if len(data) != self.size or y >= self.p:
            raise wrong
        p, is_odd = self.p, number >> 8 * self.size - 1
        square = (1 - y * y) * pow(self.a - self.d * y * y, -1, p) % p
        x = square_root(square, p)
        if x is None or (x == 0 and is_odd):
            raise wrong
        return (p - x if x % 2 != is_odd else x), y


_P_25519, _P_448 = (1 << 255) - 19, (1 << 448) - (1 << 224) - 1
ED25519 = EdwardsCurve(
    "Ed25519",
    p=_P_25519,
    a=_P_25519 - 1,
    d=-121665 * pow(121666, -1, _P_25519) % _P_25519,
    n=(1 << 252) + 27742317777372353535851937790883648493,
    base=(
        15112221349535400772501151409588531511454012693041857206046113283949847762202,
        4 * pow(5, -1, _P_25519) % _P_25519,
    ),
    size=32,
    cofactor=8,
    prefix=b"SigEd25519 no Ed25519 collisions",
    always=False,
)
ED448 = EdwardsCurve(
    "Ed448",
    p=_P_448,
    a=1,
    d=_P_448 - 39081,
    n=(1 << 446) - 0x8335DC163BB124B65129C96FDE933D8D723A70AADC873D6D54A7BB0D,
    base=(
        0x4F1970C66BED0DED221D15A622BF36DA9E146570470F1767EA6DE324A3D3A46412AE1AF72AB66511433B80E18B00938E2626A82BC70CC05E,
        0x693F46716EB6BC248876203756C9C7624BEA73736CA3984087789C1E05A0C2D73AD3FF1CE67C39C4FDBD132C4ED7C8AD9808795BF230FA14,
    ),
    size=57,
    cofactor=4,
    prefix=b"SigEd448",
    always=True,
)
CURVES = (ED25519, ED448)
