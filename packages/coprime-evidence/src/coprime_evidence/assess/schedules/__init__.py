"""Proofs that a multiplier's schedule is its recurrence, for all operands (docs/schedules.md).

- `polynomials`: integers as polynomials in unknown words
- `symbols`: what a cell makes of them
- `cells`, `netlist`: the exported Verilog, executed cycle by cycle
- `execution`: registers, and memory
- `theorem`: what is proved, case by case
- a file for each family: its recurrence, and its memory
- `lattice`: transforms and products modulo q; `lattice_ml_kem`, `lattice_ml_dsa`: what is proved of
  each scheme; `lattice_steps`: how; `moved_words`, `moved_memory` and `moved_numbers`: the netlist
  that moves numbers; `lattice_stages`: its modules that are examined for every operand
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
