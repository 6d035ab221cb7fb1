"""The targets that cells have variants for."""

import enum


class Target(enum.Enum):
    """What the Verilog is generated for."""

    GENERIC = "generic"  # behavioural Verilog: any simulator, any synthesis tool
    XC7 = "xc7"  # AMD 7 series: explicit DSP48E1; memories are inferred as RAMB36E1
    ECP5 = "ecp5"  # Lattice ECP5: explicit MULT18X18D; memories are inferred as DP16KD
    GOWIN = "gowin"  # Gowin GW1N and GW2A: multipliers are inferred as MULT18X18, memories as BSRAM
    ICE40 = "ice40"
    """Lattice iCE40 UltraPlus: multipliers are inferred as SB_MAC16, memories as SB_RAM40."""
    NEXUS = "nexus"  # Lattice Nexus: multipliers are inferred as MULT18X18, memories as DP16K
    GATEMATE = "gatemate"
    """Cologne Chip GateMate: multipliers of logic cells; memories are inferred as CC_BRAM."""
