"""EdDSA on Ed25519 and Ed448: signatures, also of a digest, and with a context.

Source: RFC 8032; the names in the notes are its. What differs: the accelerator multiplies points
and adds modulo the order of the base point; hashes and encodings are the host's. A verification has
no cofactor, as that of OpenSSL has none.
"""

from typing import BinaryIO

from coprime.device.jobs import EngineError
from coprime.engine.contract import Command, Error
from coprime.model.edwards_points import joint_multiple
from coprime.rsa.operations import FaultError, InvalidSignatureError

from .edwards import CURVES, ED448, ED25519, EdwardsCurve, Variant
from .weierstrass import CurveAccelerator, Point

__all__ = [
    "CURVES",
    "ED448",
    "ED25519",
    "EdwardsCurve",
    "FaultError",
    "InvalidSignatureError",
    "Variant",
    "public_key",
    "sign",
    "verify",
]

VERIFICATION = Command.ED_VERIFY
"""The operation that `verify` needs."""
PURE = Variant()


def public_key(accelerator: CurveAccelerator, curve: EdwardsCurve, private: bytes) -> bytes:
    """The public key of a private one, encoded. ValueError for another number of bytes."""
    scalar, _ = curve.expand(private)
    return curve.encode_point(_base_multiple(accelerator, curve, scalar % curve.n))


def _base_multiple(accelerator: CurveAccelerator, curve: EdwardsCurve, scalar: int) -> Point:
    gx, gy = curve.base
    numbers = {"k": scalar, "gx": gx, "gy": gy, **curve.numbers}
    found = accelerator.operate(Command.ED_BASE_MULTIPLY, numbers).outputs
    x, y = found["x"], found["y"]
    if not curve.has((x, y)):
        raise FaultError
    return x, y


def sign(
    accelerator: CurveAccelerator,
    curve: EdwardsCurve,
    private: bytes,
    message: bytes | BinaryIO,
    variant: Variant = PURE,
    *,
    public: bytes | None = None,
) -> bytes:
    """Sign a message, or what is in a file, with a private key.

    Without the `public` key it is computed first. The signature is verified in software before it
    is returned: a wrong one and the right one of a message reveal the private key. Raises
    ValueError for another number of bytes or a public key that is no point; FaultError if the
    accelerator's result is wrong, or the public key is that of another key.
    """
    scalar, prefix = curve.expand(private)
    if public is None:
        public = public_key(accelerator, curve, private)
    a = scalar % curve.n
    data = variant.message(curve, message)
    r = variant.number(curve, prefix, data)
    point = _base_multiple(accelerator, curve, r)
    encoded = curve.encode_point(point)
    h = variant.number(curve, encoded, public, data)
    result = accelerator.operate(
        Command.ED_FINISH, {"r": r, "h": h, "a": a, "p": curve.p, "n": curve.n}
    )
    s = result.outputs["s"]
    key, given = curve.decode_point(public), (curve.a, curve.d, curve.p)
    if not 0 <= s < curve.n or joint_multiple(s, h, key, curve.base, given) != point:
        raise FaultError
    return encoded + s.to_bytes(curve.size, "little")


def check_signature(curve: EdwardsCurve, signature: bytes) -> None:
    """Raise InvalidSignatureError unless a signature is as long as the curve's are."""
    if len(signature) != 2 * curve.size:
        raise InvalidSignatureError(
            f"it has {len(signature)} bytes, and one of {curve.name} has {2 * curve.size}"
        )


def verify(
    accelerator: CurveAccelerator,
    curve: EdwardsCurve,
    public: bytes,
    message: bytes | BinaryIO,
    signature: bytes,
    variant: Variant = PURE,
) -> None:
    """Return if the signature is valid for this message, or that in a file, and public key.

    Raises InvalidSignatureError if it is not, ValueError for a public key that is no point,
    FaultError if the engine's result contradicts its verdict.
    """
    x, y = curve.decode_point(public)
    encoded, s = signature[: curve.size], int.from_bytes(signature[curve.size :], "little")
    check_signature(curve, signature)
    if s >= curve.n:
        raise InvalidSignatureError
    try:
        xr, yr = curve.decode_point(encoded)
    except ValueError:
        raise InvalidSignatureError from None
    h = variant.number(curve, encoded, public, variant.message(curve, message))
    gx, gy = curve.base
    numbers = {"xr": xr, "yr": yr, "x": x, "y": y, "s": s, "h": h, "gx": gx, "gy": gy}
    try:
        result = accelerator.operate(Command.ED_VERIFY, {**numbers, **curve.numbers})
    except EngineError as error:
        if error.code is Error.SIGNATURE:
            raise InvalidSignatureError from None
        raise
    if result.outputs["xr"] != xr:
        raise FaultError
