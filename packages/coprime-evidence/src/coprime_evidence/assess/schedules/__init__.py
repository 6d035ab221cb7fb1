"""Proofs that a multiplier's schedule is its recurrence, for all operands (docs/schedules.md).

- `polynomials`: integers as polynomials in unknown words
- `symbols`: what a cell makes of them
- `cells`, `netlist`: the exported Verilog, executed cycle by cycle
- `execution`: registers, and memory
- `theorem`: what is proved, case by case
- a file for each family: its recurrence, and its memory
"""

from collections.abc import Mapping

from .compact import CompactTheorem
from .fdfm import FdfmTheorem
from .karatsuba import KaratsubaTheorem
from .ring import RingTheorem
from .theorem import Theorem

THEOREMS: Mapping[str, type[Theorem]] = {
    "fdfm": FdfmTheorem,
    "compact": CompactTheorem,
    "ring": RingTheorem,
    "karatsuba": KaratsubaTheorem,
}
"""By the family's name."""
