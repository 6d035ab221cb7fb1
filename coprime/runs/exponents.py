"""Kinds of secret exponents for measurements, by name."""

EXPONENTS = ("worst", "random")
"""Every bit is 1, or the exponent (or the key) comes from the seed."""
