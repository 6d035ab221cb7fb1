"""The page that one reads first: what each file of a package is for, and where to begin."""

from collections.abc import Collection, Mapping
from fnmatch import fnmatch

from .description import Description
from .templates import filled
from .vendor import tools_of

_PURPOSES = {
    "*.v": "synthesis and simulation: one file of Verilog, whose top module is `{name}`",
    "*_instance.vh": "instantiation template in Verilog",
    "*_instance.vhd": "instantiation template in VHDL: a package with the component",
    "*_ooc.xdc": "Vivado: constraints for synthesis out of context",
    "*_noise.xdc": "Vivado: constraints of the ring oscillators",
    "*.lpf": "nextpnr-ecp5, Diamond: constraints",
    "*.sdc": "constraints for tools that read Synopsys Design Constraints",
    "coprime_cluster_registers.h": "software in C: the cluster's register map",
    "coprime_registers.h": "software in C: the register map",
    "coprime_suite.h": "software in C: the numbers of the cores",
    "*.h": "software in C: the numbers of slots, calls and parameter sets",
    "drivers/": "the driver in C: bare metal, RTOS, Linux",
    "doc/": "the data sheet",
    "sim/": "a self-checking testbench, and an example for cocotb",
    "vendor/": "the highest clock in the vendor's tools: scripts that search for it",
    "component.xml": "Vivado: makes this folder an IP repository (IP-XACT, IEEE 1685-2009)",
    "*.xml": "other tools that assemble systems (IP-XACT, IEEE 1685-2014)",
    "*.svd": "debuggers, and generators of software such as svd2rust (CMSIS-SVD)",
    "*_later.vlt": "Verilator from 5.038 on: more waivers for `--lint-only -Wall`",
    "*.vlt": "Verilator: waivers for `--lint-only -Wall`, each with its reason",
    "*.core": "FuseSoC (CAPI2)",
    "*.zynq.tcl": "Vivado: a project for a Zynq board",
    "MANIFEST.sha256": "the files with their SHA-256 (`sha256sum -c`): a build replaces only these",
    "REUSE.toml": "the licence, for tools: [REUSE](https://reuse.software)",
    "LICENSES/": "the text of the licence",
}
"""What files are for: by name with wildcards, or by folder. The first that fits counts."""


def files(description: Description, paths: Collection[str]) -> Mapping[str, str]:
    """README.md of a package with these paths.

    Raises ValueError for a path whose purpose is not known here.
    """
    purposes = dict(purpose(description, path) for path in paths)
    tools = tools_of(description.target)
    text = filled("README.md.j2", own=description, paths=paths, purposes=purposes, tools=tools)
    return {"README.md": text}


def purpose(description: Description, path: str) -> tuple[str, str]:
    """The file, or the folder that it is in, with what that is for.

    Raises ValueError if that is not known here.
    """
    folder, _, rest = path.partition("/")
    name = f"{folder}/" if rest else path
    for pattern, purpose in _PURPOSES.items():
        if fnmatch(name, pattern):
            return name, purpose.format(name=description.name)
    raise ValueError(f"{path}: coprime/package/readme.py does not say what it is for")
