"""Scripts that find the highest clock of a design in a vendor's tools.

Each places and routes the design at one clock after another, from several seeds, and writes a file
with the result, in one format for all tools: `docs/user_results.md` says what is in it. The search
itself is the same in all scripts: `clock_search.tcl` has it for those in Tcl, and Efinity's has it
in Python.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from coprime.cells.target import Target
from coprime.flow.routing import WRAPPER, port_registers

from .constraints import goal_mhz, noise_files
from .description import Description
from .templates import filled

__all__ = ["TOOLS", "VendorTool", "files", "tools_of"]

FOLDER = "vendor"
_SEARCH = "clock_search.tcl"
_REGISTERS = "registered_ports.v"


@dataclass(frozen=True, kw_only=True)
class VendorTool:
    """A vendor's tool.

    Parameters
    ----------
    name : as results name it
    targets : of the packages that have its script
    part : the part that is used if the user names none
    script : name of its script
    launcher : how a script is run, up to its arguments, with {} in place of its path
    ports : what the script does with the design's ports, as results have it
    """

    name: str
    targets: frozenset[Target]
    part: str
    script: str
    launcher: str
    ports: str

    @property
    def command(self) -> str:
        """How its script is run in the folder of a package, up to its arguments."""
        return self.launcher.format(f"{FOLDER}/{self.script}")

    @property
    def in_tcl(self) -> bool:
        """Whether its script is in Tcl, and takes the search from a file of its own."""
        return self.script.endswith(".tcl")


REGISTERED = "registered"
"""A register at each port, in a module around the design; all other tools have no logic there."""
TOOLS = (
    VendorTool(
        name="Vivado",
        targets=frozenset({Target.GENERIC, Target.XC7}),
        part="xc7z020clg400-1",
        script="vivado_clock.tcl",
        launcher="vivado -mode batch -source {} -tclargs",
        ports="out of context",
    ),
    VendorTool(
        name="Quartus",
        targets=frozenset({Target.GENERIC}),
        part="5CSEBA6U23I7",
        script="quartus_clock.tcl",
        launcher="quartus_sh -t {}",
        ports="virtual pins",
    ),
    VendorTool(
        name="Radiant",
        targets=frozenset({Target.GENERIC, Target.NEXUS}),
        part="LIFCL-40-9BG400C",
        script="radiant_clock.tcl",
        launcher="radiantc {}",
        ports=REGISTERED,
    ),
    VendorTool(
        name="Diamond",
        targets=frozenset({Target.ECP5}),
        part="LFE5U-85F-6BG381C",
        script="diamond_clock.tcl",
        launcher="diamondc {}",
        ports=REGISTERED,
    ),
    VendorTool(
        name="Efinity",
        targets=frozenset({Target.GENERIC}),
        part="Ti60F225C4",
        script="efinity_clock.py",
        launcher="python3 {}",
        ports=REGISTERED,
    ),
)


def tools_of(target: Target) -> tuple[VendorTool, ...]:
    """The tools whose scripts the packages of a target have."""
    return tuple(tool for tool in TOOLS if target in tool.targets)


def files(description: Description) -> Mapping[str, str]:
    """The scripts of the target's tools, and what they need."""
    tools = tools_of(description.target)
    found = {}
    for tool in tools:
        found[tool.script] = filled(
            f"{tool.script}.j2",
            own=description,
            tool=tool,
            mhz=goal_mhz(description),
            noise=noise_files(description),
            wrapper=WRAPPER,
        )
    if any(tool.in_tcl for tool in tools):
        found[_SEARCH] = filled(f"{_SEARCH}.j2", own=description, mhz=goal_mhz(description))
    if any(tool.ports == REGISTERED for tool in tools):
        found[_REGISTERS] = _registered_ports(description)
    return {f"{FOLDER}/{name}": text for name, text in found.items()}


def _registered_ports(description: Description) -> str:
    ports = {
        port.name: ("output" if port.output else "input", port.width) for port in description.ports
    }
    head = (
        f"// {description.name} with a register at each port but the clock, so that it needs three"
        "\n// pins, and paths from and to its ports count. Only scripts of this folder use it.\n"
    )
    return head + port_registers(description.name, ports)
