"""What of a design is mapped and measured, by name; and what some parts do alone."""

from collections.abc import Mapping

UNIT_GATE = "unit-gate"
"""The target whose figures are unit gates."""
SYSTEM = "system"
"""The part that is processor, memory and accelerator."""
WORDS = {"reduction": 1, "word-multiplier": 2}
"""Parts of a design for one modulus, each with the words that it takes: they are not reduced
before, as numbers from a processor."""

PARTS = ("engine", "accelerator", "multiplier", *WORDS)
"""What of a design is measured: the engine; with its registers and its slave on the bus; one of the
engine's multipliers alone, without the memory that holds its operands; or, for one modulus, the
reduction of a word, or of the product of two."""

MULTIPLICATION = "MULTIPLICATION"
"""Name of the operation: X * Y * R^-1 mod M with operands in memory, and M prepared."""
ALONE: Mapping[str, str] = {
    "multiplier": MULTIPLICATION,
    "reduction": "REDUCTION",
    "word-multiplier": "WORD_MULTIPLICATION",
}
"""The parts that have one operation only, with its name."""
