"""ECDSA on short Weierstrass curves: signatures and their nonces.

Source: FIPS 186-5, sections 6.4 and A.3.1; RFC 6979, section 3.2, for deterministic nonces. What
differs: the accelerator multiplies points and inverts; digest, nonce and encoding are the host's.
"""

import hmac
import itertools
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Self

from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from coprime.device.jobs import EngineError
from coprime.engine.contract import Command, Error
from coprime.model.curve_points import add, multiple, verified
from coprime.model.roots import square_root
from coprime.rsa.hashes import check_hashes, digest_size
from coprime.rsa.operations import FaultError, InvalidSignatureError

from .weierstrass import CurveAccelerator, Point, WeierstrassCurve

__all__ = [
    "FaultError",
    "InvalidSignatureError",
    "Nonces",
    "Signature",
    "deterministic",
    "hashed",
    "random",
    "recovered",
    "sign",
    "verify",
]

Nonces = Callable[[WeierstrassCurve, int, bytes], Iterator[int]]
"""Nonces from 1 to n - 1 for a curve, a private key and a digest: one, and others if it fails."""

_RECOVERIES = 4
"""Recovery numbers: 1 if y of k G is odd, plus 2 if its x is r + n."""
_ATTEMPTS = 32
"""Nonces that are tried; on the smallest curves one in seven fails, on others none ever does."""


@dataclass(frozen=True)
class Signature:
    """Two numbers; `verify` checks their ranges.

    Parameters
    ----------
    r, s : 0 or more
    """

    r: int
    s: int

    @classmethod
    def from_der(cls, data: bytes) -> Self:
        """Read DER (RFC 3279, section 2.2.3). Raises InvalidSignatureError for any other bytes."""
        try:
            return cls(*decode_dss_signature(data))
        except ValueError:
            raise InvalidSignatureError("it is not in DER") from None

    @classmethod
    def from_raw(cls, curve: WeierstrassCurve, data: bytes) -> Self:
        """Read r and s of one length. Raises InvalidSignatureError for another number of bytes."""
        size = curve.scalar_size
        if len(data) != 2 * size:
            raise InvalidSignatureError(
                f"r and s of {curve.name} have {2 * size} bytes, not {len(data)}"
            )
        return cls(int.from_bytes(data[:size]), int.from_bytes(data[size:]))

    @classmethod
    def from_recoverable(cls, curve: WeierstrassCurve, data: bytes) -> tuple[Self, int]:
        """Read r, s and the recovery number; InvalidSignatureError for bytes that are no such."""
        if not data or data[-1] >= _RECOVERIES:
            raise InvalidSignatureError(f"it does not end with a byte below {_RECOVERIES}")
        return cls.from_raw(curve, data[:-1]), data[-1]

    def der(self) -> bytes:
        """As DER."""
        return encode_dss_signature(self.r, self.s)

    def raw(self, curve: WeierstrassCurve) -> bytes:
        """r and s one after the other, each as long as n, the highest byte first (IEEE P1363)."""
        return curve.encode_scalar(self.r) + curve.encode_scalar(self.s)

    def recoverable(self, curve: WeierstrassCurve, public: Point, digest: bytes) -> bytes:
        """As `raw`, and a byte that selects the public key among four: `recovered`.

        Raises InvalidSignatureError unless the signature is that key's.
        """
        for recovery in range(_RECOVERIES):
            try:
                if recovered(curve, digest, self, recovery) == public:
                    return self.raw(curve) + bytes([recovery])
            except InvalidSignatureError:
                continue
        raise InvalidSignatureError


VERIFICATION = Command.ECDSA_VERIFY
"""The operation that `verify` needs."""


def signing_command(nonces: Nonces | None) -> Command:
    """The operation that `sign` needs."""
    return Command.ECDSA_SIGN if nonces is None else Command.ECDSA_SIGN_WITH


def deterministic(
    curve: WeierstrassCurve, d: int, digest: bytes, *, hash: str = "sha256"
) -> Iterator[int]:
    """Nonces from the private key and the digest, by HMAC with the hash that made the digest.

    RFC 6979, section 3.2; the letters are those of its steps.
    """
    check_hashes(hash)
    key = curve.encode_scalar(d) + curve.encode_scalar(hashed(curve, digest))  # a
    v = b"\x01" * digest_size(hash)  # b
    k = bytes(digest_size(hash))  # c
    for byte in (b"\0", b"\1"):  # d to g
        k = hmac.digest(k, v + byte + key, hash)
        v = hmac.digest(k, v, hash)
    while True:  # h
        t = b""
        while len(t) < curve.scalar_size:
            v = hmac.digest(k, v, hash)
            t += v
        nonce = _leftmost(curve, t)
        if 0 < nonce < curve.n:
            yield nonce
        k = hmac.digest(k, v + b"\0", hash)
        v = hmac.digest(k, v, hash)


def random(curve: WeierstrassCurve, d: int, digest: bytes) -> Iterator[int]:
    """Nonces from the operating system: 64 bits more than n has, reduced (FIPS 186-5, A.3.1)."""
    while True:
        yield 1 + secrets.randbits(curve.n.bit_length() + 64) % (curve.n - 1)


