"""Encryption of keys with passphrases.

Read are PKCS #5 (RFC 8018: PBES2 with PBKDF2 or scrypt, and the older PBES1), the schemes of
PKCS #12 (RFC 7292, appendix B) and the headers of OpenSSL's older files (PKCS #1 and SEC 1).
Written is PBES2.
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from . import der
from .errors import KeyFileError, WrongPassphraseError

_PBES2, _PBKDF2, _SCRYPT = (
    "1.2.840.113549.1.5.13",
    "1.2.840.113549.1.5.12",
    "1.3.6.1.4.1.11591.4.11",
)
_AES_256_CBC, _HMAC_SHA256 = "2.16.840.1.101.3.4.1.42", "1.2.840.113549.2.9"
_ROUNDS = 600_000
"""Of PBKDF2 in files that are written, as OWASP's Password Storage Cheat Sheet (2023) has it."""
_MOST_ROUNDS = 1 << 26  # that are read: more than half a minute
_MOST_MEMORY = 1 << 30  # bytes that scrypt may take

_PRFS: Mapping[str, str] = {
    "1.2.840.113549.2.7": "sha1",
    "1.2.840.113549.2.8": "sha224",
    _HMAC_SHA256: "sha256",
    "1.2.840.113549.2.10": "sha384",
    "1.2.840.113549.2.11": "sha512",
    "1.2.840.113549.2.12": "sha512_224",
    "1.2.840.113549.2.13": "sha512_256",
    "2.16.840.1.101.3.4.2.13": "sha3_224",
    "2.16.840.1.101.3.4.2.14": "sha3_256",
    "2.16.840.1.101.3.4.2.15": "sha3_384",
    "2.16.840.1.101.3.4.2.16": "sha3_512",
}


@dataclass(frozen=True)
class _CbcCipher:
    """A block cipher in CBC mode.

    Parameters
    ----------
    cipher : takes a key of `size` bytes
    block : bytes of a block, and of the initial vector
    """

    cipher: Callable[[bytes], BlockCipherAlgorithm]
    size: int
    block: int

    def decrypt(self, key: bytes, vector: bytes, data: bytes) -> bytes:
        """Decrypt and remove the padding. Raises WrongPassphraseError unless that is in order."""
        if len(vector) != self.block or not data or len(data) % self.block:
            raise WrongPassphraseError
        decryptor = Cipher(self.cipher(key), CBC(vector)).decryptor()
        plain = decryptor.update(data) + decryptor.finalize()
        count = plain[-1]
        if not 1 <= count <= self.block or plain[-count:] != bytes([count]) * count:
            raise WrongPassphraseError
        return plain[:-count]

    def encrypt(self, key: bytes, vector: bytes, data: bytes) -> bytes:
        """Pad and encrypt."""
        count = self.block - len(data) % self.block
        encryptor = Cipher(self.cipher(key), CBC(vector)).encryptor()
        return encryptor.update(data + bytes([count]) * count) + encryptor.finalize()


def _des(key: bytes) -> TripleDES:
    """DES is triple DES with one key three times."""
    return TripleDES(3 * key)


_DES, _DES_TWO_KEYS, _DES_THREE_KEYS = (
    _CbcCipher(_des, 8, 8),
    _CbcCipher(lambda key: TripleDES(key + key[:8]), 16, 8),
    _CbcCipher(TripleDES, 24, 8),
)
_AES_128, _AES_192, _AES_256 = (_CbcCipher(AES, size, 16) for size in (16, 24, 32))
_CIPHERS: Mapping[str, _CbcCipher] = {
    "1.3.14.3.2.7": _DES,
    "1.2.840.113549.3.7": _DES_THREE_KEYS,
    "2.16.840.1.101.3.4.1.2": _AES_128,
    "2.16.840.1.101.3.4.1.22": _AES_192,
    _AES_256_CBC: _AES_256,
}
"""Of PBES2."""
_OF_PBES1: Mapping[str, str] = {"1.2.840.113549.1.5.3": "md5", "1.2.840.113549.1.5.10": "sha1"}
"""Hash functions, with DES."""
_OF_PKCS12: Mapping[str, _CbcCipher] = {
    "1.2.840.113549.1.12.1.3": _DES_THREE_KEYS,
    "1.2.840.113549.1.12.1.4": _DES_TWO_KEYS,
}
"""With SHA-1."""
_OF_HEADERS: Mapping[str, _CbcCipher] = {
    "DES-CBC": _DES,
    "DES-EDE3-CBC": _DES_THREE_KEYS,
    "AES-128-CBC": _AES_128,
    "AES-192-CBC": _AES_192,
    "AES-256-CBC": _AES_256,
}


# --- PKCS #8 ------------------------------------------------------------------------------------


def encrypt(data: bytes, secret: bytes) -> bytes:
    """EncryptedPrivateKeyInfo in DER: PBES2 with AES-256 in CBC mode. Source: RFC 8018, 6.2.1.

    Raises ValueError if the passphrase is empty.
    """
    if not secret:
        raise ValueError("the passphrase must not be empty")
    salt, vector = os.urandom(16), os.urandom(16)
    key = hashlib.pbkdf2_hmac("sha256", secret, salt, _ROUNDS, _AES_256.size)
    prf = der.sequence(der.object_identifier(_HMAC_SHA256), der.null())
    derivation = der.sequence(der.octet_string(salt), der.integer(_ROUNDS), prf)
    scheme = der.sequence(
        der.sequence(der.object_identifier(_PBKDF2), derivation),
        der.sequence(der.object_identifier(_AES_256_CBC), der.octet_string(vector)),
    )
    return der.sequence(
        der.sequence(der.object_identifier(_PBES2), scheme),
        der.octet_string(_AES_256.encrypt(key, vector, data)),
    )


