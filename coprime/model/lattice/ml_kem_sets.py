"""The parameter sets of ML-KEM. Source: FIPS 203, section 8, table 2; lengths: table 3."""

from dataclasses import dataclass

POLYNOMIAL_BYTES = 384
"""256 coefficients of 12 bits."""
SEED_BYTES = 32


@dataclass(frozen=True)
class MlKemSet:
    """A parameter set.

    Attributes
    ----------
    k (int): rows and columns of the matrix
    eta1 (int): of the binomial distribution of s, e and y
    eta2 (int): of that of e1 and e2
    du, dv (int): bits of a coefficient of u and v in a ciphertext
    """

    name: str
    k: int
    eta1: int
    du: int
    dv: int
    eta2: int = 2

    @property
    def ek_bytes(self) -> int:
        """Bytes of an encapsulation key: the vector t, then rho."""
        return POLYNOMIAL_BYTES * self.k + SEED_BYTES

    @property
    def dk_bytes(self) -> int:
        """Bytes of a decapsulation key: the vector s, ek, the hash of ek, z."""
        return POLYNOMIAL_BYTES * self.k + self.ek_bytes + 2 * SEED_BYTES

    @property
    def ciphertext_bytes(self) -> int:
        """Bytes of a ciphertext: the vector u, then v."""
        return 32 * (self.du * self.k + self.dv)


ML_KEM_SETS = (
    MlKemSet("ML-KEM-512", 2, 3, 10, 4),
    MlKemSet("ML-KEM-768", 3, 2, 10, 4),
    MlKemSet("ML-KEM-1024", 4, 2, 11, 5),
)
"""All parameter sets; a set's number is its place."""