def hashed(curve: WeierstrassCurve, digest: bytes) -> int:
    """The number z of a digest: its leftmost bits, as many as n has, modulo n."""
    return _leftmost(curve, digest) % curve.n


def _leftmost(curve: WeierstrassCurve, data: bytes) -> int:
    """The leftmost bits as a number: as many as n has, or all."""
    return int.from_bytes(data) >> max(0, 8 * len(data) - curve.n.bit_length())


def sign(
    accelerator: CurveAccelerator,
    curve: WeierstrassCurve,
    d: int,
    digest: bytes,
    *,
    nonces: Nonces | None = deterministic,
    low_s: bool = False,
    public: Point | None = None,
) -> Signature:
    """Sign a digest with the private key d, 1 to n - 1.

    Without `nonces` the accelerator draws one, if it is built for that: with ECDSA_SIGN. With
    `low_s`, s is the lower one of s and n - s, as Bitcoin has it on secp256k1. With the key's
    `public` point the signature is verified in software before it is returned, since an
    accelerator does not find all of its faults. Raises ValueError for another d, and FaultError if
    the accelerator's result is wrong.
    """
    curve.check_scalar(d)
    z = hashed(curve, digest)
    drawn = itertools.repeat(None, _ATTEMPTS)
    for k in drawn if nonces is None else islice(nonces(curve, d, digest), _ATTEMPTS):
        found = _signed(accelerator, curve, d, k if k is None else curve.check_scalar(k), z)
        if found is not None:
            if public is not None:
                _check(curve, public, z, found)
            return Signature(found.r, min(found.s, curve.n - found.s)) if low_s else found
    raise FaultError


def _check(curve: WeierstrassCurve, public: Point, z: int, found: Signature) -> None:
    """Verify a signature in software. Raises FaultError for a wrong one."""
    try:
        verified(found.r, found.s, z, *public, *curve.base, **curve.numbers)
    except ValueError:
        raise FaultError from None


def _signed(
    accelerator: CurveAccelerator,
    curve: WeierstrassCurve,
    d: int,
    k: int | None,
    z: int,
) -> Signature | None:
    """The signature with a nonce, or with one that is drawn; None if r or s would be 0."""
    gx, gy = curve.base
    numbers = {"z": z, "d": d, "gx": gx, "gy": gy, **curve.numbers}
    command = Command.ECDSA_SIGN
    if k is not None:
        command, numbers = Command.ECDSA_SIGN_WITH, {**numbers, "k": k}
    try:
        result = accelerator.operate(command, numbers)
    except EngineError as error:
        if error.code is Error.OPERAND_RANGE:
            return None
        raise
    r, s = result.outputs["r"], result.outputs["s"]
    if not 0 < r < curve.n or not 0 < s < curve.n:
        raise FaultError
    if k is not None and (s * k - z - r * d) % curve.n:
        raise FaultError
    return Signature(r, s)


def recovered(curve: WeierstrassCurve, digest: bytes, signature: Signature, recovery: int) -> Point:
    """The public key of a signature and its recovery number, 0 to 3; in software.

    Source: SEC 1, section 4.1.6. Bit 0 of the number is the lowest bit of y of the point k G, and
    bit 1 is whether its x is r + n. Raises InvalidSignatureError if there is no such point or key.
    """
    n, r, s = curve.n, signature.r, signature.s
    x = r + n * (recovery >> 1)
    if not 0 < r < n or not 0 < s < n or x >= curve.p:
        raise InvalidSignatureError
    root = square_root((x**3 + curve.a * x + curve.b) % curve.p, curve.p)
    if root is None:
        raise InvalidSignatureError
    y = root if root & 1 == recovery & 1 else -root % curve.p
    inverse, z = pow(r, -1, n), hashed(curve, digest)
    of_point = multiple(x, y, s * inverse, **curve.numbers)
    if not z:
        return of_point
    of_base = multiple(*curve.base, -z * inverse, **curve.numbers)
    found = add(of_point, of_base, curve.a, curve.p)
    if found is None:
        raise InvalidSignatureError
    return found


def verify(
    accelerator: CurveAccelerator,
    curve: WeierstrassCurve,
    public: Point,
    digest: bytes,
    signature: Signature,
    *,
    low_s: bool = False,
) -> None:
    """Return if the signature is valid for this digest and public key.

    With `low_s`, the greater one of s and n - s is not. Raises InvalidSignatureError if it is not
    valid, ValueError unless the public key is on the curve, FaultError if the engine's result
    contradicts its verdict.
    """
    r, s = signature.r, signature.s
    (x, y), (gx, gy) = curve.check_point(public), curve.base
    if not 0 < r < curve.n or not 0 < s < curve.n or (low_s and 2 * s > curve.n):
        raise InvalidSignatureError
    numbers = {"r": r, "s": s, "z": hashed(curve, digest), "x": x, "y": y, "gx": gx, "gy": gy}
    try:
        result = accelerator.operate(Command.ECDSA_VERIFY, {**numbers, **curve.numbers})
    except EngineError as error:
        # POINT: the sum is at infinity. OPERAND_RANGE: r is not below p.
        if error.code in (Error.SIGNATURE, Error.POINT, Error.OPERAND_RANGE):
            raise InvalidSignatureError from None
        raise
    if result.outputs["r"] != r:
        raise FaultError
