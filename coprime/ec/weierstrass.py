"""Short Weierstrass curves over prime fields, by name, with their encodings and checks.

Source of the parameters: SEC 2 (2010) and NIST SP 800-186 for P-224 to P-521 and secp256k1, RFC
5639 for brainpool.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from coprime.model.curve_points import on_curve
from coprime.model.roots import square_root
from coprime.operations.commands import Command
from coprime.operations.lengths import Lengths

from .names import find_curve


class CurveResult(Protocol):
    """The result of an accelerator."""

    @property
    def outputs(self) -> Mapping[str, int]:
        """Its numbers, by the names of the operation's outputs."""


class CurveAccelerator(Protocol):
    """An accelerator that has operations on curves, or a substitute."""

    def operate(self, command: Command, numbers: Mapping[str, int]) -> CurveResult:
        """Execute an operation on these numbers."""


Point = tuple[int, int]
"""Its affine coordinates x and y."""


@dataclass(frozen=True)
class WeierstrassCurve:
    """y^2 = x^3 + a x + b modulo p, whose points are a group of prime order; its repr is the name.

    Parameters
    ----------
    name : as cryptographers call it
    p : the modulus, a prime of 5 or more
    a, b : coefficients, below p
    n : the order of the base point and of the curve, a prime
    base : the base point G
    """

    name: str
    p: int = field(repr=False)
    a: int = field(repr=False)
    b: int = field(repr=False)
    n: int = field(repr=False)
    base: Point = field(repr=False)

    @property
    def size(self) -> int:
        """Bytes of a coordinate."""
        return (self.p.bit_length() + 7) // 8

    @property
    def scalar_size(self) -> int:
        """Bytes of a scalar, and of each number of a signature."""
        return (self.n.bit_length() + 7) // 8

    @property
    def command(self) -> Command:
        """The operation that multiplies points."""
        return Command.EC_MULTIPLY

    @property
    def lengths(self) -> Lengths:
        """Of the numbers in an operation."""
        return self.command.operation.encoding.lengths(self.numbers)

    @property
    def numbers(self) -> dict[str, int]:
        """The curve's numbers, as inputs of an operation."""
        return {"a": self.a, "b": self.b, "p": self.p, "n": self.n}

    @property
    def domain(self) -> dict[str, int]:
        """The same with the base point."""
        return {**self.numbers, "gx": self.base[0], "gy": self.base[1]}

    def has(self, point: Point) -> bool:
        """Whether a point is on the curve, with coordinates below p."""
        return max(point) < self.p and on_curve(point, self.a, self.b, self.p)

    def decode_scalar(self, scalar: bytes) -> int:
        """The number of a private key, the highest byte first.

        Raises ValueError for another number of bytes, and unless it is between 1 and n - 1.
        """
        if len(scalar) != self.scalar_size:
            raise ValueError(
                f"a scalar of {self.name} has {self.scalar_size} bytes, not {len(scalar)}"
            )
        return self.check_scalar(int.from_bytes(scalar))

    def check_scalar(self, scalar: int) -> int:
        """The scalar. Raises ValueError, which does not show it, unless it is from 1 to n - 1."""
        if not 0 < scalar < self.n:
            raise ValueError(f"a scalar of {self.name} is from 1 to the order of its points less 1")
        return scalar

    def encode_scalar(self, scalar: int) -> bytes:
        """A scalar below n as bytes, the highest first."""
        return scalar.to_bytes(self.scalar_size)

    def decode_point(self, point: bytes) -> Point:
        """The point of an uncompressed encoding (SEC 1, section 2.3.4).

        Raises ValueError for any other encoding, and unless the point is on the curve.
        """
        if len(point) != 1 + 2 * self.size or point[0] != _UNCOMPRESSED:
            raise ValueError(
                f"a point of {self.name} has {1 + 2 * self.size} bytes, of which the first is 4"
            )
        x, y = (
            int.from_bytes(coordinate)
            for coordinate in (point[1 : 1 + self.size], point[1 + self.size :])
        )
        return self.check_point((x, y))

    def decode_any_point(self, point: bytes) -> Point:
        """The point of any encoding (SEC 1, 2.3.4; X9.62, 4.3.7): compressed and hybrid ones, too.

        Raises ValueError for bytes that are none, and unless the point is on the curve.
        """
        kind, size = point[:1], self.size
        if kind in (b"\2", b"\3") and len(point) == 1 + size:
            x = int.from_bytes(point[1:])
            y = square_root((x * x * x + self.a * x + self.b) % self.p, self.p)
            if y is None or (y == 0 and kind == b"\3"):
                raise ValueError(f"the point is not on {self.name}")
            return self.check_point((x, self.p - y if y % 2 != kind[0] % 2 else y))
        if kind in (b"\6", b"\7"):
            x, y = self.decode_point(bytes([_UNCOMPRESSED]) + point[1:])
            if y % 2 != kind[0] % 2:
                raise ValueError(f"the point is not on {self.name}")
            return x, y
        return self.decode_point(point)

    def check_point(self, point: Point) -> Point:
        """The point. Raises ValueError unless it is on the curve."""
        if not self.has(point):
            raise ValueError(f"the point is not on {self.name}")
        return point

    def encode_point(self, point: Point) -> bytes:
        """A point as bytes, uncompressed (SEC 1, section 2.3.3)."""
        return bytes([_UNCOMPRESSED]) + b"".join(
            coordinate.to_bytes(self.size) for coordinate in point
        )


