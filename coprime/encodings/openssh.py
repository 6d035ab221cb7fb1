"""OpenSSH's keys: its private files (PROTOCOL.key) and the lines of public ones (RFC 4253, 5656,
8709), with those of its certificates (PROTOCOL.certkeys).
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import bcrypt
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, CipherAlgorithm
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC, CTR, GCM

from . import der
from .errors import KeyFileError, PassphraseMissingError, WrongPassphraseError
from .key_info import EC, ED25519, NULL, RSA, PrivateKeyInfo, PublicKeyInfo, named

PEM_LABEL = "OPENSSH PRIVATE KEY"
_MAGIC = b"openssh-key-v1\0"
_LINE = re.compile(rb"((?:ssh|ecdsa-sha2|sk)-[^ \t]+)[ \t]+([A-Za-z0-9+/=]+)(?:[ \t\r\n]|$)")
_CERTIFICATE = "-cert-v01@openssh.com"
_MOST_ROUNDS = 1 << 16  # of bcrypt: each takes some milliseconds
_TAG = 16  # bytes that GCM adds
_CURVES: Mapping[str, str] = {
    "nistp256": "1.2.840.10045.3.1.7",
    "nistp384": "1.3.132.0.34",
    "nistp521": "1.3.132.0.35",
}
"""Their OBJECT IDENTIFIERs; in a public key they are known by these names only."""


class _Fields:
    """Reads fields, one after the other. ValueError where the data end too early."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def take(self, count: int) -> bytes:
        """So many bytes."""
        if len(self.rest) < count:
            raise ValueError("a field is longer than the data")
        found, self.rest = self.rest[:count], self.rest[count:]
        return found

    def uint32(self) -> int:
        return int.from_bytes(self.take(4))

    def string(self) -> bytes:
        return self.take(self.uint32())

    def name(self) -> str:
        return self.string().decode("ascii")

    def number(self) -> int:
        """An mpint that is not negative, whether or not zeros are missing or too many."""
        return int.from_bytes(self.string())


# --- Public keys --------------------------------------------------------------------------------


def is_line(data: bytes) -> bool:
    """Whether a file begins as a line of OpenSSH does."""
    return data.startswith((b"ssh-", b"ecdsa-sha2-", b"sk-"))


def read_line(data: bytes) -> PublicKeyInfo | None:
    """The key of the first line, of a certificate's, too; None if it is none."""
    found = _LINE.match(data)
    if found is None:
        return None
    try:
        kind, fields = found[1].decode(), _Fields(base64.b64decode(found[2], validate=True))
        if fields.name() != kind:
            return None
        certified = kind.endswith(_CERTIFICATE)
        if certified:
            fields.string()  # a nonce
        info = _public(kind.removesuffix(_CERTIFICATE), fields)
        return info if certified or not fields.rest else None
    except (ValueError, binascii.Error):
        return None


def _public(kind: str, fields: _Fields) -> PublicKeyInfo:
    if kind == "ssh-rsa":
        e, n = fields.number(), fields.number()
        return PublicKeyInfo(RSA, NULL, der.sequence(der.integer(n), der.integer(e)))
    if kind == "ssh-ed25519":
        return PublicKeyInfo(ED25519, None, fields.string())
    if kind.startswith("ecdsa-sha2-"):
        return PublicKeyInfo(EC, _curve(kind, fields), fields.string())
    fields.rest = b""
    return PublicKeyInfo(kind, None, b"")  # a kind that is known to nobody here


def _curve(kind: str, fields: _Fields) -> der.Element:
    curve = fields.name()
    if kind != f"ecdsa-sha2-{curve}" or curve not in _CURVES:
        raise ValueError(f"a key of the kind {kind} is of another curve")
    return named(_CURVES[curve])


