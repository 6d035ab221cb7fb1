"""The instruction set of an engine: operands, steps and the assembler; no hardware."""
