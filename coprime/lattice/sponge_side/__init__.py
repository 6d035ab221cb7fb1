"""Hashing, sampling and random bytes: a program that runs beside the arithmetic."""
