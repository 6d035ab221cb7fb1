"""RSA keys: their numbers, reading and writing key files, and generating new keys."""

import base64
import math
import random
import re
import secrets
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes

from coprime.engine.lengths import Lengths
from coprime.errors import CoprimeError
from coprime.rsa.other_files import reason
from coprime.rsa.primes import is_prime, random_prime

__all__ = [
    "MIN_BITS",
    "KeyFileError",
    "PassphraseMissingError",
    "RsaPrivateKey",
    "RsaPublicKey",
    "check_ints",
    "encryption",
    "generate",
    "library_key",
    "library_private",
    "library_public",
    "load_private",
    "load_public",
    "no_key",
    "parse_private",
    "parse_public",
    "private_pem",
    "public_pem",
    "read_key_file",
]

MIN_BITS = 64
"""Bits of the shortest modulus that `generate` makes."""
MAX_BITS = 65535
_LOAD_ROUNDS = 8
"""Miller-Rabin rounds for a prime of a loaded key, whose other numbers must be consistent too."""
_INTEGER, _OCTET_STRING = 0x02, 0x04
"""Tags of DER."""
_LONGEST_FILE = 1 << 20  # bytes; a key of 8192 bits takes some 6,000
_MULTI_PRIME = "has more than two primes; keys of two primes are supported"
_OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_OPENSSH_PUBLIC = (b"ssh-", b"ecdsa-sha2-", b"sk-")
_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"
_OPENSSH_ENCRYPTED = (
    "an encrypted key of OpenSSH needs the package bcrypt; write it as PKCS #8 with"
    " ssh-keygen -p -m PKCS8 -f FILE"
)
_REFUSED = "Invalid key"
"""The library's error about a key that it has decrypted."""


class KeyFileError(CoprimeError):
    """A key file cannot be used; the message gives the reason in one sentence."""


class PassphraseMissingError(KeyFileError):
    """The key is encrypted, and no passphrase was given."""


@dataclass(frozen=True)
class RsaPublicKey:
    """A public key. Raises TypeError or ValueError if the numbers are not valid.

    Parameters
    ----------
    n : modulus, odd, greater than e
    e : public exponent, odd, 3 or more
    """

    n: int
    e: int

    def __post_init__(self) -> None:
        check_ints(n=self.n, e=self.e)
        if self.e < 3 or self.e % 2 == 0:
            raise ValueError(f"the public exponent must be odd and 3 or more, not {self.e}")
        if self.n <= self.e or self.n % 2 == 0:
            raise ValueError("the modulus must be odd and greater than the public exponent")

    @property
    def bits(self) -> int:
        """Length of the modulus in bits."""
        return self.n.bit_length()

    @property
    def size(self) -> int:
        """Bytes of the modulus."""
        return (self.bits + 7) // 8

    @property
    def lengths(self) -> Lengths:
        """Of the numbers in a public operation."""
        return Lengths(self.bits, exponent=self.e.bit_length())


@dataclass(frozen=True)
class RsaPrivateKey(RsaPublicKey):
    """A private key with two primes, whose lengths may differ; its repr shows no secret.

    Raises TypeError or ValueError if the numbers are inconsistent.

    Parameters
    ----------
    n, e : the public key's modulus and exponent
    d : private exponent: e * d = 1 modulo p - 1 and q - 1
    p, q : primes, p * q = n
    dp, dq : d mod (p - 1), d mod (q - 1)
    qinv : q^-1 mod p
    """

    d: int = field(repr=False)
    p: int = field(repr=False)
    q: int = field(repr=False)
    dp: int = field(repr=False)
    dq: int = field(repr=False)
    qinv: int = field(repr=False)

    def __post_init__(self) -> None:
        check_ints(d=self.d, p=self.p, q=self.q, dp=self.dp, dq=self.dq, qinv=self.qinv)
        super().__post_init__()
        e, p, q, dp, dq = self.e, self.p, self.q, self.dp, self.dq
        _require(min(p, q) > 2 and p != q, "p and q are different odd primes")
        _require(p * q == self.n, "p * q is the modulus")
        p1, q1 = p - 1, q - 1
        _require(0 < dp < p1 and e * dp % p1 == 1, "dp is the inverse of e mod p - 1")
        _require(0 < dq < q1 and e * dq % q1 == 1, "dq is the inverse of e mod q - 1")
        _require(self.d % p1 == dp and self.d % q1 == dq, "d is the inverse of e")
        _require(0 < self.d < self.n, "d is below the modulus")
        _require(0 < self.qinv < p, "qinv is below p")
        _require(self.qinv * q % p == 1, "qinv is the inverse of q mod p")

    @classmethod
    def from_primes(cls, p: int, q: int, e: int) -> Self:
        """Compute the key of two different odd primes and a public exponent.

        Raises ValueError if e has no inverse modulo p - 1 or q - 1.
        """
        check_ints(p=p, q=q, e=e)
        _require(min(p, q) > 2 and p != q, "p and q are different odd primes")
        for name, prime in (("p", p), ("q", q)):
            _require(math.gcd(e, prime - 1) == 1, f"e has no common factor with {name} - 1")
        _require(math.gcd(p, q) == 1, "p and q have no common factor")
        d = pow(e, -1, math.lcm(p - 1, q - 1))
        return cls(p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))

    @property
    def public(self) -> RsaPublicKey:
        """The public half."""
        return RsaPublicKey(self.n, self.e)

    @property
    def lengths(self) -> Lengths:
        """Of the numbers in a private operation."""
        return Lengths(self.bits, max(self.p, self.q).bit_length(), self.e.bit_length())


