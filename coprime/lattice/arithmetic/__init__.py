"""Polynomials on one DSP slice: a memory, a pipeline, and a program that runs beside the sponge."""
