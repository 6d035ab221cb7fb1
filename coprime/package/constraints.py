"""Timing constraints in the format of the target's tools."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template

from coprime.cells.target import Target

from .description import Description

__all__ = ["CONSTRAINTS", "files"]

_REASONS = """\
# The only clock is s_axi_aclk. The reset s_axi_aresetn is synchronous to it, as are all other
# ports, so that there is no false path and no multicycle path to declare. If the receiver of the
# interrupt has another clock, synchronize irq there.
"""

_SDC = Template(f"""\
# Clock of $name as a top module, for tools that read Synopsys Design Constraints.
# In a larger design leave this file out: the clock that drives s_axi_aclk is constrained there.
#
{_REASONS}
# $reason
create_clock -name s_axi_aclk -period $period [get_ports s_axi_aclk]
""")

_XDC = Template(f"""\
# Clock of $name out of context, for Vivado:
#
#   read_verilog $verilog
#   read_xdc -mode out_of_context $file
#   synth_design -top $name -part xc7z020clg400-1 -mode out_of_context
#
# In a larger design Vivado must not use it: the clock that drives s_axi_aclk is constrained there.
# component.xml does not list it. In a project, restrict it with
#
#   set_property USED_IN {{synthesis implementation out_of_context}} [get_files $file]
#
{_REASONS}
# $reason
create_clock -name s_axi_aclk -period $period [get_ports s_axi_aclk]
""")

_LPF = Template(f"""\
# Clock of $name as a top module, for nextpnr-ecp5 and Diamond.
# In a larger design constrain the net that drives s_axi_aclk instead:
#
#   FREQUENCY NET "clk" $mhz MHZ;
#
{_REASONS}
# $reason
FREQUENCY PORT "s_axi_aclk" $mhz MHZ;
""")


@dataclass(frozen=True)
class Constraints:
    """Constraints of a target: end of the file's name, its text, and the clock to start from."""

    suffix: str
    text: Template
    mhz: int


CONSTRAINTS = {
    Target.GENERIC: Constraints(".sdc", _SDC, 100),
    Target.XC7: Constraints("_ooc.xdc", _XDC, 100),
    Target.ECP5: Constraints(".lpf", _LPF, 50),
    Target.GOWIN: Constraints(".sdc", _SDC, 50),
    Target.ICE40: Constraints(".sdc", _SDC, 24),
    Target.NEXUS: Constraints(".sdc", _SDC, 75),
    Target.GATEMATE: Constraints(".sdc", _SDC, 25),
}
"""For each target whose tools read timing constraints from a file of their own."""


def files(own: Description) -> Mapping[str, str]:
    """The constraints of the clock."""
    if own.target not in CONSTRAINTS:
        return {}
    used = CONSTRAINTS[own.target]
    name = f"{own.name}{used.suffix}"
    mhz: float = used.mhz
    reason = f"{used.mhz} MHz is a goal to start from. Set the clock of your design."
    if own.clock_mhz is not None:
        mhz, reason = own.clock_mhz, f"{own.clock_mhz:g} MHz is the clock that --clock names."
    text = used.text.substitute(
        name=own.name,
        verilog=own.verilog,
        file=name,
        mhz=f"{mhz:g}",
        period=f"{1000 / mhz:.3f}",
        reason=reason,
    )
    return {name: text}
