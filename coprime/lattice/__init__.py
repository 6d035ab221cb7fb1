"""ML-KEM in hardware: a sponge side and an arithmetic side, and the memories between them."""