_UNCOMPRESSED = 4
"""First byte of the encoding."""


def _curve(name: str, *numbers: str) -> WeierstrassCurve:
    p, a, b, n, x, y = (int(number, 16) for number in numbers)
    return WeierstrassCurve(name, p, a, b, n, (x, y))


CURVES = (
    _curve(
        "P-224",
        "ffffffffffffffffffffffffffffffff000000000000000000000001",
        "fffffffffffffffffffffffffffffffefffffffffffffffffffffffe",
        "b4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4",
        "ffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d",
        "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
        "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
    ),
    _curve(
        "P-256",
        "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc",
        "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    ),
    _curve(
        "P-384",
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff"
        "0000000000000000ffffffff",
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff"
        "0000000000000000fffffffc",
        "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d"
        "8a2ed19d2a85c8edd3ec2aef",
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db2"
        "48b0a77aecec196accc52973",
        "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25d"
        "bf55296c3a545e3872760ab7",
        "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce"
        "1d7e819d7a431d7c90ea0e5f",
    ),
    _curve(
        "P-521",
        "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffc",
        "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e1561939"
        "51ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
        "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868"
        "783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
        "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e"
        "77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
        "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee7"
        "2995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
    ),
    _curve(
        "secp256k1",
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
        "0",
        "7",
        "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
        "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
        "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
    ),
    _curve(
        "brainpoolP224r1",
        "d7c134aa264366862a18302575d1d787b09f075797da89f57ec8c0ff",
        "68a5e62ca9ce6c1c299803a6c1530b514e182ad8b0042a59cad29f43",
        "2580f63ccfe44138870713b1a92369e33e2135d266dbb372386c400b",
        "d7c134aa264366862a18302575d0fb98d116bc4b6ddebca3a5a7939f",
        "d9029ad2c7e5cf4340823b2a87dc68c9e4ce3174c1e6efdee12c07d",
        "58aa56f772c0726f24c6b89e4ecdac24354b9e99caa3f6d3761402cd",
    ),
    _curve(
        "brainpoolP256r1",
        "a9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377",
        "7d5a0975fc2c3057eef67530417affe7fb8055c126dc5c6ce94a4b44f330b5d9",
        "26dc5c6ce94a4b44f330b5d9bbd77cbf958416295cf7e1ce6bccdc18ff8c07b6",
        "a9fb57dba1eea9bc3e660a909d838d718c397aa3b561a6f7901e0e82974856a7",
        "8bd2aeb9cb7e57cb2c4b482ffc81b7afb9de27e1e3bd23c23a4453bd9ace3262",
        "547ef835c3dac4fd97f8461a14611dc9c27745132ded8e545c1d54c72f046997",
    ),
    _curve(
        "brainpoolP320r1",
        "d35e472036bc4fb7e13c785ed201e065f98fcfa6f6f40def4f92b9ec7893ec28fcd412b1f1b32e27",
        "3ee30b568fbab0f883ccebd46d3f3bb8a2a73513f5eb79da66190eb085ffa9f492f375a97d860eb4",
        "520883949dfdbc42d3ad198640688a6fe13f41349554b49acc31dccd884539816f5eb4ac8fb1f1a6",
        "d35e472036bc4fb7e13c785ed201e065f98fcfa5b68f12a32d482ec7ee8658e98691555b44c59311",
        "43bd7e9afb53d8b85289bcc48ee5bfe6f20137d10a087eb6e7871e2a10a599c710af8d0d39e20611",
        "14fdd05545ec1cc8ab4093247f77275e0743ffed117182eaa9c77877aaac6ac7d35245d1692e8ee1",
    ),
    _curve(
        "brainpoolP384r1",
        "8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b412b1da197fb71123acd3a729"
        "901d1a71874700133107ec53",
        "7bc382c63d8c150c3c72080ace05afa0c2bea28e4fb22787139165efba91f90f8aa5814a"
        "503ad4eb04a8c7dd22ce2826",
        "4a8c7dd22ce28268b39b55416f0447c2fb77de107dcd2a62e880ea53eeb62d57cb439029"
        "5dbc9943ab78696fa504c11",
        "8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b31f166e6cac0425a7cf3ab6af"
        "6b7fc3103b883202e9046565",
        "1d1c64f068cf45ffa2a63a81b7c13f6b8847a3e77ef14fe3db7fcafe0cbd10e8e826e034"
        "36d646aaef87b2e247d4af1e",
        "8abe1d7520f9c2a45cb1eb8e95cfd55262b70b29feec5864e19c054ff99129280e464621"
        "7791811142820341263c5315",
    ),
    _curve(
        "brainpoolP512r1",
        "aadd9db8dbe9c48b3fd4e6ae33c9fc07cb308db3b3c9d20ed6639cca703308717d4d9b00"
        "9bc66842aecda12ae6a380e62881ff2f2d82c68528aa6056583a48f3",
        "7830a3318b603b89e2327145ac234cc594cbdd8d3df91610a83441caea9863bc2ded5d5a"
        "a8253aa10a2ef1c98b9ac8b57f1117a72bf2c7b9e7c1ac4d77fc94ca",
        "3df91610a83441caea9863bc2ded5d5aa8253aa10a2ef1c98b9ac8b57f1117a72bf2c7b9"
        "e7c1ac4d77fc94cadc083e67984050b75ebae5dd2809bd638016f723",
        "aadd9db8dbe9c48b3fd4e6ae33c9fc07cb308db3b3c9d20ed6639cca70330870553e5c41"
        "4ca92619418661197fac10471db1d381085ddaddb58796829ca90069",
        "81aee4bdd82ed9645a21322e9c4c6a9385ed9f70b5d916c1b43b62eef4d0098eff3b1f78"
        "e2d0d48d50d1687b93b97d5f7c6d5047406a5e688b352209bcb9f822",
        "7dde385d566332ecc0eabfa9cf7822fdf209f70024a57b1aa000c55b881f8111b2dcde49"
        "4a5f485e5bca4bd88a2763aed1ca2b2fa8f0540678cd1e0f3ad80892",
    ),
)
"""By growing length in each family."""
CURVES_BY_NAME = {curve.name: curve for curve in CURVES}


def curve_named(name: str) -> WeierstrassCurve:
    """Look a curve up, as `find_curve`; ValueError that names all if there is none."""
    found = find_curve(name, CURVES)
    if found is None:
        raise ValueError(f"no curve is called {name!r}; there are {', '.join(CURVES_BY_NAME)}")
    return found


def multiply(
    accelerator: CurveAccelerator, curve: WeierstrassCurve, scalar: int, point: Point
) -> Point:
    """The scalar, 1 to n - 1, times a point. ValueError for other scalars, or a point elsewhere."""
    x, y = curve.check_point(point)
    numbers = {"x": x, "y": y, "k": curve.check_scalar(scalar), **curve.numbers}
    found = accelerator.operate(Command.EC_MULTIPLY, numbers).outputs
    return found["x"], found["y"]


def public_key(accelerator: CurveAccelerator, curve: WeierstrassCurve, scalar: int) -> Point:
    """The public key of a private one. ValueError as `multiply`."""
    return multiply(accelerator, curve, scalar, curve.base)


def check_on_device(accelerator: CurveAccelerator, curve: WeierstrassCurve, point: Point) -> Point:
    """The point, which the accelerator has found to be on the curve.

    EngineError with OPERAND_RANGE for a coordinate over p, and with POINT for a point elsewhere.
    `WeierstrassCurve.check_point` does the same in software.
    """
    x, y = point
    result = accelerator.operate(Command.EC_CHECK, {"x": x, "y": y, **curve.numbers})
    return result.outputs["x"], y


def shared_secret(
    accelerator: CurveAccelerator, curve: WeierstrassCurve, own: int, peer: Point
) -> bytes:
    """The shared secret of the private key `own` and the public key `peer`: a coordinate x.

    Source: NIST SP 800-56A revision 3, section 5.7.1.2, of a curve with the cofactor 1. Raises
    ValueError as `multiply`.
    """
    x, _ = multiply(accelerator, curve, own, peer)
    return x.to_bytes(curve.size)
