"""Cologne Chip GateMate: Yosys, nextpnr and Project Peppercorn."""

from collections.abc import Mapping, Sequence

from coprime.cells.target import Target

from .flow import NO_LUT_MEMORY, Flow, FpgaDevice, Units, count

__all__ = ["Gatemate"]


class Gatemate(Flow):
    """A cell (CPE) has two trees of LUTs of 2 inputs, each with 4 inputs, or one with 5.

    `lut` counts trees, those of the adders included. There is no multiplier: CC_MULT becomes cells
    in place and route, which are not among these trees.
    """

    TARGET = Target.GATEMATE
    TITLE = "Cologne Chip GateMate"
    UNITS = Units(lut="LUT trees, 4 inputs", carry="CC_ADDF", dsp="none", bram="halves of 20 kbit")
    LUTS_PER_SLICE = 2
    FLIP_FLOPS_PER_SLICE = 2
    # Data sheet DS1001: 20,480 cells, 32 block RAMs of 40 kbit.
    DEVICES = {
        "CCGM1A1": FpgaDevice(
            title="CCGM1A1",
            options=("--device", "CCGM1A1"),
            luts=40_960,
            block_rams=64,
            dsp_slices=0,
        )
    }
    NEXTPNR = "yowasp-nextpnr-himbaechel-gatemate"
    CONSTRAINTS = "pins.ccf"
    BITSTREAM = ".bit"
    CELLS = {"CPE_LT": "LUT trees", "CPE_FF": "flip-flops", "RAM_HALF": "block RAMs"}

    @classmethod
    def synthesis(cls, top: str, device: str) -> Sequence[str]:
        """With trees of LUTs, and without multiplexers of 8."""
        return [*NO_LUT_MEMORY, f"synth_gatemate -luttree -nomx8 -top {top}"]

    @classmethod
    def resources(cls, cells: Mapping[str, int]) -> Mapping[str, int | float]:
        """A tree of 5 inputs, or a multiplexer of 4, takes a whole cell."""
        carry = cells.get("CC_ADDF", 0)
        return {
            "lut": count(cells, "CC_LUT[1-4]|CC_L2T4|CC_MX2")
            + 2 * count(cells, "CC_L2T5|CC_MX4")
            + carry,
            "lutram": 0,
            "ff": cells.get("CC_DFF", 0),
            "carry": carry,
            "dsp": 0,
            "bram": count(cells, "CC_BRAM_20K") + 2 * count(cells, "CC_BRAM_40K"),
        }

    @classmethod
    def place(cls, device: FpgaDevice, constraints: bool) -> Sequence[str]:
        """Without pins it chooses some."""
        return ("--vopt", f"ccf={cls.CONSTRAINTS}" if constraints else "allow-unconstrained")

    @classmethod
    def output(cls) -> Sequence[str]:
        """A configuration in words."""
        return ("--vopt", "out=design.txt")

    @classmethod
    def pack(cls, device: FpgaDevice) -> tuple[str, Sequence[str]]:
        """Of Project Peppercorn, in the same package."""
        return "yowasp_nextpnr_himbaechel_gatemate:run_gmpack", ("design.txt", "design.bit")

    @classmethod
    def constrain(cls, pins: Mapping[str, tuple[str, Mapping[str, str]]], mhz: float | None) -> str:
        """Pins only; an attribute's value "true" is written, others are numbers or names."""
        lines = []
        for port, (site, attributes) in pins.items():
            settings = "".join(f" | {name}={value}" for name, value in attributes.items())
            lines.append(f'NET "{port}" Loc = "{site}"{settings};')
        return "\n".join(lines) + "\n"
