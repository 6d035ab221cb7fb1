"""Key files of elliptic curves, in PEM or DER.

Written are PKCS #8 and SubjectPublicKeyInfo (RFC 8410 for X25519, X448, Ed25519 and Ed448, RFC 5915
and 5480 for the others); read are those of SEC 1 and OpenSSH, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey, Ed448PublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
from cryptography.hazmat.primitives.asymmetric.x448 import X448PrivateKey, X448PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat, PublicFormat

from coprime.rsa.keys import (
    KeyFileError,
    encryption,
    library_private,
    library_public,
    no_key,
    read_key_file,
)

from .eddsa import ED448, ED25519, EdwardsCurve
from .montgomery import X448, X25519, MontgomeryCurve
from .weierstrass import WeierstrassCurve, curve_named

Curve = MontgomeryCurve | EdwardsCurve | WeierstrassCurve
_BytesPrivate = X25519PrivateKey | X448PrivateKey | Ed25519PrivateKey | Ed448PrivateKey
_BytesPublic = X25519PublicKey | X448PublicKey | Ed25519PublicKey | Ed448PublicKey

_PRIVATE: Mapping[MontgomeryCurve | EdwardsCurve, type[_BytesPrivate]] = {
    X25519: X25519PrivateKey,
    X448: X448PrivateKey,
    ED25519: Ed25519PrivateKey,
    ED448: Ed448PrivateKey,
}
_PUBLIC: Mapping[MontgomeryCurve | EdwardsCurve, type[_BytesPublic]] = {
    X25519: X25519PublicKey,
    X448: X448PublicKey,
    ED25519: Ed25519PublicKey,
    ED448: Ed448PublicKey,
}
_NAMED: Mapping[WeierstrassCurve, ec.EllipticCurve] = {
    curve_named("P-224"): ec.SECP224R1(),
    curve_named("P-256"): ec.SECP256R1(),
    curve_named("P-384"): ec.SECP384R1(),
    curve_named("P-521"): ec.SECP521R1(),
    curve_named("secp256k1"): ec.SECP256K1(),
    curve_named("brainpoolP256r1"): ec.BrainpoolP256R1(),
    curve_named("brainpoolP384r1"): ec.BrainpoolP384R1(),
    curve_named("brainpoolP512r1"): ec.BrainpoolP512R1(),
}
_BY_LIBRARY_NAME = {named.name: curve for curve, named in _NAMED.items()}
_CURVES: tuple[Curve, ...] = (*_PRIVATE, *_NAMED)
CURVES: Mapping[str, Curve] = {curve.name: curve for curve in _CURVES}
"""The curves of key files, by name."""
_KINDS = f"{', '.join(list(CURVES)[:-1])} or {list(CURVES)[-1]}"


@dataclass(frozen=True)
class CurvePublicKey:
    """A public key. ValueError unless it is one of the curve.

    Parameters
    ----------
    curve : whose
    point : as bytes: coordinate u; y and a bit of x (RFC 8032); or both coordinates, uncompressed
    """

    curve: Curve
    point: bytes

    def __post_init__(self) -> None:
        self.curve.decode_point(self.point)

    def encode(self, encoding: Encoding = Encoding.PEM) -> bytes:
        """As SubjectPublicKeyInfo, in PEM or DER."""
        return self._library().public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)

    def _library(self) -> _BytesPublic | ec.EllipticCurvePublicKey:
        if not isinstance(self.curve, WeierstrassCurve):
            return _PUBLIC[self.curve].from_public_bytes(self.point)
        named = _NAMED[self.curve]
        return ec.EllipticCurvePublicKey.from_encoded_point(named, self.point)


@dataclass(frozen=True)
class CurvePrivateKey:
    """A private key; its repr shows no secret. ValueError unless it is one of the curve.

    Parameters
    ----------
    curve : whose
    scalar : as bytes: not yet clamped, the lowest byte first; what EdDSA makes a hash of; or 1 to
        n - 1, the highest byte first
    """

    curve: Curve
    scalar: bytes = field(repr=False)

    def __post_init__(self) -> None:
        self.curve.decode_scalar(self.scalar)

    @classmethod
    def generate(cls, curve: Curve) -> Self:
        """A new key, of the library's random bytes."""
        if not isinstance(curve, WeierstrassCurve):
            return cls(curve, _PRIVATE[curve].generate().private_bytes_raw())
        key = ec.generate_private_key(_NAMED[curve])
        return cls(curve, curve.encode_scalar(key.private_numbers().private_value))

    def encode(
        self, passphrase: str | bytes | None = None, encoding: Encoding = Encoding.PEM
    ) -> bytes:
        """As PKCS #8, in PEM or DER, encrypted if there is a passphrase.

        ValueError if the passphrase is empty.
        """
        key = self._library()
        return key.private_bytes(encoding, PrivateFormat.PKCS8, encryption(passphrase))

    def software_public(self) -> CurvePublicKey:
        """Its public key, which the library computes without an accelerator."""
        key = _own_public(self._library().public_key())
        assert key is not None
        return key

    def _library(self) -> _BytesPrivate | ec.EllipticCurvePrivateKey:
        if not isinstance(self.curve, WeierstrassCurve):
            return _PRIVATE[self.curve].from_private_bytes(self.scalar)
        return ec.derive_private_key(self.curve.decode_scalar(self.scalar), _NAMED[self.curve])


