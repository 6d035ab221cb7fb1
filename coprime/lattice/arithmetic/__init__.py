"""Polynomials on one DSP slice: a memory, a pipeline, and a program that runs beside the sponge.

The parts whose names begin with `large`, and those of numbers, norms and hints, are ML-DSA's, whose
modulus has 23 bits.
"""
