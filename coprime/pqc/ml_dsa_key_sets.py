"""What key files need of each parameter set of ML-DSA, as `key_sets` has it for ML-KEM.

Source: FIPS 204, algorithm 6; object identifiers of NIST's Computer Security Objects Register.
Everything here is computed in Python, in a time that depends on the key.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, SEED_BYTES, MlDsaSet

_ALGORITHMS = "2.16.840.1.101.3.4.3"


@dataclass(frozen=True)
class MlDsaKeySet:
    """A parameter set of ML-DSA: a private key is sk, a public key is pk, and a seed is xi."""

    parameters: MlDsaSet
    identifier: str
    seed_bytes: int = SEED_BYTES

    @property
    def name(self) -> str:
        """As the standard writes it: ML-DSA-65."""
        return self.parameters.name

    @property
    def private_bytes(self) -> int:
        """Of sk."""
        return self.parameters.sk_bytes

    @property
    def public_bytes(self) -> int:
        """Of pk."""
        return self.parameters.pk_bytes

    def expand(self, seed: bytes) -> tuple[bytes, bytes]:
        """The public and the expanded private key of a seed."""
        return ml_dsa.key_pair(self.parameters, seed)

    def public_of(self, private: bytes) -> bytes:
        """The public key of an expanded private key. ValueError if its parts contradict."""
        return ml_dsa.public_of(self.parameters, private)

    def check_public(self, public: bytes) -> None:
        """Every value is one of a public key."""


ML_DSA: Mapping[str, MlDsaKeySet] = {
    parameter_set.name: MlDsaKeySet(parameter_set, f"{_ALGORITHMS}.{number}")
    for number, parameter_set in enumerate(ML_DSA_SETS, 17)
}
"""The parameter sets of ML-DSA by name."""
