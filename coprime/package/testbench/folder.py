"""The folder `sim/` of a package: testbench, models of the target's cells, Makefile."""

import re
from collections.abc import Mapping
from importlib import resources

from coprime.bus.axi_accelerator import Bus
from coprime.catalog import ClusterChoice
from coprime.cells.target import Target
from coprime.engine.contract import Command, Error, Operand

from ..description import Description
from .accelerator_checks import AcceleratorChecks
from .cluster_checks import ClusterChecks
from .padding_checks import SEED, PaddingChecks
from .script import Script

__all__ = ["VERILATOR_OPTIONS", "files", "simulation_sources", "top_module"]

# C++20 has the coroutines in which --timing waits; the last two are what the Python package
# `verilator` does not know of the machine.
VERILATOR_OPTIONS = (
    *("--timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD"),
    *("-CFLAGS -std=c++20", "-MAKEFLAGS OPT_FAST=-O0", "-MAKEFLAGS OPT_GLOBAL=-O0"),
    *("-MAKEFLAGS CFG_CXXFLAGS_PCH_I=-include", "-MAKEFLAGS PYTHON3=python3"),
)
"""Of Verilator: what it takes to compile a testbench."""

_LIMIT = 2_000_000
"""Cycles after which the watchdog ends a simulation; the longest takes a quarter of them."""
_PRESET = {
    "s_axi_wstrb": "4'hf",
    **dict.fromkeys(("s_axi_awsize", "s_axi_arsize"), "3'd2"),
    **dict.fromkeys(("s_axi_awburst", "s_axi_arburst"), "2'd1"),
}
"""What inputs are before they are driven, where that is not 0."""
_DRIVEN = "s_axis_random_"
"""Inputs that a generator drives."""


_WITH_CELLS = (Target.XC7, Target.ECP5)
"""Targets whose Verilog instantiates cells; others have theirs inferred."""


def _filled(text: str, **values: object) -> str:
    """Replace each ${name} of Verilog, in which $display is nothing special."""
    return re.sub(r"\$\{(\w+)\}", lambda found: str(values[found[1]]), text)


def files(own: Description) -> Mapping[str, str]:
    """Testbench, models of cells where the target's are instantiated, and a Makefile."""
    sources = simulation_sources(own)
    found = {f"sim/{top_module(own)}.v": _testbench(own)}
    if own.target in _WITH_CELLS:
        found[f"sim/{_cells(own.target)}"] = _text(_cells(own.target))
    found["sim/Makefile"] = _filled(
        _text("Makefile.in"),
        name=own.name,
        top=top_module(own),
        sources=" ".join(source.removeprefix("sim/") for source in sources),
        verilog=own.verilog,
        options=" ".join(VERILATOR_OPTIONS),
    )
    return found


def top_module(own: Description) -> str:
    """The testbench's module."""
    return f"{own.name}_tb"


def simulation_sources(own: Description) -> tuple[str, ...]:
    """What is simulated beside the design: paths in the package."""
    cells = (f"sim/{_cells(own.target)}",) if own.target in _WITH_CELLS else ()
    return (*cells, f"sim/{top_module(own)}.v")


def _cells(target: Target) -> str:
    return f"cells_{target.value}.v"


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _testbench(own: Description) -> str:
    script = Script()
    of_cluster = isinstance(own.choice, ClusterChoice)
    if of_cluster:
        ClusterChecks(own, script).write()
    else:
        checks = AcceleratorChecks(own, script)
        checks.write()
        PaddingChecks(own, checks.numbers, script).write()
    return _filled(
        _text("testbench.v"),
        name=own.name,
        version=own.version,
        summary=own.summary.replace("%", "%%"),  # in a format of $display
        longest=script.longest,
        limit=_LIMIT,
        registers=_constants({f"REG_{one.name}": one.address for one in own.registers}, "[11:0]"),
        codes=_constants(
            {
                f"{kind}_{one.name}": int(one)
                for kind, codes in (("COMMAND", Command), ("OPERAND", Operand), ("ERROR", Error))
                for one in codes
            },
            "[7:0]",
        ),
        declarations=_declarations(own),
        connections=",\n".join(f"    .{port.name}({port.name})" for port in own.ports),
        bus=_text("axi4.v" if own.bus is Bus.AXI4 else "axi4_lite.v"),
        random=_filled(_text("random.v"), seed=SEED) if own.random else "",
        tasks=_text("cluster.v" if of_cluster else "accelerator.v"),
        checks=script.text,
    )


def _constants(values: Mapping[str, int], shape: str) -> str:
    width = int(re.findall(r"\d+", shape)[0]) + 1
    return "\n".join(
        f"  localparam {shape} {name} = {width}'h{value:x};" for name, value in values.items()
    )


def _declarations(own: Description) -> str:
    lines = []
    for port in own.ports:
        shape = f"[{port.width - 1}:0] " if port.width > 1 else ""
        if port.output or port.name.startswith(_DRIVEN):
            lines.append(f"  wire {shape}{port.name};")
        else:
            lines.append(f"  reg {shape}{port.name} = {_PRESET.get(port.name, '0')};")
    return "\n".join(lines)