def load_private(path: Path | str, passphrase: str | bytes | None = None) -> CurvePrivateKey:
    """Read a file as `parse_private` does; KeyFileError too if it cannot be read."""
    return parse_private(read_key_file(path), passphrase)


def load_public(path: Path | str) -> CurvePublicKey:
    """Read a file as `parse_public` does; KeyFileError too if it cannot be read."""
    return parse_public(read_key_file(path))


def parse_private(data: bytes, passphrase: str | bytes | None = None) -> CurvePrivateKey:
    """The private key in PEM or DER, PKCS #8 or SEC 1, encrypted or not, or OpenSSH's.

    A passphrase that is not needed is ignored. Raises KeyFileError: not a key file, another kind of
    key, only a public key, passphrase wrong or missing.
    """
    key = library_private(data, passphrase)
    own = _own_private(key)
    if own is not None:
        return own
    if key is not None:
        raise KeyFileError(f"the file holds a private key that is not of {_KINDS}")
    if library_public(data) is not None:
        raise KeyFileError("the file holds only a public key, and a private key is needed")
    raise no_key(data, "private")


def parse_public(data: bytes) -> CurvePublicKey:
    """The public key in PEM or DER, SubjectPublicKeyInfo, or OpenSSH's.

    Raises KeyFileError: not a key file, another kind of key, or a private key, which is not turned
    into a public one here.
    """
    key = library_public(data)
    own = _own_public(key)
    if own is not None:
        return own
    if key is not None:
        raise KeyFileError(f"the file holds a public key that is not of {_KINDS}")
    if b"PRIVATE KEY-----" in data:
        raise KeyFileError(
            "the file holds a private key, and a public key is needed: write it with"
            " coprime ec public --key FILE -o NEW"
        )
    raise no_key(data, "public")


def _own_private(key: PrivateKeyTypes | None) -> CurvePrivateKey | None:
    """A key of the library; None if it is of no curve that is known here."""
    if isinstance(key, ec.EllipticCurvePrivateKey):
        curve = _BY_LIBRARY_NAME.get(key.curve.name)
        if curve is None:
            return None
        return CurvePrivateKey(curve, curve.encode_scalar(key.private_numbers().private_value))
    for of_bytes, kind in _PRIVATE.items():
        if isinstance(key, kind):
            return CurvePrivateKey(of_bytes, key.private_bytes_raw())
    return None


def _own_public(key: PublicKeyTypes | None) -> CurvePublicKey | None:
    """A key of the library; None if it is of no curve that is known here.

    KeyFileError if the library has not noticed that it is no point of its curve.
    """
    if isinstance(key, ec.EllipticCurvePublicKey):
        curve = _BY_LIBRARY_NAME.get(key.curve.name)
        if curve is None:
            return None
        numbers = key.public_numbers()
        return CurvePublicKey(curve, curve.encode_point((numbers.x, numbers.y)))
    for of_bytes, kind in _PUBLIC.items():
        if isinstance(key, kind):
            try:
                return CurvePublicKey(of_bytes, key.public_bytes_raw())
            except ValueError as error:
                raise KeyFileError(f"the file holds no public key: {error}") from None
    return None


def check_agreement(own: CurvePrivateKey, other: CurvePublicKey) -> None:
    """Raise ValueError unless both keys are of one curve, and of one that has shared secrets."""
    if own.curve is not other.curve:
        raise ValueError(
            f"the private key is of {own.curve.name}, and the public key of {other.curve.name}"
        )
    if isinstance(own.curve, EdwardsCurve):
        raise ValueError(f"keys of {own.curve.name} have no shared secret: they are for signatures")
