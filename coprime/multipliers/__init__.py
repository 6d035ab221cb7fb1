"""Modular multipliers, one file each."""
