"""The paddings of RFC 8017: PKCS #1 v1.5 and OAEP to encrypt, PKCS #1 v1.5 and PSS to sign.

A padding turns a message into an encoded message EM, a string of bytes below the modulus, and back.
`bits` is always the length of the modulus in bits.

Whoever can request decryptions must not learn what was wrong with a ciphertext. With OAEP a
ciphertext that does not decode always raises the same error, from one place and after the same
steps. With PKCS #1 v1.5 even whether it decodes is a secret, which reveals other messages
(Bleichenbacher's attack): there is no error, and a substitute takes the message's place.
"""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from coprime.errors import CoprimeError
from coprime.rsa.hashes import check_hashes, digest, digest_information, digest_size, mgf1

__all__ = [
    "DecryptionError",
    "EncryptionPadding",
    "MessageTooLongError",
    "Oaep",
    "Pkcs1Encryption",
    "Pkcs1Signature",
    "Pss",
    "SignaturePadding",
]

RandomBytes = Callable[[int], bytes]


class DecryptionError(CoprimeError):
    """The ciphertext does not decode with this key and padding. The reason is never given."""

    def __init__(self) -> None:
        super().__init__("decryption failed")


class MessageTooLongError(CoprimeError, ValueError):
    """The message does not fit the padding.

    Attributes
    ----------
    limit (int): bytes of the longest message
    """

    def __init__(self, length: int, limit: int):
        super().__init__(f"the message has {length} bytes; this key and padding take 0..{limit}")
        self.limit = limit


class EncryptionPadding(Protocol):
    """A padding for encryption."""

    def encode(self, message: bytes, bits: int) -> bytes:
        """Pad to ceil(bits / 8) bytes, the first of which is 0.

        Raises MessageTooLongError, and ValueError if even an empty message does not fit.
        """

    def decode(self, encoded: bytes, substitute: bytes) -> bytes:
        """The message in `encoded`, which is as long as the modulus.

        With a wrong padding it returns `substitute`, where whether it is wrong must be a secret, or
        raises DecryptionError.
        """


class SignaturePadding(Protocol):
    """A padding for signatures, which contains the hash of the message."""

    def encode(self, message: bytes, bits: int) -> bytes:
        """Hash and pad: at most ceil(bits / 8) bytes, with a value below 2**(bits - 1).

        Raises ValueError if the modulus is too short for the hash, and if the message must be a
        digest and has another length.
        """

    def matches(self, message: bytes, encoded: bytes, bits: int) -> bool:
        """Whether `encoded`, ceil(bits / 8) bytes, encodes this message.

        Raises ValueError if the message must be a digest and has another length.
        """


@dataclass(frozen=True)
class Pkcs1Encryption:
    """RSAES-PKCS1-v1_5 (RFC 8017, section 7.2): 00 02, 8 or more random bytes, 00, the message.

    No random byte is 0. A wrong padding decodes to the substitute (implicit rejection). For
    compatibility with existing protocols; new ones should use `Oaep`.

    Parameters
    ----------
    random : the source of random bytes
    """

    random: RandomBytes = field(default=secrets.token_bytes, repr=False, compare=False)

    def encode(self, message: bytes, bits: int) -> bytes:
        """Pad, as `EncryptionPadding` specifies."""
        size = _bytes(bits)
        _check_limit(message, size - 11, "PKCS #1 v1.5 encryption", size)
        filler = b""
        while missing := size - 3 - len(message) - len(filler):
            filler += self.random(missing).replace(b"\0", b"")
        return b"\0\2" + filler + b"\0" + message

    def decode(self, encoded: bytes, substitute: bytes) -> bytes:
        """Unpad, as `EncryptionPadding` specifies: the substitute if the padding is wrong.

        Raises DecryptionError if the modulus is too short for this padding.
        """
        size = len(encoded)
        if size < 11:  # depends on the key, not on the ciphertext
            raise DecryptionError
        bad = encoded[0] | encoded[1] ^ 2
        end = _first_index(encoded, 2, 0)
        bad |= end < 10  # not found is 0; otherwise there are end - 2 random bytes
        wrong = -(bad != 0)  # all ones, or 0
        # Both end where the modulus ends, so that one loop over all bytes selects one of them.
        chosen = bytes(
            good & ~wrong | other & wrong
            for good, other in zip(encoded, substitute.rjust(size, b"\0"), strict=True)
        )
        start = (end + 1) & ~wrong | (size - len(substitute)) & wrong
        return chosen[start:]


