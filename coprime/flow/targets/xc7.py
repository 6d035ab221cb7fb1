"""AMD's 7 series: mapping with Yosys. Place and route would need the vendor's tools."""

from collections.abc import Mapping, Sequence

from coprime.cells.target import Target

from .flow import Flow, Units, count

__all__ = ["Xc7"]

# LUTs that a memory primitive occupies (UG474, tables 2-3 and 2-5).
_MEMORY_LUTS = {
    "RAM32X1S": 1,
    "RAM32X1D": 2,
    "RAM32M": 4,
    "RAM64X1S": 1,
    "RAM64X1D": 2,
    "RAM64M": 4,
    "RAM128X1S": 2,
    "RAM128X1D": 4,
    "RAM256X1S": 4,
    "SRL16E": 1,
    "SRLC32E": 1,
}


class Xc7(Flow):
    """Pads and clock buffers are left out: the design is a part of a larger one."""

    TARGET = Target.XC7
    TITLE = "AMD 7 series"
    UNITS = Units(lut="LUTs, 6 inputs", carry="CARRY4", dsp="DSP48E1", bram="RAMB36E1")
    LUTS_PER_SLICE = 4
    FLIP_FLOPS_PER_SLICE = 8
    CONSTRAINTS = "pins.xdc"

    @classmethod
    def synthesis(cls, top: str, device: str) -> Sequence[str]:
        """With ABC9."""
        return [f"synth_xilinx -family xc7 -top {top} -flatten -abc9 -noiopad -noclkbuf"]

    @classmethod
    def resources(cls, cells: Mapping[str, int]) -> Mapping[str, int | float]:
        """LUTs of 6 inputs; a RAMB18E1 is half a block RAM."""
        lutram = sum(cells.get(cell, 0) * luts for cell, luts in _MEMORY_LUTS.items())
        return {
            "lut": count(cells, "INV|LUT[1-6]|LUT6_2") + lutram,
            "lutram": lutram,
            "ff": count(cells, "FD[CPRS]E(_1)?"),  # _1: on the falling edge
            "carry": cells.get("CARRY4", 0),
            "dsp": cells.get("DSP48E1", 0),
            "bram": cells.get("RAMB36E1", 0) + cells.get("RAMB18E1", 0) / 2,
        }

    @classmethod
    def constrain(cls, pins: Mapping[str, tuple[str, Mapping[str, str]]], mhz: float | None) -> str:
        """Vivado's constraints."""
        lines = []
        for port, (site, attributes) in pins.items():
            settings = " ".join(f"{name} {value}" for name, value in attributes.items())
            lines.append(f"set_property -dict {{PACKAGE_PIN {site} {settings}}} [get_ports {port}]")
        if mhz is not None:
            lines.append(f"create_clock -name clk -period {1000 / mhz:.3f} [get_ports clk]")
        return "\n".join(lines) + "\n"
