"""ML-KEM, ML-DSA or both: a sponge side, arithmetic sides, and memories between them."""
