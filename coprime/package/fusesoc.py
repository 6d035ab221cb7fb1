"""The design as a FuseSoC core."""

import json
from collections.abc import Mapping

from coprime.cells.target import Target

from .description import Description
from .testbench.folder import VERILATOR_OPTIONS, simulation_sources, top_module

__all__ = ["files"]

# What Yosys writes on purpose, and the language defines: operands of different widths, cases that
# leave a register as it is, wires of no bits, for which Verilog has no other way, and comparisons
# that are decided by the parameters.
_LINT_OPTIONS = ("-Wno-WIDTH", "-Wno-CASEINCOMPLETE", "-Wno-ASCRANGE", "-Wno-UNSIGNED")
_VENDOR_CELLS = "-Wno-MODMISSING"  # which Verilator has no models of

_CORE = """CAPI=2:
name: coprime:coprocessors:{name}:{version}
description: {summary}

filesets:
  rtl:
    files: [{verilog}]
    file_type: verilogSource
  simulation:
    files: [{simulation}]
    file_type: verilogSource
  software:
    files:
{headers}

targets:
  default: &default
    filesets: [rtl, software]
    toplevel: {name}
  lint:
    <<: *default
    description: Check the Verilog with Verilator
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [{options}]
  sim:
    filesets: [rtl, simulation]
    toplevel: {testbench}
    description: Simulate with the testbench, in Icarus Verilog or with --tool verilator
    flow: sim
    flow_options:
      tool: icarus
      iverilog_options: [-g2005]
      mode: binary
      verilator_options: [{simulator}]
"""


def files(own: Description) -> Mapping[str, str]:
    """The design as a FuseSoC core file (CAPI2), with targets that lint and simulate it."""
    vendor = () if own.target is Target.GENERIC else (_VENDOR_CELLS,)
    headers = (f"      - {name}: {{is_include_file: true}}\n" for name in own.headers)
    text = _CORE.format(
        name=own.name,
        version=own.version,
        summary=json.dumps(own.summary),
        verilog=own.verilog,
        headers="".join(headers).rstrip("\n") + "\n    file_type: user",
        options=", ".join((*_LINT_OPTIONS, *vendor)),
        simulation=", ".join(simulation_sources(own)),
        testbench=top_module(own),
        simulator=", ".join(VERILATOR_OPTIONS),
    )
    return {f"{own.name}.core": text}