def decrypt(algorithm: der.Element, data: bytes, secret: bytes) -> bytes:
    """What an EncryptedPrivateKeyInfo has encrypted.

    Raises KeyFileError: an unknown algorithm, or one that asks for too much work; passphrase
    wrong. ValueError for parameters that are none.
    """
    named, parameters = _algorithm(algorithm)
    if named == _PBES2:
        return _decrypt_pbes2(parameters, data, secret)
    salt, rounds = parameters.parts()
    _check_rounds(rounds.number())
    if named in _OF_PBES1:
        key = hashlib.new(_OF_PBES1[named], secret + salt.octets()).digest()
        for _ in range(rounds.number() - 1):
            key = hashlib.new(_OF_PBES1[named], key).digest()
        return _DES.decrypt(key[:8], key[8:16], data)
    if named in _OF_PKCS12:
        cipher = _OF_PKCS12[named]
        key, vector = (
            _derive_pkcs12(secret, salt.octets(), rounds.number(), purpose, size)
            for purpose, size in ((1, cipher.size), (2, cipher.block))
        )
        return cipher.decrypt(key, vector, data)
    raise _unknown(named)


def _decrypt_pbes2(parameters: der.Element, data: bytes, secret: bytes) -> bytes:
    derivation, scheme = parameters.parts()
    named, vector = _algorithm(scheme)
    if named not in _CIPHERS:
        raise _unknown(named)
    cipher = _CIPHERS[named]
    named, given = _algorithm(derivation)
    if named == _PBKDF2:
        key = _derive_pbkdf2(given.parts(), secret, cipher.size)
    elif named == _SCRYPT:
        key = _derive_scrypt(given.parts(), secret, cipher.size)
    else:
        raise _unknown(named)
    return cipher.decrypt(key, vector.octets(), data)


def _derive_pbkdf2(parameters: list[der.Element], secret: bytes, size: int) -> bytes:
    salt, rounds, *others = parameters
    prf = "sha1"
    for part in others:
        if part.tag == der.INTEGER:
            if part.number() != size:
                raise ValueError("the key is not as long as its cipher needs it")
        else:
            named = part.parts()[0].name()
            if named not in _PRFS:
                raise _unknown(named)
            prf = _PRFS[named]
    _check_rounds(rounds.number())
    return hashlib.pbkdf2_hmac(prf, secret, salt.octets(), rounds.number(), size)


def _derive_scrypt(parameters: list[der.Element], secret: bytes, size: int) -> bytes:
    salt, *costs = parameters
    n, r, p = (cost.number() for cost in costs[:3])
    memory = 128 * n * r
    if memory > _MOST_MEMORY or memory * p > 16 * _MOST_MEMORY:
        raise KeyFileError(
            f"the key's encryption asks for {memory:,} bytes of memory {p:,} times; at most"
            f" {_MOST_MEMORY:,} are taken"
        )
    # The library's own limit has to be higher than what the three numbers ask for.
    limit = memory + 128 * r * (p + 2) + (1 << 16)
    return hashlib.scrypt(secret, salt=salt.octets(), n=n, r=r, p=p, dklen=size, maxmem=limit)


def _derive_pkcs12(secret: bytes, salt: bytes, rounds: int, purpose: int, size: int) -> bytes:
    """Source: RFC 7292, appendix B.2, of SHA-1; its names."""
    u, v = 20, 64
    try:
        password = (secret.decode() + "\0").encode("utf-16-be")
    except UnicodeDecodeError:
        raise WrongPassphraseError from None

    def repeated(part: bytes) -> bytes:
        length = v * -(-len(part) // v)
        return (part * (length // max(1, len(part)) + 1))[:length]

    i = repeated(salt) + repeated(password)
    found = b""
    while len(found) < size:
        a = hashlib.sha1(bytes([purpose]) * v + i).digest()
        for _ in range(rounds - 1):
            a = hashlib.sha1(a).digest()
        found += a
        b = int.from_bytes((a * (v // u + 1))[:v]) + 1
        blocks = (i[start : start + v] for start in range(0, len(i), v))
        i = b"".join(((int.from_bytes(block) + b) % (1 << 8 * v)).to_bytes(v) for block in blocks)
    return found[:size]


def _algorithm(element: der.Element) -> tuple[str, der.Element]:
    """The name of an AlgorithmIdentifier, and its parameters, which these algorithms all have."""
    named, parameters = element.parts()
    return named.name(), parameters


def _check_rounds(rounds: int) -> None:
    if not 1 <= rounds <= _MOST_ROUNDS:
        raise KeyFileError(
            f"the key's encryption asks for {rounds:,} rounds; 1 to {_MOST_ROUNDS:,} are computed"
        )


def _unknown(name: str) -> KeyFileError:
    return KeyFileError(
        f"the key is encrypted with an algorithm that is not read, {name}: encrypt it with another"
        " one: openssl pkcs8 -topk8 -v2 aes256 -in FILE -out NEW"
    )


# --- Headers ------------------------------------------------------------------------------------


def decrypt_with_header(header: str, data: bytes, secret: bytes) -> bytes:
    """Decrypt the contents of a block with the header DEK-Info.

    Raises KeyFileError: an unknown cipher, passphrase wrong.
    """
    named, _, digits = header.partition(",")
    if named not in _OF_HEADERS:
        raise _unknown(named)
    cipher = _OF_HEADERS[named]
    if not re.fullmatch(rf"[0-9A-Fa-f]{{{2 * cipher.block}}}", digits):
        raise WrongPassphraseError
    vector = bytes.fromhex(digits)
    key = digest = b""
    while len(key) < cipher.size:
        digest = hashlib.md5(digest + secret + vector[:8]).digest()
        key += digest
    return cipher.decrypt(key[: cipher.size], vector, data)
