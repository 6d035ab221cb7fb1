"""What key files need of each parameter set of ML-KEM: names, lengths, checks, and the expansion of
a seed.

Source: FIPS 203, algorithms 16 and 19, sections 7.2 and 7.3; object identifiers of NIST's Computer
Security Objects Register. Everything here is computed in Python, in a time that depends on the key.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from coprime.model.lattice import ml_kem_standard
from coprime.model.lattice.arithmetic import unpacked
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS, POLYNOMIAL_BYTES, SEED_BYTES, MlKemSet

__all__ = ["ML_KEM", "SEED_BYTES", "KeySet", "MlKemKeySet"]

_COEFFICIENT_BITS = 12
_ALGORITHMS = "2.16.840.1.101.3.4.4"


class KeySet(Protocol):
    """A parameter set as key files see it; lengths are in bytes."""

    @property
    def name(self) -> str:
        """As the standard writes it: ML-KEM-768."""

    @property
    def identifier(self) -> str:
        """The OBJECT IDENTIFIER of its keys."""

    @property
    def seed_bytes(self) -> int:
        """Of a seed."""

    @property
    def private_bytes(self) -> int:
        """Of an expanded private key."""

    @property
    def public_bytes(self) -> int:
        """Of a public key."""

    def expand(self, seed: bytes) -> tuple[bytes, bytes]:
        """The public and the expanded private key of a seed."""

    def public_of(self, private: bytes) -> bytes:
        """The public key of an expanded private key. ValueError if its parts contradict."""

    def check_public(self, public: bytes) -> None:
        """Raise ValueError for a public key with a number out of range."""


@dataclass(frozen=True)
class MlKemKeySet:
    """A parameter set of ML-KEM: a private key is dk, a public key is ek, and a seed is d and z."""

    parameters: MlKemSet
    identifier: str
    seed_bytes: int = 2 * SEED_BYTES

    @property
    def name(self) -> str:
        """As the standard writes it: ML-KEM-768."""
        return self.parameters.name

    @property
    def private_bytes(self) -> int:
        """Of dk."""
        return self.parameters.dk_bytes

    @property
    def public_bytes(self) -> int:
        """Of ek."""
        return self.parameters.ek_bytes

    def expand(self, seed: bytes) -> tuple[bytes, bytes]:
        """The public and the expanded private key of a seed."""
        return ml_kem_standard.key_pair(self.parameters, seed[:SEED_BYTES], seed[SEED_BYTES:])

    def public_of(self, private: bytes) -> bytes:
        """The public key of an expanded private key. ValueError if its parts contradict (7.3)."""
        vector = POLYNOMIAL_BYTES * self.parameters.k
        public = private[vector : vector + self.public_bytes]
        digest = private[vector + self.public_bytes : -SEED_BYTES]
        self._check_vector(private, "private")
        self.check_public(public)
        if hashlib.sha3_256(public).digest() != digest:
            raise ValueError("the hash in the private key is not that of its public key")
        return public

    def check_public(self, public: bytes) -> None:
        """Raise ValueError for a number that is not below 3329 (7.2)."""
        self._check_vector(public, "public")

    def _check_vector(self, key: bytes, kind: str) -> None:
        vector = key[: POLYNOMIAL_BYTES * self.parameters.k]
        if max(unpacked(vector, _COEFFICIENT_BITS)) >= ml_kem_standard.Q:
            raise ValueError(f"a number in the {kind} key is not below {ml_kem_standard.Q}")


ML_KEM: Mapping[str, MlKemKeySet] = {
    parameter_set.name: MlKemKeySet(parameter_set, f"{_ALGORITHMS}.{number}")
    for number, parameter_set in enumerate(ML_KEM_SETS, 1)
}
"""The parameter sets of ML-KEM by name."""
