"""What a key has if nothing else is said."""

EXPONENT = 65537
"""The public exponent, wherever it is of use."""
