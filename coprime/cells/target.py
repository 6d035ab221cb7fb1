"""The targets that cells have variants for."""

import enum

__all__ = ["Target"]


class Target(enum.Enum):
    """What the Verilog is generated for."""

    GENERIC = "generic"
    """Behavioural Verilog: any simulator, any synthesis tool."""
    XC7 = "xc7"
    """AMD 7 series: explicit DSP48E1; memories are inferred as RAMB36E1."""
    ECP5 = "ecp5"
    """Lattice ECP5: explicit MULT18X18D; memories are inferred as DP16KD."""
