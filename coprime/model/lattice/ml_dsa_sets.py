"""The parameter sets of ML-DSA. Source: FIPS 204, section 4, table 1; lengths: table 2."""

from dataclasses import dataclass

Q = 8380417
SEED_BYTES = 32
HASH_BYTES = 64
"""Bytes of tr, rho' and mu."""
DROPPED_BITS = 13
"""d: bits of t0, in which t and t1 2^d differ."""
T1_BITS = 10
"""Bits of a coefficient of t1 in a public key."""


@dataclass(frozen=True)
class MlDsaSet:
    """A parameter set.

    Attributes
    ----------
    k, columns (int): rows and columns (l) of the matrix
    eta (int): the largest magnitude of a coefficient of s1 and s2
    tau (int): coefficients of c that are 1 or -1
    strength (int): lambda; c is hashed to twice as many bits
    gamma1 (int): coefficients of y are in (-gamma1, gamma1]
    parts (int): (q - 1) / gamma2
    omega (int): the largest number of hints in a signature
    """

    name: str
    k: int
    columns: int
    eta: int
    tau: int
    strength: int
    gamma1: int
    parts: int
    omega: int

    @property
    def gamma2(self) -> int:
        """Low parts of w are in [-gamma2, gamma2]."""
        return (Q - 1) // self.parts

    @property
    def beta(self) -> int:
        """The largest magnitude of a coefficient of c s1 and c s2."""
        return self.tau * self.eta

    @property
    def challenge_bytes(self) -> int:
        """Bytes of c~."""
        return self.strength // 4

    @property
    def s_bits(self) -> int:
        """Bits of a coefficient of s1 or s2 in a private key."""
        return (2 * self.eta).bit_length()

    @property
    def z_bits(self) -> int:
        """Bits of a coefficient of y, and of z in a signature."""
        return self.gamma1.bit_length()

    @property
    def w1_bits(self) -> int:
        """Bits of a high part of w as it is hashed."""
        return (self.parts // 2 - 1).bit_length()

    @property
    def pk_bytes(self) -> int:
        """Bytes of a public key: rho, then t1."""
        return SEED_BYTES + 32 * T1_BITS * self.k

    @property
    def sk_bytes(self) -> int:
        """Bytes of a private key: rho, K, tr, s1, s2, t0."""
        vectors = self.s_bits * (self.k + self.columns) + DROPPED_BITS * self.k
        return 2 * SEED_BYTES + HASH_BYTES + 32 * vectors

    @property
    def signature_bytes(self) -> int:
        """Bytes of a signature: c~, z, hints."""
        return self.challenge_bytes + 32 * self.z_bits * self.columns + self.omega + self.k


ML_DSA_SETS = (
    MlDsaSet("ML-DSA-44", 4, 4, 2, 39, 128, 1 << 17, 88, 80),
    MlDsaSet("ML-DSA-65", 6, 5, 4, 49, 192, 1 << 19, 32, 55),
    MlDsaSet("ML-DSA-87", 8, 7, 2, 60, 256, 1 << 19, 32, 75),
)
"""All parameter sets; a set's number is its place."""
