"""The instruction set of an engine, and programs in it; no hardware.

Here is what any program needs: operands, steps, routines, the builder that writes them, the
assembler that lays them out, and the calls between them. What follows from the numbers that a
program works on is in `numbers/`, which nothing here imports.
"""