@dataclass(frozen=True)
class Oaep:
    """RSAES-OAEP (RFC 8017, section 7.1) with the mask generation function MGF1.

    Parameters
    ----------
    hash : name of the hash of the label, one of HASHES
    mgf_hash : name of the hash in MGF1; None: the same
    label : bytes that both parties agree on
    random : the source of random bytes
    """

    hash: str = "sha256"
    mgf_hash: str | None = None
    label: bytes = b""
    random: RandomBytes = field(default=secrets.token_bytes, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_hashes(self.hash, self._mgf_hash)
        _check_bytes("label", self.label)

    def encode(self, message: bytes, bits: int) -> bytes:
        """Pad, as `EncryptionPadding` specifies."""
        size = _bytes(bits)
        label = digest(self.hash, self.label)
        limit = size - 2 * len(label) - 2
        _check_limit(message, limit, f"OAEP with {self.hash}", size)
        block = label + bytes(limit - len(message)) + b"\1" + message
        seed = self.random(len(label))
        masked_block = _xor(block, mgf1(self._mgf_hash, seed, len(block)))
        masked_seed = _xor(seed, mgf1(self._mgf_hash, masked_block, len(seed)))
        return b"\0" + masked_seed + masked_block

    def decode(self, encoded: bytes, substitute: bytes = b"") -> bytes:
        """Unpad, as `EncryptionPadding` specifies: DecryptionError if the padding is wrong."""
        label = digest(self.hash, self.label)
        size = len(label)
        if len(encoded) < 2 * size + 2:  # depends on the key, not on the ciphertext
            raise DecryptionError
        masked_seed, masked_block = encoded[1 : 1 + size], encoded[1 + size :]
        seed = _xor(masked_seed, mgf1(self._mgf_hash, masked_block, size))
        block = _xor(masked_block, mgf1(self._mgf_hash, seed, len(masked_block)))
        bad = encoded[0] | (not hmac.compare_digest(block[:size], label))
        end = _first_index(block, size, 1)
        bad |= end == 0
        for index in range(size, len(block)):  # only zeros before the 1
            bad |= block[index] & -(index < end)
        message = block[end + 1 :]
        if bad:
            raise DecryptionError
        return message

    @property
    def _mgf_hash(self) -> str:
        return self.mgf_hash or self.hash


@dataclass(frozen=True)
class Pkcs1Signature:
    """RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2): 00 01, FF bytes, 00, the hash with its identifier.

    Parameters
    ----------
    hash : name of the message's hash, one of HASHES
    prehashed : the message is given as its digest
    """

    hash: str = "sha256"
    prehashed: bool = False

    def __post_init__(self) -> None:
        check_hashes(self.hash)

    def encode(self, message: bytes, bits: int) -> bytes:
        """Hash and pad, as `SignaturePadding` specifies."""
        size = _bytes(bits)
        value = _message_digest(self.hash, message, self.prehashed)
        information = digest_information(self.hash, value)
        filler = size - 3 - len(information)
        if filler < 8:
            raise _too_short(
                f"a PKCS #1 v1.5 signature with {self.hash}", len(information) + 11, size
            )
        return b"\0\1" + b"\xff" * filler + b"\0" + information

    def matches(self, message: bytes, encoded: bytes, bits: int) -> bool:
        """Whether this encodes the message, as `SignaturePadding` specifies."""
        _message_digest(self.hash, message, self.prehashed)
        try:
            expected = self.encode(message, bits)
        except ValueError:  # no signature of so short a key can have this hash
            return False
        return hmac.compare_digest(encoded, expected)


@dataclass(frozen=True)
class Pss:
    """RSASSA-PSS (RFC 8017, section 8.1) with the mask generation function MGF1.

    Raises TypeError or ValueError for a salt's length of another type, or out of range.

    Parameters
    ----------
    hash : name of the message's hash, one of HASHES
    mgf_hash : name of the hash in MGF1; None: the same
    salt_length : bytes of the salt; or "digest": as long as the hash; or "max": as long as fits; or
        "auto": "digest" for signing, any length for verification
    prehashed : the message is given as its digest
    random : the source of random bytes
    """

    hash: str = "sha256"
    mgf_hash: str | None = None
    salt_length: int | Literal["digest", "max", "auto"] = "auto"
    prehashed: bool = False
    random: RandomBytes = field(default=secrets.token_bytes, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_hashes(self.hash, self._mgf_hash)
        if isinstance(self.salt_length, bool) or not isinstance(self.salt_length, int | str):
            raise TypeError(f"salt_length must be an int or a str, not {self.salt_length!r}")
        if self.salt_length not in ("digest", "max", "auto") and not (
            isinstance(self.salt_length, int) and self.salt_length >= 0
        ):
            raise ValueError(
                "salt_length must be 0 or more bytes, 'digest', 'max' or 'auto',"
                f" not {self.salt_length!r}"
            )

    def encode(self, message: bytes, bits: int) -> bytes:
        """Hash and pad, as `SignaturePadding` specifies, to ceil((bits - 1) / 8) bytes."""
        value = _message_digest(self.hash, message, self.prehashed)
        size, longest = self._sizes(bits)
        length = self._salt_length(longest)
        if not 0 <= length <= longest:
            raise _too_short(
                f"PSS with {self.hash} and a salt of {max(length, 0)} bytes",
                size - longest + max(length, 0),
                size,
            )
        salt = self.random(length)
        salted = self._salted_digest(value, salt)
        block = bytes(longest - length) + b"\1" + salt
        masked = bytearray(_xor(block, mgf1(self._mgf_hash, salted, len(block))))
        masked[0] &= _first_byte_mask(bits)
        return bytes(masked) + salted + b"\xbc"

    def matches(self, message: bytes, encoded: bytes, bits: int) -> bool:
        """Whether this encodes the message, as `SignaturePadding` specifies."""
        value = _message_digest(self.hash, message, self.prehashed)
        size, longest = self._sizes(bits)
        above, encoded = encoded[: len(encoded) - size], encoded[len(encoded) - size :]
        mask = _first_byte_mask(bits)
        if longest < 0 or any(above) or encoded[0] & ~mask or encoded[-1] != 0xBC:
            return False
        masked, salted = encoded[: longest + 1], encoded[longest + 1 : -1]
        block = bytearray(_xor(masked, mgf1(self._mgf_hash, salted, len(masked))))
        block[0] &= mask
        filler, one, salt = bytes(block).partition(b"\1")
        if any(filler) or not one:
            return False
        if self.salt_length != "auto" and len(salt) != self._salt_length(longest):
            return False
        return hmac.compare_digest(salted, self._salted_digest(value, salt))

    def _sizes(self, bits: int) -> tuple[int, int]:
        """Bytes of the encoded message and of the longest salt (negative: too short a modulus)."""
        size = _bytes(bits - 1)
        return size, size - digest_size(self.hash) - 2

    def _salt_length(self, longest: int) -> int:
        if isinstance(self.salt_length, int):
            return self.salt_length
        return longest if self.salt_length == "max" else digest_size(self.hash)

    def _salted_digest(self, value: bytes, salt: bytes) -> bytes:
        return digest(self.hash, bytes(8) + value + salt)

    @property
    def _mgf_hash(self) -> str:
        return self.mgf_hash or self.hash


def _bytes(bits: int) -> int:
    return (bits + 7) // 8


def _message_digest(name: str, message: bytes, prehashed: bool) -> bytes:
    """The digest of a message, or the message itself if it is given as its digest."""
    _check_bytes("message", message)
    if not prehashed:
        return digest(name, message)
    if len(message) != digest_size(name):
        raise ValueError(
            f"the digest has {len(message)} bytes, and a digest of {name} has {digest_size(name)}"
        )
    return message


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _first_byte_mask(bits: int) -> int:
    """The bits of an encoded PSS message's first byte that may be 1."""
    return 0xFF >> -(bits - 1) % 8


def _first_index(data: bytes, start: int, wanted: int) -> int:
    """Index of the first byte equal to `wanted` from `start` on, or 0; looks at every byte."""
    found = 0
    for index in range(start, len(data)):
        found |= index & -((data[index] == wanted) & (found == 0))
    return found


def _check_bytes(name: str, value: object) -> None:
    if not isinstance(value, bytes):
        raise TypeError(f"{name} must be bytes, not {type(value).__name__}")


def _check_limit(message: bytes, limit: int, padding: str, size: int) -> None:
    """Reject a message over `limit` bytes, and a modulus of `size` bytes if it is negative."""
    _check_bytes("message", message)
    if limit < 0:
        raise _too_short(padding, size - limit, size)
    if len(message) > limit:
        raise MessageTooLongError(len(message), limit)


def _too_short(padding: str, needed: int, size: int) -> ValueError:
    return ValueError(f"{padding} needs a modulus of at least {needed} bytes, not {size}")
