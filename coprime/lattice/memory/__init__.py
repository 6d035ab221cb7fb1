"""Byte strings and sampled polynomials: the memories that both sides use."""
