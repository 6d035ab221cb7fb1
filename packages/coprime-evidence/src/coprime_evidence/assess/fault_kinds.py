"""Kinds of faults."""

from enum import StrEnum


class FaultKind(StrEnum):
    """What happens."""

    BIT = "bit"  # one bit of a register, or of a word of a memory, is inverted
    TWO_BITS = "two-bits"  # two bits of one word are inverted
    HOLD = "hold"
    """Everything in a component, with those inside it, keeps its value for a clock cycle."""
    SKIP = "skip"  # a program counter goes one further: a step is left out
    STUCK = "stuck"  # one bit has the inverse of its value, and keeps that for some cycles
