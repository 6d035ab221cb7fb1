"""Key files of elliptic curves, in PEM or DER.

Written are PKCS #8 and SubjectPublicKeyInfo (RFC 8410 for X25519, X448, Ed25519 and Ed448, RFC 5915
and 5480 for the others); read are those of SEC 1 and OpenSSH, too.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x448 import X448PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

from coprime.encodings import der, key_files
from coprime.encodings.errors import KeyFileError
from coprime.encodings.key_info import EC, EcPrivateKey, PrivateKeyInfo, PublicKeyInfo, named
from coprime.model.curve_points import multiple
from coprime.rsa.keys import read_key_file, secret_bytes

from .curves import CURVES, Curve
from .edwards import ED448, ED25519, EdwardsCurve
from .explicit_parameters import match
from .montgomery import X448, X25519, MontgomeryCurve
from .weierstrass import CURVES as WEIERSTRASS_CURVES
from .weierstrass import WeierstrassCurve, curve_named

_ByteCurve = MontgomeryCurve | EdwardsCurve
"""Its keys are bytes (RFC 8410), and not numbers."""

_PRIVATE: Mapping[
    _ByteCurve, type[X25519PrivateKey | X448PrivateKey | Ed25519PrivateKey | Ed448PrivateKey]
] = {
    X25519: X25519PrivateKey,
    X448: X448PrivateKey,
    ED25519: Ed25519PrivateKey,
    ED448: Ed448PrivateKey,
}
"""Classes of the library that compute public keys."""
_LIBRARY: Mapping[WeierstrassCurve, ec.EllipticCurve] = {
    curve_named("P-224"): ec.SECP224R1(),
    curve_named("P-256"): ec.SECP256R1(),
    curve_named("P-384"): ec.SECP384R1(),
    curve_named("P-521"): ec.SECP521R1(),
    curve_named("secp256k1"): ec.SECP256K1(),
    curve_named("brainpoolP256r1"): ec.BrainpoolP256R1(),
    curve_named("brainpoolP384r1"): ec.BrainpoolP384R1(),
    curve_named("brainpoolP512r1"): ec.BrainpoolP512R1(),
}
"""Curves of the library; it has no others."""
_ALGORITHMS: Mapping[str, _ByteCurve] = {
    "1.3.101.110": X25519,
    "1.3.101.111": X448,
    "1.3.101.112": ED25519,
    "1.3.101.113": ED448,
}
_OBJECT_IDENTIFIERS: Mapping[str, WeierstrassCurve] = {
    "1.3.132.0.33": curve_named("P-224"),
    "1.2.840.10045.3.1.7": curve_named("P-256"),
    "1.3.132.0.34": curve_named("P-384"),
    "1.3.132.0.35": curve_named("P-521"),
    "1.3.132.0.10": curve_named("secp256k1"),
    "1.3.36.3.3.2.8.1.1.5": curve_named("brainpoolP224r1"),
    "1.3.36.3.3.2.8.1.1.7": curve_named("brainpoolP256r1"),
    "1.3.36.3.3.2.8.1.1.9": curve_named("brainpoolP320r1"),
    "1.3.36.3.3.2.8.1.1.11": curve_named("brainpoolP384r1"),
    "1.3.36.3.3.2.8.1.1.13": curve_named("brainpoolP512r1"),
}
_ALGORITHM_OF = {curve: name for name, curve in _ALGORITHMS.items()}
_IDENTIFIER_OF = {curve: name for name, curve in _OBJECT_IDENTIFIERS.items()}
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
        info = PublicKeyInfo(*_algorithm(self.curve), self.point)
        return key_files.write_public(info, is_pem=encoding is Encoding.PEM)


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
        """A new key, of random bytes of the operating system."""
        if isinstance(curve, WeierstrassCurve):
            return cls(curve, curve.encode_scalar(1 + secrets.randbelow(curve.n - 1)))
        return cls(curve, secrets.token_bytes(curve.size))

    def encode(
        self, passphrase: str | bytes | None = None, encoding: Encoding = Encoding.PEM
    ) -> bytes:
        """As PKCS #8, in PEM or DER, encrypted if there is a passphrase.

        ValueError if the passphrase is empty.
        """
        if isinstance(self.curve, WeierstrassCurve):
            public = der.tagged(1, der.bit_string(self.software_public().point))
            key = der.sequence(der.integer(1), der.octet_string(self.scalar), public)
        else:
            key = der.octet_string(self.scalar)
        info = PrivateKeyInfo(*_algorithm(self.curve), key)
        secret = secret_bytes(passphrase)
        return key_files.write_private(info, secret, is_pem=encoding is Encoding.PEM)

    def software_public(self) -> CurvePublicKey:
        """Its public key, without an accelerator.

        The library computes it; on a curve that it does not have, Python's integers do, in a time
        that depends on the key.
        """
        curve = self.curve
        if not isinstance(curve, WeierstrassCurve):
            library = _PRIVATE[curve].from_private_bytes(self.scalar)
            return CurvePublicKey(curve, library.public_key().public_bytes_raw())
        scalar = curve.decode_scalar(self.scalar)
        if curve in _LIBRARY:
            numbers = ec.derive_private_key(scalar, _LIBRARY[curve]).public_key().public_numbers()
            point = numbers.x, numbers.y
        else:
            point = multiple(*curve.base, scalar, **curve.numbers)
        return CurvePublicKey(curve, curve.encode_point(point))


def load_private(path: Path | str, passphrase: str | bytes | None = None) -> CurvePrivateKey:
    """Read a file as `parse_private` does; KeyFileError too if it cannot be read."""
    return parse_private(read_key_file(path), passphrase)


def load_public(path: Path | str) -> CurvePublicKey:
    """Read a file as `parse_public` does; KeyFileError too if it cannot be read."""
    return parse_public(read_key_file(path))


def parse_private(data: bytes, passphrase: str | bytes | None = None) -> CurvePrivateKey:
    """The private key in PEM or DER, PKCS #8 or SEC 1, or OpenSSH's, encrypted or not.

    Numbers may have zeros in front of them, or lack them. A passphrase that is not needed is
    ignored. Raises KeyFileError: not a key file, another kind of key, only a public key, passphrase
    wrong or missing, a public key in the file that is another one's.
    """
    info = key_files.read_private(data, secret_bytes(passphrase))
    if info is not None:
        return _private_of(info)
    if key_files.read_public(data) is not None:
        raise KeyFileError("the file holds only a public key, and a private key is needed")
    raise key_files.no_key(data, "private")


def parse_public(data: bytes) -> CurvePublicKey:
    """The public key in PEM or DER, SubjectPublicKeyInfo, or OpenSSH's.

    Raises KeyFileError: not a key file, another kind of key, or a private key, which is not turned
    into a public one here.
    """
    info = key_files.read_public(data)
    if info is not None:
        return _public_of(info)
    if key_files.is_private(data):
        raise KeyFileError(
            "the file holds a private key, and a public key is needed: write it with"
            " coprime ec public --key FILE -o NEW"
        )
    raise key_files.no_key(data, "public")


def _algorithm(curve: Curve) -> tuple[str, der.Element | None]:
    """A curve's algorithm in key files, and the parameters of that."""
    if isinstance(curve, WeierstrassCurve):
        return EC, named(_IDENTIFIER_OF[curve])
    return _ALGORITHM_OF[curve], None


