"""Key files of ML-KEM and ML-DSA, in PEM or DER.

Private keys are PKCS #8 with a seed, the expanded key, or both (RFC 9935 for ML-KEM, RFC 9881 for
ML-DSA); public keys are SubjectPublicKeyInfo.

    key = LatticePrivateKey.generate(ML_KEM["ML-KEM-768"])
    Path("key.pem").write_bytes(key.encode(b"passphrase"))
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives.serialization import Encoding

from coprime.encodings import key_files
from coprime.encodings.errors import KeyFileError
from coprime.encodings.key_info import PrivateKeyInfo, PublicKeyInfo
from coprime.encodings.seeded_keys import SeededKey
from coprime.rsa.keys import read_key_file, secret_bytes

from .key_sets import ML_KEM, KeySet

__all__ = [
    "ML_KEM",
    "KeyForm",
    "KeySet",
    "LatticePrivateKey",
    "LatticePublicKey",
    "load_private",
    "load_public",
    "parse_private",
    "parse_public",
]


class KeyForm(Enum):
    """What a private key consists of in its file."""

    SEED = "seed"
    EXPANDED = "expanded"
    BOTH = "both"


@dataclass(frozen=True)
class LatticePublicKey:
    """A public key. ValueError unless it is one of the parameter set.

    Parameters
    ----------
    set : whose
    key : ek of ML-KEM, pk of ML-DSA
    """

    set: KeySet
    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        _check_length(self.set.name, "a public key", self.key, self.set.public_bytes)
        self.set.check_public(self.key)

    def encode(self, encoding: Encoding = Encoding.PEM) -> bytes:
        """As SubjectPublicKeyInfo, in PEM or DER."""
        info = PublicKeyInfo(self.set.identifier, None, self.key)
        return key_files.write_public(info, is_pem=encoding is Encoding.PEM)


@dataclass(frozen=True)
class LatticePrivateKey:
    """A private key; its repr shows no secret.

    ValueError unless it is one of the parameter set: a wrong length, numbers out of range, a hash
    that is another key's, a seed that another key is expanded from.

    Parameters
    ----------
    set : whose
    seed : d and z of ML-KEM, xi of ML-DSA; None if it is not known
    expanded : dk of ML-KEM, sk of ML-DSA; None if it has not been computed
    """

    set: KeySet
    seed: bytes | None = field(repr=False)
    expanded: bytes | None = field(repr=False, default=None)

    def __post_init__(self) -> None:
        if self.seed is not None:
            _check_length(self.set.name, "a seed", self.seed, self.set.seed_bytes)
        if self.expanded is None:
            if self.seed is None:
                raise ValueError("a private key has a seed, an expanded key, or both")
            return
        what = "an expanded private key"
        _check_length(self.set.name, what, self.expanded, self.set.private_bytes)
        if self.seed is None:
            self.set.public_of(self.expanded)
        elif not hmac.compare_digest(self.set.expand(self.seed)[1], self.expanded):
            raise ValueError("the expanded private key is not that of the seed")

    @classmethod
    def generate(cls, key_set: KeySet) -> Self:
        """A new key, whose seed is random bytes of the operating system."""
        return cls(key_set, secrets.token_bytes(key_set.seed_bytes))

    def with_expanded(self, expanded: bytes) -> Self:
        """The same key with the expanded one, which is compared with the seed's."""
        return replace(self, expanded=expanded)

    def software_public(self) -> LatticePublicKey:
        """Its public key, without an accelerator: Python computes it, in a time that depends on
        the key.
        """
        if self.expanded is not None:
            return LatticePublicKey(self.set, self.set.public_of(self.expanded))
        assert self.seed is not None
        return LatticePublicKey(self.set, self.set.expand(self.seed)[0])

    def in_form(self, form: KeyForm) -> Self:
        """The same key with what the form has; Python expands a seed if need be.

        ValueError for a form with a seed if it is not known: it cannot be computed from the key.
        """
        if self.seed is None and form is not KeyForm.EXPANDED:
            raise ValueError("the seed of the private key is not known: use the form expanded")
        expanded = self.expanded
        if form is KeyForm.SEED:
            return replace(self, expanded=None)
        if expanded is None:
            assert self.seed is not None
            expanded = self.set.expand(self.seed)[1]
        return replace(
            self, seed=None if form is KeyForm.EXPANDED else self.seed, expanded=expanded
        )

    def encode(
        self, passphrase: str | bytes | None = None, encoding: Encoding = Encoding.PEM
    ) -> bytes:
        """As PKCS #8 with the seed, the expanded key, or both, as far as they are there; in PEM or
        DER, encrypted if there is a passphrase.

        ValueError if the passphrase is empty.
        """
        key = SeededKey(self.seed, self.expanded).encoded
        info = PrivateKeyInfo(self.set.identifier, None, key)
        is_pem = encoding is Encoding.PEM
        return key_files.write_private(info, secret_bytes(passphrase), is_pem=is_pem)


