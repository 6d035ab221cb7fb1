"""Engines for one modulus, known when the circuit is generated: operands in registers."""
