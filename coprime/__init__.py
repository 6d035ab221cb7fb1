"""Coprime: a generator of public-key coprocessors."""

__all__ = ["__version__"]

__version__ = "0.2.0"