def load_private(path: Path | str, passphrase: str | bytes | None = None) -> RsaPrivateKey:
    """Read a file as `parse_private` does; KeyFileError too if it cannot be read."""
    return parse_private(read_key_file(path), passphrase)


def load_public(path: Path | str, passphrase: str | bytes | None = None) -> RsaPublicKey:
    """Read a file as `parse_public` does; KeyFileError too if it cannot be read."""
    return parse_public(read_key_file(path), passphrase)


def parse_private(data: bytes, passphrase: str | bytes | None = None) -> RsaPrivateKey:
    """Return the private key in PEM or DER, PKCS #1 or PKCS #8, encrypted or not.

    A passphrase that is not needed is ignored. Raises KeyFileError: not a key file, not RSA, more
    than two primes, only a public key, passphrase wrong or missing, or inconsistent numbers.
    """
    key = _parse_private(data, passphrase)
    if key is not None:
        return key
    if _parse_public(data) is not None:
        raise KeyFileError("the file holds only a public key, and a private key is needed")
    raise no_key(data, "private")


def parse_public(data: bytes, passphrase: str | bytes | None = None) -> RsaPublicKey:
    """Return the public key in PEM or DER: SubjectPublicKeyInfo, PKCS #1, or half of a private key.

    Raises KeyFileError as `parse_private` does.
    """
    key = _parse_public(data)
    if key is not None:
        return key
    private = _parse_private(data, passphrase)
    if private is not None:
        return private.public
    raise no_key(data, "public")


def private_pem(key: RsaPrivateKey, passphrase: str | bytes | None = None) -> bytes:
    """Write a private key as PKCS #8 in PEM, encrypted if there is a passphrase.

    Raises ValueError if the passphrase is empty.
    """
    return library_key(key).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption(passphrase)
    )


def encryption(passphrase: str | bytes | None) -> serialization.KeySerializationEncryption:
    """How a private key is written; None: not encrypted. ValueError if the passphrase is empty."""
    secret = _secret(passphrase)
    if secret == b"":
        raise ValueError("the passphrase must not be empty")
    if secret is None:
        return serialization.NoEncryption()
    return serialization.BestAvailableEncryption(secret)


def library_key(key: RsaPrivateKey) -> rsa.RSAPrivateKey:
    """The key as an object of `cryptography`, which does not check it."""
    public = rsa.RSAPublicNumbers(key.e, key.n)
    numbers = rsa.RSAPrivateNumbers(key.p, key.q, key.d, key.dp, key.dq, key.qinv, public)
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)


