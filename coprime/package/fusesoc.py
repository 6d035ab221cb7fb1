"""The design as a FuseSoC core."""

import json
from collections.abc import Mapping

from coprime.cells.target import Target

from .description import Description
from .templates import filled
from .testbench.folder import VERILATOR_OPTIONS, simulation_sources, top_module

# What Yosys writes on purpose, and the language defines: operands of different widths, cases that
# leave a register as it is, wires of no bits, for which Verilog has no other way, and comparisons
# that are decided by the parameters.
_LINT_OPTIONS = ("-Wno-WIDTH", "-Wno-CASEINCOMPLETE", "-Wno-ASCRANGE", "-Wno-UNSIGNED")
_VENDOR_CELLS = "-Wno-MODMISSING"  # which Verilator has no models of


def files(own: Description) -> Mapping[str, str]:
    """The design as a FuseSoC core file (CAPI2), with targets that lint and simulate it."""
    vendor = () if own.target is Target.GENERIC else (_VENDOR_CELLS,)
    text = filled(
        "fusesoc.core.j2",
        own=own,
        summary=json.dumps(own.summary),
        lint=(*_LINT_OPTIONS, *vendor),
        simulation=simulation_sources(own),
        testbench=top_module(own),
        verilator=VERILATOR_OPTIONS,
    )
    return {f"{own.name}.core": text}
