"""Encrypt, decrypt, sign and verify on an accelerator.

The modular exponentiations are the accelerator's; padding, checks and blinding are the host's.
"""

import math
import secrets
from typing import Any, Protocol

from coprime.rsa.keys import RsaPrivateKey, RsaPublicKey
from coprime.rsa.padding import DecryptionError, EncryptionPadding, Oaep, Pss, SignaturePadding

__all__ = [
    "FaultError",
    "InvalidSignatureError",
    "RsaAccelerator",
    "decrypt",
    "encrypt",
    "sign",
    "verify",
]


class InvalidSignatureError(Exception):
    """The signature is not one of this message by this key."""

    def __init__(self) -> None:
        super().__init__("the signature is not valid")


class FaultError(Exception):
    """The accelerator returned a wrong signature, which is not given out."""

    def __init__(self) -> None:
        super().__init__("the accelerator returned a wrong signature; it is not given out")


class HasValue(Protocol):
    """What an accelerator returns."""

    @property
    def value(self) -> int:
        """The result, below the modulus."""
        ...


class RsaAccelerator(Protocol):
    """What these operations need of an accelerator: `coprime.device.accelerator` has it."""

    def load_public(self, n: int, e: int) -> None:
        """Take a public key."""
        ...

    def public(self, x: int) -> HasValue:
        """x^e mod n with the public key."""
        ...

    def load_private(self, key: Any) -> None:
        """Take a private key."""
        ...

    def private(self, x: int) -> HasValue:
        """x^d mod n with the private key."""
        ...


def encrypt(
    accelerator: RsaAccelerator,
    key: RsaPublicKey,
    message: bytes,
    padding: EncryptionPadding | None = None,
) -> bytes:
    """Encrypt a message; the ciphertext is as long as the modulus.

    Parameters
    ----------
    padding : None is OAEP with SHA-256

    Raises
    ------
    MessageTooLongError
        With the limit.
    ValueError
        The modulus is too short for the padding.
    """
    encoded = (padding or Oaep()).encode(message, key.bits)
    accelerator.load_public(key.n, key.e)
    return _to_bytes(accelerator.public(int.from_bytes(encoded)).value, key.bits)


def decrypt(
    accelerator: RsaAccelerator,
    key: RsaPrivateKey,
    ciphertext: bytes,
    padding: EncryptionPadding | None = None,
    *,
    blinding: bool = False,
) -> bytes:
    """Decrypt a ciphertext.

    Parameters
    ----------
    padding : None is OAEP with SHA-256
    blinding : multiply what the accelerator sees by a random number, so that its power and timing
        do not follow the ciphertext

    Raises
    ------
    DecryptionError
        Whatever is wrong with the ciphertext.
    """
    value = _from_bytes(ciphertext, key)
    if value is None:
        raise DecryptionError
    encoded = _to_bytes(_private(accelerator, key, value, blinding), key.bits)
    return (padding or Oaep()).decode(encoded)


def sign(
    accelerator: RsaAccelerator,
    key: RsaPrivateKey,
    message: bytes,
    padding: SignaturePadding | None = None,
    *,
    blinding: bool = False,
) -> bytes:
    """Sign a message; the signature is as long as the modulus.

    The host checks the signature with the public exponent before it gives it out, since one wrong
    half of a CRT exponentiation would give the primes away.

    Parameters
    ----------
    padding : None is PSS with SHA-256
    blinding : as for `decrypt`

    Raises
    ------
    ValueError
        The modulus is too short for the padding.
    FaultError
        The accelerator's result is wrong.
    """
    encoded = int.from_bytes((padding or Pss()).encode(message, key.bits))
    value = _private(accelerator, key, encoded, blinding)
    if value >= key.n or pow(value, key.e, key.n) != encoded:
        raise FaultError
    return _to_bytes(value, key.bits)


def verify(
    accelerator: RsaAccelerator,
    key: RsaPublicKey,
    message: bytes,
    signature: bytes,
    padding: SignaturePadding | None = None,
) -> None:
    """Return if the signature is one of this message by this key.

    Parameters
    ----------
    padding : None is PSS with SHA-256

    Raises
    ------
    InvalidSignatureError
        It is not.
    """
    value = _from_bytes(signature, key)
    if value is None:
        raise InvalidSignatureError
    accelerator.load_public(key.n, key.e)
    encoded = _to_bytes(accelerator.public(value).value, key.bits)
    if not (padding or Pss()).matches(message, encoded, key.bits):
        raise InvalidSignatureError


def _private(accelerator: RsaAccelerator, key: RsaPrivateKey, value: int, blinding: bool) -> int:
    accelerator.load_private(key)
    if not blinding:
        return accelerator.private(value).value
    mask = 0
    while math.gcd(mask, key.n) != 1:
        mask = 1 + secrets.randbelow(key.n - 1)
    blinded = value * pow(mask, key.e, key.n) % key.n
    return accelerator.private(blinded).value * pow(mask, -1, key.n) % key.n


def _from_bytes(data: bytes, key: RsaPublicKey | RsaPrivateKey) -> int | None:
    """Return the number below the modulus that `data`, as long as the modulus, holds; or None."""
    if not isinstance(data, bytes):
        raise TypeError(f"the input must be bytes, not {type(data).__name__}")
    value = int.from_bytes(data)
    return value if len(data) == _size(key.bits) and value < key.n else None


def _to_bytes(value: int, bits: int) -> bytes:
    return value.to_bytes(_size(bits))


def _size(bits: int) -> int:
    return (bits + 7) // 8
