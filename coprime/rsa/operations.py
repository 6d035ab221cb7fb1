"""Encrypt, decrypt, sign and verify on an accelerator.

The accelerator computes the modular exponentiations; the host pads, checks and blinds.
"""

import hashlib
import math
import secrets
from typing import Any, Protocol

from coprime.errors import CoprimeError
from coprime.model.padding_formats import rejection_message
from coprime.rsa.keys import RsaPrivateKey, RsaPublicKey
from coprime.rsa.padding import DecryptionError, EncryptionPadding, Oaep, Pss, SignaturePadding

__all__ = [
    "FaultError",
    "InvalidSignatureError",
    "RsaAccelerator",
    "check_ciphertext",
    "check_signature",
    "decrypt",
    "encrypt",
    "sign",
    "verify",
]


_INVALID = "the signature is not valid"


class InvalidSignatureError(CoprimeError):
    """The signature is not valid for this message and key.

    Where its form alone shows that it is none of the key, the message says what is wrong with it.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(f"the signature is not valid: {reason}" if reason else _INVALID)


class FaultError(CoprimeError):
    """The accelerator computed a wrong result of a private operation, which is not returned."""

    def __init__(self) -> None:
        super().__init__("the accelerator computed a wrong result, which is not returned")


class HasValue(Protocol):
    """The result of an accelerator."""

    @property
    def value(self) -> int:
        """The number, below the modulus."""


class RsaAccelerator(Protocol):
    """The accelerator that these operations need; `coprime.device.accelerator` provides it."""

    def load_public(self, n: int, e: int) -> None:
        """Load a public key."""

    def public(self, x: int) -> HasValue:
        """x^e mod n with the public key."""

    def load_private(self, key: Any) -> None:
        """Load a private key."""

    def private(self, x: int) -> HasValue:
        """x^d mod n with the private key."""


def encrypt(
    accelerator: RsaAccelerator,
    key: RsaPublicKey,
    message: bytes,
    padding: EncryptionPadding | None = None,
) -> bytes:
    """Encrypt a message, by default with OAEP and SHA-256.

    The ciphertext is as long as the modulus. Raises MessageTooLongError, which holds the limit, if
    the message does not fit, ValueError if the modulus is too short for the padding.
    """
    encoded = (padding or Oaep()).encode(message, key.bits)
    accelerator.load_public(key.n, key.e)
    return accelerator.public(int.from_bytes(encoded)).value.to_bytes(key.size)


def decrypt(
    accelerator: RsaAccelerator,
    key: RsaPrivateKey,
    ciphertext: bytes,
    padding: EncryptionPadding | None = None,
    *,
    blinding: bool = False,
) -> bytes:
    """Decrypt a ciphertext, by default of OAEP with SHA-256.

    With PKCS #1 v1.5 a wrong padding is not an error, since whether it is wrong reveals other
    messages: the result is then a message of random length and content, which depends on key and
    ciphertext and which nobody without the private key can predict or tell from one that was
    encrypted (implicit rejection, as in OpenSSL 3.2 and later, byte for byte).

    With `blinding` the accelerator's input is multiplied by a random number, so that its power
    consumption and timing do not depend on the ciphertext.

    Raises DecryptionError if the ciphertext is not as long as the modulus, or not below it, or,
    with OAEP, whatever is wrong; FaultError if the accelerator's result is wrong.
    """
    try:
        value = check_ciphertext(ciphertext, key)
    except ValueError:
        raise DecryptionError from None
    secret = hashlib.sha256(key.d.to_bytes(key.size)).digest()
    substitute = rejection_message(secret, ciphertext)
    encoded = _private(accelerator, key, value, blinding).to_bytes(key.size)
    return (padding or Oaep()).decode(encoded, substitute)


def sign(
    accelerator: RsaAccelerator,
    key: RsaPrivateKey,
    message: bytes,
    padding: SignaturePadding | None = None,
    *,
    blinding: bool = False,
) -> bytes:
    """Sign a message, by default with PSS and SHA-256; the signature is as long as the modulus.

    `blinding` is as for `decrypt`. Raises ValueError if the modulus is too short for the padding,
    or a digest has a wrong length; FaultError if the accelerator's result is wrong.
    """
    encoded = int.from_bytes((padding or Pss()).encode(message, key.bits))
    return _private(accelerator, key, encoded, blinding).to_bytes(key.size)


def verify(
    accelerator: RsaAccelerator,
    key: RsaPublicKey,
    message: bytes,
    signature: bytes,
    padding: SignaturePadding | None = None,
) -> None:
    """Return if the signature, by default of PSS with SHA-256, is valid for this message and key.

    Raises InvalidSignatureError if it is not, ValueError if a digest has a wrong length.
    """
    value = check_signature(signature, key)
    accelerator.load_public(key.n, key.e)
    encoded = accelerator.public(value).value.to_bytes(key.size)
    if not (padding or Pss()).matches(message, encoded, key.bits):
        raise InvalidSignatureError


def _private(accelerator: RsaAccelerator, key: RsaPrivateKey, value: int, blinding: bool) -> int:
    """value^d mod n, checked: one wrong half of a CRT exponentiation would reveal the primes."""
    accelerator.load_private(key)
    mask = 1
    if blinding:
        mask = 0
        while math.gcd(mask, key.n) != 1:
            mask = 1 + secrets.randbelow(key.n - 1)
    blinded = value * pow(mask, key.e, key.n) % key.n
    result = accelerator.private(blinded).value
    if result >= key.n or pow(result, key.e, key.n) != blinded:
        raise FaultError
    return result * pow(mask, -1, key.n) % key.n


def check_ciphertext(ciphertext: bytes, key: RsaPublicKey) -> int:
    """The number that a ciphertext is.

    ValueError, which says why, if it is none of this key: everyone sees that.
    """
    value = _number(ciphertext)
    if len(ciphertext) != key.size:
        raise ValueError(
            f"the ciphertext has {len(ciphertext)} bytes, and one of this key has {key.size}"
        )
    if value >= key.n:
        raise ValueError("the ciphertext is not below the modulus, so it is of another key")
    return value


def check_signature(signature: bytes, key: RsaPublicKey) -> int:
    """The number that a signature is.

    InvalidSignatureError, which says why, if it is none of this key.
    """
    value = _number(signature)
    if len(signature) != key.size:
        raise InvalidSignatureError(
            f"it has {len(signature)} bytes, and one of this key has {key.size}"
        )
    if value >= key.n:
        raise InvalidSignatureError("it is not below the modulus, so it is of another key")
    return value


def _number(data: bytes) -> int:
    if not isinstance(data, bytes):
        raise TypeError(f"the input must be bytes, not {type(data).__name__}")
    return int.from_bytes(data)
