"""CURVE25519-VERILOG: an engine for X25519 with 15 multipliers.

github.com/andres-erbsen/curve25519-verilog, README.md.
"""

from .curve_sources import curve_cycles
from .published import Measured, Source, read_publication

_PRINTED = read_publication("curve25519_verilog")


def _engine(column: str) -> tuple[Source, ...]:
    return (
        Measured(
            column=column,
            family="compact",
            bits=255,
            operation="X_MULTIPLY",
            parameters={"curves": "montgomery"},
            target="xc7",
        ),
    )


_AREA = {"Four-input LUTs": "lut", "Flip-flops": "ff", "MULT18X18s": "dsp"}
TABLES = (
    _PRINTED.table(
        "README", {"As of commit d0a51a88b0": {"Cycles": curve_cycles("X_MULTIPLY", 255)}}
    ),
    _PRINTED.table(
        "doc/femul.ise-map-report.txt",
        {"femul": {name: _engine(column) for name, column in _AREA.items()}},
    ),
)
