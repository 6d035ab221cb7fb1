"""Where the programs of ML-DSA begin, and which seeds they are given; without hardware."""

import enum

XI, RND = range(2)
"""Bits of `present`: the host has loaded this seed."""


class MlDsaRoutine(enum.Enum):
    """What both sides execute, from MU_OF_PK on the sponge side alone; calls are made of them."""

    KEY_PAIR = 0
    SIGN = 1
    VERIFY = 2
    CHECK_SK = 3  # its parts belong together; gives its pk
    MU_OF_PK = 4
    MU_OF_SK = 5
    MATCH = 6  # pk is that of sk

    @property
    def hashes_only(self) -> bool:
        """The sponge side works alone."""
        return self.value >= MlDsaRoutine.MU_OF_PK.value

    @property
    def streams(self) -> bool:
        """A message is hashed."""
        return self in (MlDsaRoutine.MU_OF_PK, MlDsaRoutine.MU_OF_SK)

    @property
    def compares(self) -> bool:
        """It finds whether something is right."""
        return self in (MlDsaRoutine.VERIFY, MlDsaRoutine.CHECK_SK, MlDsaRoutine.MATCH)
