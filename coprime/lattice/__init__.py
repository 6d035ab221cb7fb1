"""ML-KEM or ML-DSA in hardware: a sponge side and an arithmetic side, and memories between them."""
