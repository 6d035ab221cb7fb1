"""What a seed of a generator with a noise source is made of."""

from fractions import Fraction

from coprime.model.hash_drbg import STRENGTH_BITS

SEED_WORDS = 48
"""The most words of seed material."""
WORD_BITS = 32
MATERIAL_BITS = SEED_WORDS * WORD_BITS
"""Raw samples in the material of a seed."""
ENTROPY = Fraction(STRENGTH_BITS * 3 // 2, MATERIAL_BITS)
"""Bits of min-entropy of a sample with which a seed has an entropy input and a nonce."""