def load_private(
    path: Path | str, sets: Mapping[str, KeySet], passphrase: str | bytes | None = None
) -> LatticePrivateKey:
    """Read a file as `parse_private` does; KeyFileError too if it cannot be read."""
    return parse_private(read_key_file(path), sets, passphrase)


def load_public(path: Path | str, sets: Mapping[str, KeySet]) -> LatticePublicKey:
    """Read a file as `parse_public` does; KeyFileError too if it cannot be read."""
    return parse_public(read_key_file(path), sets)


def parse_private(
    data: bytes, sets: Mapping[str, KeySet], passphrase: str | bytes | None = None
) -> LatticePrivateKey:
    """The private key in PEM or DER, PKCS #8 in any of its forms, encrypted or not.

    `sets` are those that are meant, ML_KEM or ML_DSA. A passphrase that is not needed is ignored.
    Raises KeyFileError: not a key file, another kind of key, only a public key, passphrase wrong or
    missing, a seed and an expanded key of two keys, a public key in the file that is another one's.
    """
    info = key_files.read_private(data, secret_bytes(passphrase))
    if info is None:
        if key_files.read_public(data) is not None:
            raise KeyFileError("the file holds only a public key, and a private key is needed")
        raise key_files.no_key(data, "private")
    key_set = _set_of(info, sets, "private")
    found = SeededKey.read(
        info.key, seed_bytes=key_set.seed_bytes, expanded_bytes=key_set.private_bytes
    )
    try:
        key = LatticePrivateKey(key_set, found.seed, found.expanded)
    except ValueError as error:
        raise KeyFileError(f"the file holds no private key: {error}") from None
    if info.public is not None and info.public != key.software_public().key:
        raise KeyFileError("the private and the public key in the file are not one key's")
    return key


def parse_public(data: bytes, sets: Mapping[str, KeySet]) -> LatticePublicKey:
    """The public key in PEM or DER, SubjectPublicKeyInfo or a certificate's.

    `sets` as in `parse_private`. Raises KeyFileError: not a key file, another kind of key, or a
    private key, which is not turned into a public one here.
    """
    info = key_files.read_public(data)
    if info is not None:
        key_set = _set_of(info, sets, "public")
        try:
            return LatticePublicKey(key_set, info.key)
        except ValueError as error:
            raise KeyFileError(f"the file holds no public key: {error}") from None
    if key_files.is_private(data):
        command = next(iter(sets)).rpartition("-")[0].lower()
        raise KeyFileError(
            "the file holds a private key, and a public key is needed: write it with"
            f" coprime {command} public --key FILE -o NEW"
        )
    raise key_files.no_key(data, "public")


def _set_of(info: PrivateKeyInfo | PublicKeyInfo, sets: Mapping[str, KeySet], kind: str) -> KeySet:
    """The parameter set of a key. KeyFileError if it is none of these."""
    found = next(
        (key_set for key_set in sets.values() if key_set.identifier == info.algorithm), None
    )
    if found is None:
        *names, last = sets
        known = f"{', '.join(names)} or {last}" if names else last
        raise KeyFileError(f"the file holds a {kind} key that is not of {known}")
    if info.parameters is not None:
        raise KeyFileError(f"the algorithm in the file has parameters, and {found.name} has none")
    return found


def _check_length(name: str, what: str, data: bytes, wanted: int) -> None:
    if len(data) != wanted:
        raise ValueError(f"{what} of {name} has {wanted:,} bytes, not {len(data):,}")
