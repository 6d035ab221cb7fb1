"""Key files of X25519 and X448: PKCS #8 and SubjectPublicKeyInfo (RFC 8410), in PEM or DER."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

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

from .montgomery import X448, X25519, MontgomeryCurve

_LibraryPrivate = type[X25519PrivateKey] | type[X448PrivateKey]
_LibraryPublic = type[X25519PublicKey] | type[X448PublicKey]
_PRIVATE: Mapping[MontgomeryCurve, _LibraryPrivate] = {
    X25519: X25519PrivateKey,
    X448: X448PrivateKey,
}
_PUBLIC: Mapping[MontgomeryCurve, _LibraryPublic] = {X25519: X25519PublicKey, X448: X448PublicKey}
_KINDS = " or ".join(curve.name for curve in _PRIVATE)


@dataclass(frozen=True)
class CurvePublicKey:
    """A public key. ValueError for a wrong length.

    Parameters
    ----------
    curve : whose
    u : coordinate, `curve.size` bytes
    """

    curve: MontgomeryCurve
    u: bytes

    def __post_init__(self) -> None:
        self.curve.decode_u(self.u)

    def encode(self, encoding: Encoding = Encoding.PEM) -> bytes:
        """As SubjectPublicKeyInfo, in PEM or DER."""
        key = _PUBLIC[self.curve].from_public_bytes(self.u)
        return key.public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)


@dataclass(frozen=True)
class CurvePrivateKey:
    """A private key; its repr shows no secret. ValueError for a wrong length.

    Parameters
    ----------
    curve : whose
    scalar : `curve.size` bytes, not yet clamped
    """

    curve: MontgomeryCurve
    scalar: bytes = field(repr=False)

    def __post_init__(self) -> None:
        self.curve.decode_scalar(self.scalar)

    @classmethod
    def generate(cls, curve: MontgomeryCurve) -> Self:
        """A new key, of the library's random bytes."""
        return cls(curve, _PRIVATE[curve].generate().private_bytes_raw())

    def encode(
        self, passphrase: str | bytes | None = None, encoding: Encoding = Encoding.PEM
    ) -> bytes:
        """As PKCS #8, in PEM or DER, encrypted if there is a passphrase.

        ValueError if the passphrase is empty.
        """
        key = _PRIVATE[self.curve].from_private_bytes(self.scalar)
        return key.private_bytes(encoding, PrivateFormat.PKCS8, encryption(passphrase))

    def software_public(self) -> CurvePublicKey:
        """Its public key, which the library computes without an accelerator."""
        key = _PRIVATE[self.curve].from_private_bytes(self.scalar).public_key()
        return CurvePublicKey(self.curve, key.public_bytes_raw())


def load_private(path: Path | str, passphrase: str | bytes | None = None) -> CurvePrivateKey:
    """Read a file as `parse_private` does; KeyFileError too if it cannot be read."""
    return parse_private(read_key_file(path), passphrase)


def load_public(path: Path | str) -> CurvePublicKey:
    """Read a file as `parse_public` does; KeyFileError too if it cannot be read."""
    return parse_public(read_key_file(path))


def parse_private(data: bytes, passphrase: str | bytes | None = None) -> CurvePrivateKey:
    """The private key in PEM or DER, PKCS #8, encrypted or not.

    A passphrase that is not needed is ignored. Raises KeyFileError: not a key file, another kind of
    key, only a public key, passphrase wrong or missing.
    """
    key = library_private(data, passphrase)
    for curve, kind in _PRIVATE.items():
        if isinstance(key, kind):
            return CurvePrivateKey(curve, key.private_bytes_raw())
    if key is not None:
        raise KeyFileError(f"the file holds a private key that is not of {_KINDS}")
    if library_public(data) is not None:
        raise KeyFileError("the file holds only a public key, and a private key is needed")
    raise no_key(data, "private")


def parse_public(data: bytes) -> CurvePublicKey:
    """The public key in PEM or DER, SubjectPublicKeyInfo.

    Raises KeyFileError: not a key file, another kind of key, or a private key, which is not turned
    into a public one here.
    """
    key = library_public(data)
    for curve, kind in _PUBLIC.items():
        if isinstance(key, kind):
            return CurvePublicKey(curve, key.public_bytes_raw())
    if key is not None:
        raise KeyFileError(f"the file holds a public key that is not of {_KINDS}")
    if b"PRIVATE KEY-----" in data:
        raise KeyFileError("the file holds a private key, and a public key is needed")
    raise no_key(data, "public")


def check_same_curve(own: CurvePrivateKey, other: CurvePublicKey) -> None:
    """Raise ValueError unless both keys are of one curve."""
    if own.curve is not other.curve:
        raise ValueError(
            f"the private key is of {own.curve.name}, and the public key of {other.curve.name}"
        )
