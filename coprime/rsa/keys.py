"""RSA keys: their numbers, reading and writing key files, and generating new keys."""

import math
import random
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives.asymmetric import rsa

from coprime.encodings import der, key_files
from coprime.encodings.errors import KeyFileError, PassphraseMissingError
from coprime.encodings.key_info import NULL, RSA, RSA_PSS, PrivateKeyInfo, PublicKeyInfo
from coprime.operations.lengths import Lengths
from coprime.rsa.missing_numbers import complete
from coprime.rsa.primes import is_prime, random_prime

__all__ = [
    "MIN_BITS",
    "KeyFileError",
    "PassphraseMissingError",
    "RsaPrivateKey",
    "RsaPublicKey",
    "check_ints",
    "generate",
    "library_key",
    "load_private",
    "load_public",
    "parse_private",
    "parse_public",
    "private_pem",
    "public_pem",
    "read_key_file",
    "secret_bytes",
]

MIN_BITS = 64
"""Bits of the shortest modulus that `generate` makes."""
MAX_BITS = 65535
_LOAD_ROUNDS = 8
"""Miller-Rabin rounds for a prime of a loaded key, whose other numbers must be consistent too."""
_LONGEST_FILE = 1 << 20  # bytes; a key of 8192 bits takes some 6,000
_MULTI_PRIME = "the key has more than two primes; keys of two primes are supported"


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
    """Return the private key in PEM or DER, PKCS #1 or PKCS #8, or OpenSSH's, encrypted or not.

    Numbers that are 0 in the file are computed from the others, as from n and d alone. A passphrase
    that is not needed is ignored. Raises KeyFileError: not a key file, not RSA, more than two
    primes, only a public key, passphrase wrong or missing, or inconsistent numbers.
    """
    info = key_files.read_private(data, secret_bytes(passphrase))
    if info is not None:
        return _private_of(info)
    public = key_files.read_public(data)
    if public is not None:
        _public_of(public)
        raise KeyFileError("the file holds only a public key, and a private key is needed")
    raise key_files.no_key(data, "private")


def parse_public(data: bytes, passphrase: str | bytes | None = None) -> RsaPublicKey:
    """Return the public key in PEM or DER: SubjectPublicKeyInfo, PKCS #1, or half of a private key.

    Raises KeyFileError as `parse_private` does.
    """
    info = key_files.read_public(data)
    if info is not None:
        return _public_of(info)
    private = key_files.read_private(data, secret_bytes(passphrase))
    if private is not None:
        return _private_of(private).public
    raise key_files.no_key(data, "public")


def private_pem(key: RsaPrivateKey, passphrase: str | bytes | None = None) -> bytes:
    """Write a private key as PKCS #8 in PEM, encrypted if there is a passphrase.

    Raises ValueError if the passphrase is empty.
    """
    numbers = (0, key.n, key.e, key.d, key.p, key.q, key.dp, key.dq, key.qinv)
    info = PrivateKeyInfo(RSA, NULL, der.sequence(*map(der.integer, numbers)))
    return key_files.write_private(info, secret_bytes(passphrase), is_pem=True)


def library_key(key: RsaPrivateKey) -> rsa.RSAPrivateKey:
    """The key as an object of `cryptography`, which does not check it."""
    public = rsa.RSAPublicNumbers(key.e, key.n)
    numbers = rsa.RSAPrivateNumbers(key.p, key.q, key.d, key.dp, key.dq, key.qinv, public)
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)


def public_pem(key: RsaPublicKey) -> bytes:
    """Write a public key as SubjectPublicKeyInfo in PEM."""
    info = PublicKeyInfo(RSA, NULL, der.sequence(der.integer(key.n), der.integer(key.e)))
    return key_files.write_public(info, is_pem=True)


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


def secret_bytes(passphrase: str | bytes | None) -> bytes | None:
    """A passphrase as bytes, a text as UTF-8."""
    return passphrase.encode() if isinstance(passphrase, str) else passphrase


def _private_of(info: PrivateKeyInfo) -> RsaPrivateKey:
    """The RSA key. KeyFileError if it is none, or has more than two primes, or wrong numbers."""
    if info.algorithm not in (RSA, RSA_PSS):
        raise KeyFileError("the file holds a private key that is not an RSA key")
    try:
        version, *fields = der.read(info.key).parts()
        numbers = [part.unsigned() for part in fields[:8]]
        if len(numbers) < 8 or version.number() > 1:
            raise ValueError("it has fewer than eight numbers")
    except ValueError as error:
        raise KeyFileError(f"the file holds no RSA key: {error}") from error
    if version.number() or len(fields) > 8:
        raise KeyFileError(_MULTI_PRIME)
    if numbers[0].bit_length() > MAX_BITS:
        raise KeyFileError(f"the modulus has {numbers[0].bit_length():,} bits: no family takes it")
    try:
        result = RsaPrivateKey(*complete(*numbers))
        for name, prime in (("p", result.p), ("q", result.q)):
            _require(is_prime(prime, _LOAD_ROUNDS), f"{name} is prime")
    except ValueError as error:
        raise KeyFileError(f"the numbers of the private key are inconsistent: {error}") from error
    return result


def _public_of(info: PublicKeyInfo) -> RsaPublicKey:
    """The RSA key. KeyFileError if it is none, or has wrong numbers."""
    if info.algorithm not in (RSA, RSA_PSS):
        raise KeyFileError("the file holds a public key that is not an RSA key")
    try:
        n, e = (part.unsigned() for part in der.read(info.key).parts())
    except ValueError as error:
        raise KeyFileError(f"the file holds no RSA key: {error}") from error
    try:
        return RsaPublicKey(n, e)
    except ValueError as error:
        raise KeyFileError(f"the numbers of the public key are inconsistent: {error}") from error


def _key(key: rsa.RSAPrivateKey) -> RsaPrivateKey:
    """Convert a key of the library; ValueError if its numbers are inconsistent."""
    private = key.private_numbers()
    public = private.public_numbers
    return RsaPrivateKey(
        public.n,
        public.e,
        private.d,
        private.p,
        private.q,
        private.dmp1,
        private.dmq1,
        private.iqmp,
    )


def _require(holds: bool, relation: str) -> None:
    if not holds:
        raise ValueError(f"it does not hold that {relation}")


def check_ints(**values: object) -> None:
    """Raise TypeError unless all are integers."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, not {type(value).__name__}")