# --- Private keys -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _SshCipher:
    """A cipher of private files: how long its key and its vector are; GCM has a tag after it."""

    cipher: Callable[[bytes], CipherAlgorithm]
    key: int
    vector: int
    mode: Callable[[bytes, bytes], CBC | CTR | GCM]
    tag: int = 0

    @classmethod
    def aes(cls, bits: int, mode: Callable[[bytes, bytes], CBC | CTR | GCM]) -> Self:
        """AES in a mode without a tag."""
        return cls(AES, bits // 8, 16, mode)

    @classmethod
    def gcm(cls, bits: int) -> Self:
        """AES in GCM."""
        return cls(AES, bits // 8, 12, GCM, _TAG)

    def decrypt(self, derived: bytes, data: bytes, tag: bytes) -> bytes:
        """Decrypt. Raises WrongPassphraseError if the tag is another, or bytes are missing."""
        key, vector = derived[: self.key], derived[self.key :]
        try:
            context = Cipher[CBC | CTR | GCM](self.cipher(key), self.mode(vector, tag)).decryptor()
            return context.update(data) + context.finalize()
        except (InvalidTag, ValueError):
            raise WrongPassphraseError from None


def _ctr(vector: bytes, _tag: bytes) -> CTR:
    return CTR(vector)


def _cbc(vector: bytes, _tag: bytes) -> CBC:
    return CBC(vector)


_CIPHERS: Mapping[str, _SshCipher] = {
    **{f"aes{bits}-ctr": _SshCipher.aes(bits, _ctr) for bits in (128, 192, 256)},
    **{f"aes{bits}-cbc": _SshCipher.aes(bits, _cbc) for bits in (128, 192, 256)},
    **{f"aes{bits}-gcm@openssh.com": _SshCipher.gcm(bits) for bits in (128, 256)},
    "3des-cbc": _SshCipher(TripleDES, 24, 8, _cbc),
}


def read_private(data: bytes, secret: bytes | None) -> PrivateKeyInfo | None:
    """The private key in the contents of a PEM block; None if it is none.

    Raises KeyFileError: passphrase wrong or missing, an unknown cipher, numbers that contradict
    each other.
    """
    try:
        if not data.startswith(_MAGIC):
            return None
        fields = _Fields(data.removeprefix(_MAGIC))
        cipher, derivation, options = fields.name(), fields.name(), fields.string()
        if fields.uint32() != 1:
            return None
        fields.string()  # the public key
        hidden = fields.string()
    except ValueError:
        return None
    if cipher != "none":
        hidden = _decrypt(cipher, derivation, options, hidden, fields.rest, secret)
    try:
        inner = _Fields(hidden)
        same = inner.uint32() == inner.uint32()
    except ValueError:
        same = False
    if not same:
        if cipher == "none":
            return None
        raise WrongPassphraseError
    try:
        return _private(inner.name(), inner)
    except ValueError:
        return None


def _decrypt(
    cipher: str, derivation: str, options: bytes, hidden: bytes, rest: bytes, secret: bytes | None
) -> bytes:
    if not secret:
        raise PassphraseMissingError
    if cipher not in _CIPHERS or derivation != "bcrypt":
        raise KeyFileError(
            f"the key is encrypted with {cipher} and {derivation}, which are not read: encrypt it"
            " with another cipher: ssh-keygen -p -Z aes256-ctr -f FILE"
        )
    found = _CIPHERS[cipher]
    try:
        fields = _Fields(options)
        salt, rounds = fields.string(), fields.uint32()
    except ValueError:
        raise WrongPassphraseError from None
    if not salt or not 1 <= rounds <= _MOST_ROUNDS:
        raise KeyFileError(
            f"the key's encryption asks for {rounds:,} rounds; 1 to {_MOST_ROUNDS:,} are computed"
        )
    size = found.key + found.vector
    derived = bcrypt.kdf(secret, salt, size, rounds, ignore_few_rounds=True)
    return found.decrypt(derived, hidden, rest[: found.tag])


def _private(kind: str, fields: _Fields) -> PrivateKeyInfo:
    if kind == "ssh-rsa":
        n, e, d, qinv, p, q = (fields.number() for _ in range(6))
        numbers = (0, n, e, d, p, q, 0, 0, qinv)
        return PrivateKeyInfo(RSA, NULL, der.sequence(*map(der.integer, numbers)))
    if kind == "ssh-ed25519":
        public, both = fields.string(), fields.string()
        if both[32:] != public:
            raise KeyFileError("the private and the public key in the file are not one key's")
        return PrivateKeyInfo(ED25519, None, der.octet_string(both[:32]), public)
    if kind.startswith("ecdsa-sha2-"):
        curve, point, number = _curve(kind, fields), fields.string(), fields.string()
        key = der.sequence(der.integer(1), der.octet_string(number))
        return PrivateKeyInfo(EC, curve, key, point)
    return PrivateKeyInfo(kind, None, b"")  # a kind that is known to nobody here
