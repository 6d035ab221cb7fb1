"""Keccak-f[1600] and its sponge, a few slices or a whole round a cycle (FIPS 202)."""
