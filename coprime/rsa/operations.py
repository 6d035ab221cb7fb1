"""Encrypt, decrypt, sign and verify on an accelerator.

The accelerator computes the modular exponentiations; the host pads, checks and blinds.
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
    """The signature is not valid for this message and key."""

    def __init__(self) -> None:
        super().__init__("the signature is not valid")


class FaultError(Exception):
    """The accelerator computed a wrong signature, which is not returned."""

    def __init__(self) -> None:
        super().__init__("the accelerator computed a wrong signature, which is not returned")


class HasValue(Protocol):
    """The result of an accelerator."""

    @property
    def value(self) -> int:
        """The number, below the modulus."""
        ...


class RsaAccelerator(Protocol):
    """The accelerator that these operations need; `coprime.device.accelerator` provides it."""

    def load_public(self, n: int, e: int) -> None:
        """Load a public key."""
        ...

    def public(self, x: int) -> HasValue:
        """x^e mod n with the public key."""
        ...

    def load_private(self, key: Any) -> None:
        """Load a private key."""
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
    padding : None: OAEP with SHA-256

    Raises
    ------
    MessageTooLongError
        The message does not fit; the error holds the limit.
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
    padding : None: OAEP with SHA-256
    blinding : multiply the accelerator's input by a random number, so that its power consumption
        and timing do not depend on the ciphertext

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

    The host checks the signature with the public exponent before returning it, since one wrong half
    of a CRT exponentiation would reveal the primes.

    Parameters
    ----------
    padding : None: PSS with SHA-256
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
    """Return if the signature is valid for this message and key.

    Parameters
    ----------
    padding : None: PSS with SHA-256

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
    """The number in `data`; None unless it is below the modulus, and `data` as long as that."""
    if not isinstance(data, bytes):
        raise TypeError(f"the input must be bytes, not {type(data).__name__}")
    value = int.from_bytes(data)
    return value if len(data) == _size(key.bits) and value < key.n else None


def _to_bytes(value: int, bits: int) -> bytes:
    return value.to_bytes(_size(bits))


def _size(bits: int) -> int:
    return (bits + 7) // 8
