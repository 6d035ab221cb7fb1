"""Where programs begin, and which seeds they are given; without hardware."""

import enum

D, Z, M = range(3)
"""Bits of `present` for ML-KEM: the host has loaded this seed."""
XI, RND = range(2)
"""The same for ML-DSA."""


class LatticeRoutine(enum.Enum):
    """What both sides execute, from MU_OF_PK to MATCH the sponge side alone; calls are made of
    them."""

    # Of ML-DSA.
    KEY_PAIR = 0
    SIGN = 1
    VERIFY = 2
    CHECK_SK = 3  # its parts belong together; gives its pk
    MU_OF_PK = 4
    MU_OF_SK = 5
    MATCH = 6  # pk is that of sk
    # Of ML-KEM: a bit more.
    KEM_KEY_PAIR = 8
    ENCAPSULATE = 9
    DECAPSULATE = 10
    CHECK_EK = 11
    CHECK_DK = 12
    CHECK_BOTH = 13

    @property
    def is_ml_kem(self) -> bool:
        """It is of ML-KEM."""
        return self.value >= LatticeRoutine.KEM_KEY_PAIR.value

    @property
    def hashes_only(self) -> bool:
        """The sponge side works alone."""
        return self in (LatticeRoutine.MU_OF_PK, LatticeRoutine.MU_OF_SK, LatticeRoutine.MATCH)

    @property
    def streams(self) -> bool:
        """A message is hashed."""
        return self in (LatticeRoutine.MU_OF_PK, LatticeRoutine.MU_OF_SK)

    @property
    def compares(self) -> bool:
        """The sponge side finds whether something is right."""
        return self in (LatticeRoutine.VERIFY, LatticeRoutine.CHECK_SK, LatticeRoutine.MATCH)

    @property
    def decides(self) -> bool:
        """It gives a key, once it is decided which one."""
        return self in (LatticeRoutine.ENCAPSULATE, LatticeRoutine.DECAPSULATE)


ML_KEM_ROUTINES = tuple(routine for routine in LatticeRoutine if routine.is_ml_kem)
ML_DSA_ROUTINES = tuple(routine for routine in LatticeRoutine if not routine.is_ml_kem)
