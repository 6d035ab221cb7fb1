"""The page that one reads first: what each file of a package is for, and where to begin."""

from collections.abc import Collection, Mapping
from fnmatch import fnmatch

from coprime.catalog import ClusterChoice
from coprime.cells.target import Target
from coprime.flow.parts import build_command

from .description import Description

__all__ = ["files"]

_PURPOSES = {
    "*.v": "synthesis and simulation: one file of Verilog, whose top module is `{name}`",
    "*_instance.vh": "instantiation template in Verilog",
    "*_instance.vhd": "instantiation template in VHDL: a package with the component",
    "*_ooc.xdc": "Vivado: constraints for synthesis out of context",
    "*.lpf": "nextpnr-ecp5, Diamond: constraints",
    "*.sdc": "constraints for tools that read Synopsys Design Constraints",
    "coprime_cluster_registers.h": "software in C: the cluster's register map",
    "coprime_registers.h": "software in C: the register map",
    "drivers/": "the driver in C: bare metal, RTOS, Linux",
    "doc/": "the data sheet",
    "sim/": "a self-checking testbench",
    "component.xml": "Vivado: makes this folder an IP repository (IP-XACT, IEEE 1685-2009)",
    "*.xml": "other tools that assemble systems (IP-XACT, IEEE 1685-2014)",
    "*.svd": "debuggers, and generators of software such as svd2rust (CMSIS-SVD)",
    "*.core": "FuseSoC (CAPI2)",
    "*.zynq.tcl": "Vivado: a project for a Zynq board",
    "REUSE.toml": "the licence, for tools: [REUSE](https://reuse.software)",
    "LICENSES/": "the text of the licence",
}
"""What files are for: by name with wildcards, or by folder. The first that fits counts."""

_SYNTHESIS = {
    Target.GENERIC: "Add `{name}.v` to your sources. In Vivado you may add this folder to the IP\n"
    "   repositories instead (Settings, IP, Repository).",
    Target.XC7: "In Vivado add this folder to the IP repositories (Settings, IP, Repository), and\n"
    "   `{name}` to the block design. Or add `{name}.v` to your sources.",
}
_ADD = "Add `{name}.v` to your sources."
_CONNECT = """\
   The templates `{name}_instance.vh` and `{name}_instance.vhd` declare and connect its ports:
   the clock `s_axi_aclk`, the reset `s_axi_aresetn`, active low and synchronous, and the bus
   `s_axi_*`: {bus}, 4 KiB of registers, 32 bits wide.{random}"""
_RANDOM = """
   Connect a cryptographic random number generator to `s_axis_random_*`: without one, commands
   that take random bytes wait forever."""
_SOFTWARE = """\
3. **Software.** Compile `drivers/src/coprime.c` with `.` and `drivers/include` on the include path,
   and give it functions that read and write a register: `drivers/include/coprime.h` says how. On
   Linux `drivers/src/coprime_uio.c` does that through UIO."""
_CLUSTER_SOFTWARE = """\
3. **Software.** The register map is `coprime_cluster_registers.h`. Compile `drivers/src/coprime.c`
   and `drivers/src/coprime_cluster.c` with `.` and `drivers/include` on the include path, and give
   them functions that read and write a register: `drivers/include/coprime_cluster.h` says how.
   `drivers/src/coprime_pool.c` shares the cores among threads. The driver in Python is
   `coprime.device.cluster`."""


def files(own: Description, paths: Collection[str]) -> Mapping[str, str]:
    """README.md of a package with these paths.

    Raises ValueError for a path whose purpose is not known here.
    """
    rows = dict.fromkeys(_row(own, path) for path in paths)
    text = "\n".join(
        [
            f"# {own.name}",
            "",
            f"A coprocessor for public-key cryptography, made by Coprime {own.version}:",
            f"{own.summary}.",
            "",
            f"    {build_command(own.choice, own.target, own.bus, own.paddings)} -o DIR",
            "",
            "## The first three steps",
            "",
            _first_step(own, paths),
            "2. **Your design.** " + _SYNTHESIS.get(own.target, _ADD).format(name=own.name),
            _CONNECT.format(
                name=own.name,
                bus="AXI4" if own.bus.value == "axi4" else "AXI4-Lite",
                random=_RANDOM if own.random else "",
            ),
            _CLUSTER_SOFTWARE if isinstance(own.choice, ClusterChoice) else _SOFTWARE,
            "",
            "## Files",
            "",
            "| file | for |",
            "|---|---|",
            *rows,
            "",
        ]
    )
    return {"README.md": text}


def _first_step(own: Description, paths: Collection[str]) -> str:
    if "sim/Makefile" in paths:
        return "1. **Simulate.** `make -C sim` runs the testbench, in Icarus Verilog or Verilator."
    return f"1. **Check the Verilog.** `fusesoc --cores-root . run --target lint {own.name}`."


def _row(own: Description, path: str) -> str:
    folder, _, rest = path.partition("/")
    name = f"{folder}/" if rest else path
    for pattern, purpose in _PURPOSES.items():
        if fnmatch(name, pattern):
            return f"| `{name}` | {purpose.format(name=own.name)} |"
    raise ValueError(f"{path}: coprime/package/readme.py does not say what it is for")
