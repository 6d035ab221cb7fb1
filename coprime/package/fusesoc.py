"""The design as a FuseSoC core."""

import json
from collections.abc import Mapping

from coprime.cells.target import Target

from .description import Description

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
"""


def files(own: Description) -> Mapping[str, str]:
    """The design as a FuseSoC core file (CAPI2), with a target that lints it."""
    vendor = () if own.target is Target.GENERIC else (_VENDOR_CELLS,)
    headers = (f"      - {name}: {{is_include_file: true}}\n" for name in own.headers)
    text = _CORE.format(
        name=own.name,
        version=own.version,
        summary=json.dumps(own.summary),
        verilog=own.verilog,
        headers="".join(headers).rstrip("\n") + "\n    file_type: user",
        options=", ".join((*_LINT_OPTIONS, *vendor)),
    )
    return {f"{own.name}.core": text}
