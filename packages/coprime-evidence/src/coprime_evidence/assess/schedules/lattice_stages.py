"""Reduction and LaneSums of `lattice`: the netlist, for every operand there is.

The netlist is an and-inverter graph, evaluated for 2^20 operands at a time. The reference is
Python's `%`.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from amaranth.lib import wiring
from numpy.typing import NDArray

from coprime.flow.tools import run_yosys
from coprime.flow.verilog import to_verilog
from coprime.lattice.arithmetic.reduction import Reduction
from coprime.lattice.arithmetic.sums import LaneSums
from coprime.model.lattice.arithmetic import LANE_BITS, PRODUCT_BITS, REDUCED, K, Q
from coprime_evidence.assess.aiger import Graph

from .symbols import ProofError

_TOGETHER = 20
"""Bits of the operands that are evaluated at once."""
BATCHES = range(1 << PRODUCT_BITS - _TOGETHER)
_TOP = "coprime_one"
_YOSYS = (
    *("read_verilog one.v", f"hierarchy -top {_TOP}"),
    *("proc", "flatten", "opt", "techmap", "opt", "dffunmap", "simplemap", "aigmap", "opt_clean"),
    "write_aiger -ascii -symbols -zinit one.aag",
)


class EveryOperand:
    """A pipeline of two stages, whose operands have 26 bits in all.

    Parameters
    ----------
    component : its inputs that are not operands are 0
    operands : bits of each
    """

    def __init__(self, component: wiring.Component, operands: Mapping[str, int]) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            (folder / "one.v").write_text(to_verilog(component, _TOP), encoding="utf-8")
            run_yosys(list(_YOSYS), folder)
            self.graph = Graph.read(folder / "one.aag")
        self.step = self.graph.compiled()
        bits = [f"{name}[{k}]" for name, width in operands.items() for k in range(width)]
        assert len(bits) == PRODUCT_BITS
        self.places = [self.graph.names[bit] - 1 for bit in bits]
        every = np.arange(1 << _TOGETHER, dtype=np.uint32)
        self.patterns = [
            int.from_bytes(
                np.packbits((every >> k & 1).astype(np.uint8), bitorder="little"), "little"
            )
            for k in range(_TOGETHER)
        ]

    def batch(self, number: int) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]]]:
        """The operands of a batch as numbers of 26 bits, and the signed outputs by name."""
        ones = (1 << (1 << _TOGETHER)) - 1
        inputs = [0] * self.graph.inputs
        for k, place in enumerate(self.places):
            inputs[place] = (
                self.patterns[k] if k < _TOGETHER else ones * (number >> k - _TOGETHER & 1)
            )
        state = [0] * len(self.graph.nexts)
        for _ in range(2):
            state, _ = self.step(state, inputs, ones)
        _, outputs = self.step(state, inputs, ones)
        found: dict[str, NDArray[np.int64]] = {}
        for name, value in zip(self.graph.outputs, outputs, strict=True):
            base, _, index = name.partition("[")
            bits = np.frombuffer(value.to_bytes(1 << _TOGETHER - 3, "little"), np.uint8)
            column = np.unpackbits(bits, bitorder="little").astype(np.int64)
            place = int(index[:-1])
            weight = -(1 << place) if place == LANE_BITS - 1 else 1 << place
            found[base] = found.get(base, np.zeros_like(column)) + weight * column
        operands = np.arange(1 << _TOGETHER, dtype=np.int64) | number << _TOGETHER
        return operands, found


def check_reduction(batches: Iterable[int] = BATCHES) -> None:
    """ProofError unless each t becomes 169 t modulo q, of at most REDUCED, in these batches."""
    every = EveryOperand(Reduction(), {"t": PRODUCT_BITS})
    for number in batches:
        operands, found = every.batch(number)
        t, reduced = _signed(operands, PRODUCT_BITS), found["reduced"]
        if np.any((reduced - K * K * t) % Q) or np.abs(reduced).max() > REDUCED:
            raise ProofError("Reduction: a number is not 169 t modulo q, or too large")


def check_sums() -> None:
    """ProofError unless sums and differences of all pairs in [-q, q) are right modulo q, and in
    [-q, q)."""
    tried = 0
    for x, y, found in _pairs():
        inside = (x >= -Q) & (x < Q) & (y >= -Q) & (y < Q)
        tried += int(np.count_nonzero(inside))
        for name, value in (("sum", x + y), ("difference", x - y)):
            wrong = ((found[name] - value) % Q != 0) | (found[name] < -Q) | (found[name] >= Q)
            if np.any(wrong & inside):
                raise ProofError(f"LaneSums: a {name} is wrong")
    assert tried == (2 * Q) ** 2


def _pairs() -> Iterator[
    tuple[NDArray[np.int64], NDArray[np.int64], Mapping[str, NDArray[np.int64]]]
]:
    every = EveryOperand(LaneSums(), {"x": LANE_BITS, "before": LANE_BITS})
    for number in BATCHES:
        operands, found = every.batch(number)
        x = _signed(operands & (1 << LANE_BITS) - 1, LANE_BITS)
        yield x, _signed(operands >> LANE_BITS, LANE_BITS), found


def _signed(value: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    return value - ((value >> bits - 1 & 1) << bits)
