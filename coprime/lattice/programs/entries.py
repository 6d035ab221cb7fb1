"""Where the programs of ML-KEM begin, and which seeds they are given; without hardware."""

D, Z, M = range(3)
"""Bits of `present`: the host has loaded this seed."""
KEY_PAIR, ENCAPSULATE, DECAPSULATE = "KEY_PAIR", "ENCAPSULATE", "DECAPSULATE"
CHECK_EK, CHECK_DK, CHECK_BOTH = "CHECK_EK", "CHECK_DK", "CHECK_BOTH"
ENTRIES = (KEY_PAIR, ENCAPSULATE, DECAPSULATE, CHECK_EK, CHECK_DK, CHECK_BOTH)
"""Where both programs begin."""
