"""A script that makes a Vivado project for a Zynq board."""

from collections.abc import Mapping
from string import Template

from coprime.cells.target import Target

from .description import Description

__all__ = ["ZYNQ_BOARDS", "files"]

ZYNQ_BOARDS = {
    "zybo-z7-10": ("xc7z010clg400-1", "digilentinc.com:zybo-z7-10"),
    "zybo-z7-20": ("xc7z020clg400-1", "digilentinc.com:zybo-z7-20"),
    "zedboard": ("xc7z020clg484-1", "digilentinc.com:zedboard"),
}
"""Boards of the Vivado script: the part, and the board's name in Vivado without its version."""

_ZYNQ = Template("""\
# $name with the processing system of a Zynq-7000, as a Vivado project.
#
#   vivado -mode batch -source $name.zynq.tcl -tclargs BOARD [FOLDER] [build]
#
# BOARD is one of: $names. FOLDER is where the project goes (default: vivado).
# `build` runs synthesis and implementation, and writes the bitstream and the hardware handoff.
#
# The registers are at $address, and irq is the fabric's interrupt 0: interrupt 29 of a device tree.

set boards {
$boards
}
set board [lindex $$argv 0]
if {![dict exists $$boards $$board]} {
    error "the first argument must be a board: one of [join [dict keys $$boards] {, }]"
}
lassign [dict get $$boards $$board] part board_name
set folder [lindex $$argv 1]
if {$$folder eq ""} { set folder vivado }
set here [file dirname [file normalize [info script]]]

create_project $name $$folder -part $$part
# With the board's files in Vivado, DDR and pins of the processor are those of the board.
set board_part [lindex [get_board_parts -quiet "$$board_name:*"] end]
if {$$board_part ne ""} {
    set_property board_part $$board_part [current_project]
} else {
    puts "WARNING: Vivado has no files of the board $$board: set up DDR and pins by hand"
}
add_files [file join $$here $verilog]
update_compile_order -fileset sources_1

create_bd_design system
set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:processing_system7 ps]
set automation {make_external "FIXED_IO, DDR" Master Disable Slave Disable}
if {$$board_part ne ""} { lappend automation apply_board_preset 1 }
apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 -config $$automation $$ps
set_property -dict [list \\
    CONFIG.PCW_USE_M_AXI_GP0 1 \\
    CONFIG.PCW_USE_FABRIC_INTERRUPT 1 \\
    CONFIG.PCW_IRQ_F2P_INTR 1 \\
    CONFIG.PCW_EN_CLK0_PORT 1 \\
    CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ 100 \\
] $$ps

set accelerator [create_bd_cell -type module -reference $name accelerator]
# Interconnect, reset and clock (FCLK_CLK0).
apply_bd_automation -rule xilinx.com:bd_rule:axi4 \\
    -config {Master /ps/M_AXI_GP0 Slave /accelerator/s_axi Clk Auto} \\
    [get_bd_intf_pins accelerator/s_axi]
connect_bd_net [get_bd_pins accelerator/irq] [get_bd_pins ps/IRQ_F2P]
${random}set segment [get_bd_addr_segs -of_objects [get_bd_intf_pins accelerator/s_axi]]
assign_bd_address -offset $address -range 4K -force $$segment
validate_bd_design
save_bd_design

make_wrapper -top -import [get_files system.bd]
set_property top system_wrapper [current_fileset]
update_compile_order -fileset sources_1

if {[lindex $$argv 2] eq "build"} {
    launch_runs impl_1 -to_step write_bitstream -jobs 4
    wait_on_run impl_1
    if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} { error "implementation failed" }
    write_hw_platform -fixed -include_bit -force [file join $$folder $name.xsa]
}
""")
_ADDRESS = "0x43C00000"
_RANDOM = """\
# Which generator of random bytes there is, only the design's owner knows.
puts "WARNING: connect a source of random bytes to accelerator/s_axis_random;\\
 without it, encryptions and salted signatures with padding do not end"
"""


def files(own: Description) -> Mapping[str, str]:
    """A Tcl script that makes a Vivado project for the boards of ZYNQ_BOARDS; for 7 series only."""
    if own.target is not Target.XC7:
        return {}
    boards = (f"    {name} {{{part} {board}}}" for name, (part, board) in ZYNQ_BOARDS.items())
    text = _ZYNQ.substitute(
        name=own.name,
        verilog=own.verilog,
        names=", ".join(ZYNQ_BOARDS),
        boards="\n".join(boards),
        address=_ADDRESS,
        random=_RANDOM if own.random else "",
    )
    return {f"{own.name}.zynq.tcl": text}
