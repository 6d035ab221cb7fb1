"""Where the programs of ML-DSA begin, and which seeds they are given; without hardware."""

XI, RND = range(2)
"""Bits of `present`: the host has loaded this seed."""
VERIFY, KEY_PAIR, SIGN = "VERIFY", "KEY_PAIR", "SIGN"
MU_OF_PK, MU_OF_SK = "MU_OF_PK", "MU_OF_SK"
