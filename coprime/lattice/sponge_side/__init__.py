"""Hashing, sampling and random bytes: a program that runs beside the arithmetic.

`large_sampler` and its parts are ML-DSA's; no engine has them yet.
"""