def public_pem(key: RsaPublicKey) -> bytes:
    """Write a public key as SubjectPublicKeyInfo in PEM."""
    return (
        rsa.RSAPublicNumbers(key.e, key.n)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def generate(
    bits: int, e: int = 65537, *, p_bits: int | None = None, seed: int | None = None
) -> RsaPrivateKey:
    """Generate a key whose modulus has exactly `bits` bits.

    Parameters
    ----------
    bits : length of the modulus, 64 to 65535
    e : public exponent: odd, 3 or more
    p_bits : length of p; q has the rest. Each must have at least 16 bits, and 8 more than e. None:
        half, rounded up
    seed : makes the key reproducible. Whoever knows the seed can compute the key: for tests and
        demonstrations only, never for real use

    Raises TypeError or ValueError for a parameter out of range.
    """
    check_ints(bits=bits, e=e)
    half = (bits + 1) // 2
    p_bits = half if p_bits is None else p_bits
    check_ints(p_bits=p_bits)
    if not MIN_BITS <= bits <= MAX_BITS:
        raise ValueError(f"bits must be in {MIN_BITS}..{MAX_BITS}, not {bits}")
    if e < 3 or e % 2 == 0:
        raise ValueError(f"the public exponent must be odd and 3 or more, not {e}")
    least = max(16, e.bit_length() + 8)
    if bits < 2 * least:
        raise ValueError(f"with this e a modulus needs at least {2 * least} bits, not {bits}")
    if not least <= p_bits <= bits - least:
        raise ValueError(
            f"with this e each prime needs at least {least} bits: p_bits must be in"
            f" {least}..{bits - least}, not {p_bits}"
        )
    if seed is not None:
        check_ints(seed=seed)
        bits_of = random.Random(seed).getrandbits
    elif e in (3, 65537) and bits >= 1024 and p_bits == half:  # supported by the library
        return _key(rsa.generate_private_key(e, bits))
    else:
        bits_of = secrets.randbits
    p = q = random_prime(p_bits, e, bits_of)
    while p == q:
        q = random_prime(bits - p_bits, e, bits_of)
    return RsaPrivateKey.from_primes(p, q, e)


def read_key_file(path: Path | str) -> bytes:
    """The bytes of a file. Raises KeyFileError if it cannot be read, or is too long for a key."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LONGEST_FILE + 1)
    except OSError as error:
        raise KeyFileError(f"the key file {path} cannot be read: {error.strerror}") from error
    if len(data) > _LONGEST_FILE:
        raise KeyFileError(f"the key file {path} has more than {_LONGEST_FILE} bytes: it is no key")
    return data


def library_private(data: bytes, passphrase: str | bytes | None = None) -> PrivateKeyTypes | None:
    """The private key of any kind in PEM or DER, as the library has it; None if there is none.

    OpenSSH's form is one of PEM here. Raises KeyFileError: of an unknown kind, more than two
    primes, passphrase wrong or missing.
    """
    openssh = _OPENSSH in data
    load: Callable[..., PrivateKeyTypes] = serialization.load_der_private_key
    if openssh:
        load = _load_openssh
    elif _is_pem(data):
        load = serialization.load_pem_private_key
    secret = _secret(passphrase)
    _check_legacy_header(data)
    encrypted = False
    try:
        try:
            return load(data, None, unsafe_skip_rsa_key_validation=True)
        except TypeError:  # it is encrypted
            encrypted = True
            if not secret:
                raise PassphraseMissingError(
                    "the key is encrypted, and there is no passphrase"
                ) from None
            return load(data, secret, unsafe_skip_rsa_key_validation=True)
    except UnsupportedAlgorithm as error:
        if openssh and encrypted:
            raise KeyFileError(_OPENSSH_ENCRYPTED) from error
        raise KeyFileError("the file holds a key of an unknown kind") from error
    except ValueError as error:
        if _is_multi_prime(data):
            raise KeyFileError(f"the key {_MULTI_PRIME}") from error
        if encrypted and str(error) == _REFUSED:
            raise KeyFileError(f"the encrypted key is corrupt, or {_MULTI_PRIME}") from error
        if encrypted:
            raise KeyFileError(
                "the passphrase is wrong, or the encrypted key is corrupt"
            ) from error
        return None


def _load_openssh(data: bytes, password: bytes | None, **options: bool) -> PrivateKeyTypes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of DSA, whose keys are refused
        return serialization.load_ssh_private_key(data, password, **options)


def _parse_private(data: bytes, passphrase: str | bytes | None) -> RsaPrivateKey | None:
    """Return the private key in `data`; None if there is none."""
    key = library_private(data, passphrase)
    if key is None:
        return None
    if not isinstance(key, rsa.RSAPrivateKey):
        raise KeyFileError("the file holds a private key that is not an RSA key")
    try:
        result = _key(key)
        for name, prime in (("p", result.p), ("q", result.q)):
            _require(is_prime(prime, _LOAD_ROUNDS), f"{name} is prime")
    except ValueError as error:
        raise KeyFileError(f"the numbers of the private key are inconsistent: {error}") from error
    return result


def _is_multi_prime(data: bytes) -> bool:
    """Whether it is an RSA key with otherPrimeInfos (RFC 8017, A.1.2), alone or in PKCS #8."""
    try:
        if _is_pem(data):
            data = base64.b64decode(data.split(b"-----")[2])
        ((_, content),) = _elements(data)
        fields = _elements(content)
        if len(fields) > 2 and fields[2][0] == _OCTET_STRING:
            ((_, content),) = _elements(fields[2][1])
            fields = _elements(content)
    except (ValueError, IndexError):
        return False
    return len(fields) == 10 and fields[0] == (_INTEGER, b"\1")


def _elements(data: bytes) -> list[tuple[int, bytes]]:
    """Tags and contents of the DER elements (ITU-T X.690) that `data` consists of.

    Raises ValueError if it does not consist of elements with tags and lengths of one byte, or
    lengths of up to four bytes after their count.
    """
    found = []
    while data:
        if len(data) < 2:
            raise ValueError("an element ends within its length")
        tag, length, start = data[0], data[1], 2
        if length >= 0x80:
            count = length - 0x80
            start += count
            if not 1 <= count <= 4 or len(data) < start:
                raise ValueError("an element has no definite length")
            length = int.from_bytes(data[2:start])
        if len(data) < start + length:
            raise ValueError("an element is longer than what contains it")
        found.append((tag, data[start : start + length]))
        data = data[start + length :]
    return found


def _check_legacy_header(data: bytes) -> None:
    """Reject an encrypted PKCS #1 file whose initial vector has a wrong length.

    The library does not handle those properly.
    """
    found = re.search(rb"^DEK-Info:\s*([^,\s]*),?(\S*)", data, re.MULTILINE)
    if found is not None:
        digits = 16 if found[1].startswith(b"DES") else 32
        if not re.fullmatch(rb"[0-9A-Fa-f]{%d}" % digits, found[2]):
            raise KeyFileError("the passphrase is wrong, or the encrypted key is corrupt")


def _key(key: rsa.RSAPrivateKey) -> RsaPrivateKey:
    """Convert a key of the library; ValueError if its numbers are inconsistent."""
    own = key.private_numbers()
    public = own.public_numbers
    return RsaPrivateKey(public.n, public.e, own.d, own.p, own.q, own.dmp1, own.dmq1, own.iqmp)


def library_public(data: bytes) -> PublicKeyTypes | None:
    """The public key of any kind in PEM or DER, or a line of OpenSSH, as the library has it; None
    if there is none.

    A certificate's key is read, of X.509 and of OpenSSH; who has signed it is not checked. Raises
    KeyFileError: of an unknown kind.
    """
    loads: list[Callable[[bytes], PublicKeyTypes]]
    if data.startswith(_OPENSSH_PUBLIC):
        loads = [_load_openssh_public]
    elif _CERTIFICATE in data:
        loads = [_load_certificate]
    elif _is_pem(data):
        loads = [serialization.load_pem_public_key]
    else:
        loads = [serialization.load_der_public_key, _load_certificate]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of DSA, and of certificates that others have made wrongly
        for load in loads:
            try:
                return load(data)
            except UnsupportedAlgorithm as error:
                raise KeyFileError("the file holds a key of an unknown kind") from error
            except ValueError:
                continue
    return None


def _load_certificate(data: bytes) -> PublicKeyTypes:
    from cryptography import x509  # few keys are in certificates, and its import takes long

    load = x509.load_pem_x509_certificate if _is_pem(data) else x509.load_der_x509_certificate
    return load(data).public_key()


def _load_openssh_public(line: bytes) -> PublicKeyTypes:
    found = serialization.load_ssh_public_identity(line)
    return found.public_key() if isinstance(found, serialization.SSHCertificate) else found


def _parse_public(data: bytes) -> RsaPublicKey | None:
    """Return the public key in `data`; None if there is none."""
    key = library_public(data)
    if key is None:
        return None
    if not isinstance(key, rsa.RSAPublicKey):
        raise KeyFileError("the file holds a public key that is not an RSA key")
    numbers = key.public_numbers()
    try:
        return RsaPublicKey(numbers.n, numbers.e)
    except ValueError as error:
        raise KeyFileError(f"the numbers of the public key are inconsistent: {error}") from error


def no_key(data: bytes, kind: str) -> KeyFileError:
    """The error about data in which there is no key of this kind: private or public."""
    return KeyFileError(reason(data, kind))


def _is_pem(data: bytes) -> bool:
    return b"-----BEGIN" in data


def _secret(passphrase: str | bytes | None) -> bytes | None:
    return passphrase.encode() if isinstance(passphrase, str) else passphrase


def _require(holds: bool, relation: str) -> None:
    if not holds:
        raise ValueError(f"it does not hold that {relation}")


def check_ints(**values: object) -> None:
    """Raise TypeError unless all are integers."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, not {type(value).__name__}")
