"""X25519 and X448: encodings and checks around the multiplication on an accelerator.

Source: RFC 7748, sections 5 and 6. What differs: nothing; the functions of the RFC have our names.
"""

from dataclasses import dataclass

from coprime.operations.commands import Command
from coprime.operations.lengths import Lengths

from .weierstrass import CurveAccelerator


@dataclass(frozen=True)
class MontgomeryCurve:
    """A curve of RFC 7748, v^2 = u^3 + A u^2 + u modulo p.

    Parameters
    ----------
    name : of the function on it
    p : the modulus, a prime
    a24 : (A - 2) / 4
    base : coordinate u of the base point
    cofactor : a power of two, of which clamped scalars are multiples
    """

    name: str
    p: int
    a24: int
    base: int
    cofactor: int

    @property
    def size(self) -> int:
        """Bytes of a scalar, and of a coordinate."""
        return (self.p.bit_length() + 7) // 8

    @property
    def n(self) -> int:
        """The modulus, as devices ask for that of a key."""
        return self.p

    @property
    def command(self) -> Command:
        """The operation that multiplies points."""
        return Command.X_MULTIPLY

    @property
    def lengths(self) -> Lengths:
        """Of the numbers in a multiplication."""
        return Lengths(self.p.bit_length(), exponent=self.p.bit_length())

    @property
    def domain(self) -> dict[str, int]:
        """The curve's numbers, as inputs of a multiplication, and the cofactor."""
        return {"m": self.p, "y": self.a24, "cofactor": self.cofactor}

    def decode_scalar(self, scalar: bytes) -> int:
        """The number of a secret scalar, clamped: as long as p, and a multiple of the cofactor.

        Raises ValueError for another number of bytes.
        """
        self._check(scalar, "a scalar")
        bits = self.p.bit_length()
        number = int.from_bytes(scalar, "little") % (1 << bits) | 1 << (bits - 1)
        return number - number % self.cofactor

    def decode_point(self, u: bytes) -> int:
        """The coordinate of a point, below p: the unused bits are ignored.

        Raises ValueError for another number of bytes.
        """
        self._check(u, "a coordinate")
        return int.from_bytes(u, "little") % (1 << self.p.bit_length()) % self.p

    def encode_point(self, u: int) -> bytes:
        """A coordinate below p as bytes, the lowest first."""
        return u.to_bytes(self.size, "little")

    def _check(self, given: bytes, what: str) -> None:
        if len(given) != self.size:
            raise ValueError(f"{what} of {self.name} has {self.size} bytes, not {len(given)}")


X25519 = MontgomeryCurve("X25519", (1 << 255) - 19, 121665, 9, 8)
X448 = MontgomeryCurve("X448", (1 << 448) - (1 << 224) - 1, 39081, 5, 4)
CURVES = (X25519, X448)


def multiply(
    accelerator: CurveAccelerator, curve: MontgomeryCurve, scalar: bytes, u: bytes
) -> bytes:
    """The function X25519 or X448 of a scalar and a coordinate. ValueError for a wrong length."""
    numbers = {"x": curve.decode_point(u), "e": curve.decode_scalar(scalar), "y": curve.a24}
    result = accelerator.operate(Command.X_MULTIPLY, {**numbers, "m": curve.p})
    return curve.encode_point(result.outputs["u"])


def public_key(accelerator: CurveAccelerator, curve: MontgomeryCurve, scalar: bytes) -> bytes:
    """The public key of a private one. ValueError for a wrong length."""
    return multiply(accelerator, curve, scalar, curve.encode_point(curve.base))


def shared_secret(
    accelerator: CurveAccelerator, curve: MontgomeryCurve, own: bytes, peer: bytes
) -> bytes:
    """The shared secret of the private key `own` and the public key `peer`.

    Raises ValueError for a wrong length, and where nothing of the private key is in the secret,
    since the public key is a point of low order (RFC 7748, section 6).
    """
    secret = multiply(accelerator, curve, own, peer)
    if not any(secret):
        raise ValueError("the public key is a point of low order: the shared secret would be 0")
    return secret
