"""Mapping to AMD's 7 series with Yosys. Place and route would need the vendor's tools."""

from collections.abc import Sequence

from amaranth.lib import wiring

from .mapping import MappedDesign, map_cells, mapping_tools, netlist_of, verilog_of

__all__ = ["map_xc7"]

DEVICE = "AMD 7 series"

_LUTS_PER_SLICE = 4
_FLIP_FLOPS_PER_SLICE = 8
_LOGIC_LUTS = {"INV", "LUT6_2", *(f"LUT{inputs}" for inputs in range(1, 7))}
_FLIP_FLOPS = {"FDCE", "FDPE", "FDRE", "FDSE"}
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


def map_xc7(
    design: wiring.Component | str, top: str, *, repeated: Sequence[str] = ()
) -> MappedDesign:
    """Map a component, or Verilog text with top module `top`, to 7 series cells.

    Pads and clock buffers are left out: the design is a part of a larger one. `repeated` names
    modules to map by themselves, as they have many instances. Raises ToolError if Yosys fails;
    results are cached by content.
    """
    cells, folder = map_cells(
        verilog_of(design, top),
        top,
        [f"synth_xilinx -family xc7 -top {top} -flatten -abc9 -noiopad -noclkbuf"],
        repeated=repeated,
    )
    lutram = sum(cells.get(cell, 0) * luts for cell, luts in _MEMORY_LUTS.items())
    lut = sum(cells.get(cell, 0) for cell in _LOGIC_LUTS) + lutram
    # Yosys writes a flip-flop on the falling edge as FDRE_1, and so on.
    ff = sum(count for cell, count in cells.items() if cell.removesuffix("_1") in _FLIP_FLOPS)
    return MappedDesign(
        target="xc7",
        device=DEVICE,
        lut=lut,
        lutram=lutram,
        ff=ff,
        carry=cells.get("CARRY4", 0),
        dsp=cells.get("DSP48E1", 0),
        bram=cells.get("RAMB36E1", 0) + cells.get("RAMB18E1", 0) / 2,
        slices_estimate=max(-(-lut // _LUTS_PER_SLICE), -(-ff // _FLIP_FLOPS_PER_SLICE)),
        cells=cells,
        tools=mapping_tools(),
        netlist=netlist_of(folder),
    )