def _curve_of(parameters: der.Element | None) -> WeierstrassCurve | None:
    """The curve of EC parameters, named or explicit; None if its name is not known here."""
    if parameters is None:
        return None
    try:
        if parameters.tag != der.SEQUENCE:
            return _OBJECT_IDENTIFIERS.get(parameters.name())
        found = match(parameters, WEIERSTRASS_CURVES)
    except ValueError as error:
        raise KeyFileError(f"the file names no curve: {error}") from None
    if found is None:
        raise KeyFileError("the explicit parameters in the file are not those of a known curve")
    return found


def _private_of(info: PrivateKeyInfo) -> CurvePrivateKey:
    """The key of a curve. KeyFileError if it is none."""
    other = KeyFileError(f"the file holds a private key that is not of {_KINDS}")
    curve: Curve | None = _ALGORITHMS.get(info.algorithm)
    public = info.public
    try:
        if curve is not None:
            key = CurvePrivateKey(curve, der.read(info.key).octets())
        elif info.algorithm == EC:
            found = EcPrivateKey.read(info.key)
            curve = _curve_of(info.parameters or found.curve)
            if curve is None:
                raise other
            if info.parameters and found.curve and _curve_of(found.curve) is not curve:
                raise KeyFileError("the private key in the file is of two curves")
            key = CurvePrivateKey(curve, curve.encode_scalar(curve.check_scalar(found.number)))
            public = found.public or public
        else:
            raise other
    except ValueError as error:
        raise KeyFileError(f"the file holds no private key: {error}") from None
    if public is not None and _public_on(key.curve, public) != key.software_public():
        raise KeyFileError("the private and the public key in the file are not one key's")
    return key


def _public_of(info: PublicKeyInfo) -> CurvePublicKey:
    """The key of a curve. KeyFileError if it is none."""
    curve: Curve | None = _ALGORITHMS.get(info.algorithm)
    if info.algorithm == EC:
        curve = _curve_of(info.parameters)
    if curve is None:
        raise KeyFileError(f"the file holds a public key that is not of {_KINDS}")
    return _public_on(curve, info.key)


def _public_on(curve: Curve, point: bytes) -> CurvePublicKey:
    """A public key, compressed or not. KeyFileError if it is none of the curve."""
    try:
        if isinstance(curve, WeierstrassCurve):
            point = curve.encode_point(curve.decode_any_point(point))
        return CurvePublicKey(curve, point)
    except ValueError as error:
        raise KeyFileError(f"the file holds no public key: {error}") from None


def check_agreement(key: CurvePrivateKey, other: CurvePublicKey) -> None:
    """Raise ValueError unless both keys are of one curve, and of one that has shared secrets."""
    if key.curve is not other.curve:
        raise ValueError(
            f"the private key is of {key.curve.name}, and the public key of {other.curve.name}"
        )
    if isinstance(key.curve, EdwardsCurve):
        raise ValueError(f"keys of {key.curve.name} have no shared secret: they are for signatures")
