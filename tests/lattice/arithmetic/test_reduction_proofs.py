"""Reduction, and sums of butterflies: the hardware's netlist for every operand there is.

Source of the method: the netlist is an and-inverter graph, evaluated for 2^20 operands at a time.
The reference is Python's `%`.
"""

import numpy as np
import pytest
from coprime_evidence.assess.aiger import Graph

from coprime.flow.tools import run_yosys
from coprime.flow.verilog import to_verilog
from coprime.lattice.arithmetic import reduction
from coprime.lattice.arithmetic.reduction import Reduction
from coprime.lattice.arithmetic.sums import LaneSums
from coprime.lattice.arithmetic.table import PACK_BASE, table_words
from coprime.model.lattice.arithmetic import (
    LANE_BITS,
    PRODUCT_BITS,
    REDUCED,
    SCALE,
    K,
    Q,
)

TOGETHER = 20
"""Bits of the operands that are evaluated at once."""
YOSYS = (
    *("proc", "flatten", "opt", "techmap", "opt", "dffunmap", "simplemap", "aigmap", "opt_clean"),
    "write_aiger -ascii -symbols -zinit one.aag",
)


class EveryOperand:
    """A pipeline of two stages, whose operands have 26 bits in all."""

    def __init__(self, component, operands, folder):
        (folder / "one.v").write_text(to_verilog(component, "coprime_one"), encoding="utf-8")
        run_yosys(["read_verilog one.v", "hierarchy -top coprime_one", *YOSYS], folder)
        self.graph = Graph.read(folder / "one.aag")
        self.step = self.graph.compiled()
        bits = [f"{name}[{k}]" for name, width in operands.items() for k in range(width)]
        assert len(bits) == PRODUCT_BITS
        self.places = [self.graph.names[bit] - 1 for bit in bits]
        every = np.arange(1 << TOGETHER, dtype=np.uint32)
        self.patterns = [
            int.from_bytes(
                np.packbits((every >> k & 1).astype(np.uint8), bitorder="little"), "little"
            )
            for k in range(TOGETHER)
        ]

    def batch(self, number):
        """The operands of a batch as numbers of 26 bits, and the signed outputs by name."""
        ones = (1 << (1 << TOGETHER)) - 1
        inputs = [0] * self.graph.inputs
        for k, place in enumerate(self.places):
            inputs[place] = (
                self.patterns[k] if k < TOGETHER else ones * (number >> k - TOGETHER & 1)
            )
        state = [0] * len(self.graph.nexts)
        for _ in range(2):
            state, _ = self.step(state, inputs, ones)
        _, outputs = self.step(state, inputs, ones)
        found = {}
        for name, value in zip(self.graph.outputs, outputs, strict=True):
            base, _, place = name.partition("[")
            bits = np.frombuffer(value.to_bytes(1 << TOGETHER - 3, "little"), np.uint8)
            column = np.unpackbits(bits, bitorder="little").astype(np.int64)
            place = int(place[:-1])
            weight = -(1 << place) if place == LANE_BITS - 1 else 1 << place
            found[base] = found.get(base, 0) + weight * column
        operands = np.arange(1 << TOGETHER, dtype=np.int64) | number << TOGETHER
        return operands, found


BATCHES = range(1 << PRODUCT_BITS - TOGETHER)


def signed(value, bits):
    return value - ((value >> bits - 1 & 1) << bits)


def is_reduced(every, batches):
    """Whether each t becomes 169 t modulo q, of at most REDUCED, in these batches."""
    for number in batches:
        operands, found = every.batch(number)
        t, reduced = signed(operands, PRODUCT_BITS), found["reduced"]
        if np.any((reduced - 169 * t) % Q) or np.abs(reduced).max() > REDUCED:
            return False
    return True


@pytest.mark.proof
def test_reduction_of_every_number(tmp_path):
    """All 2^26."""
    every = EveryOperand(Reduction(), {"t": PRODUCT_BITS}, tmp_path)
    assert is_reduced(every, BATCHES)


def test_reduction_of_some_numbers_and_a_wrong_one(tmp_path, monkeypatch):
    """Of the smallest and the largest; a low part's sign that is left out is found."""
    some = (BATCHES[0], BATCHES[len(BATCHES) // 2])
    assert is_reduced(EveryOperand(Reduction(), {"t": PRODUCT_BITS}, tmp_path), some)
    unsigned = [-K * (half << 4) for half in range(16)]
    monkeypatch.setattr(reduction, "_UPPER", unsigned)
    assert not is_reduced(EveryOperand(Reduction(), {"t": PRODUCT_BITS}, tmp_path), some)


@pytest.mark.proof
def test_sums_of_every_two_numbers(tmp_path):
    """Sums and differences of all pairs in [-q, q) are right modulo q, and in [-q, q)."""
    every = EveryOperand(LaneSums(), {"x": LANE_BITS, "before": LANE_BITS}, tmp_path)
    tried = 0
    for number in BATCHES:
        operands, found = every.batch(number)
        x = signed(operands & (1 << LANE_BITS) - 1, LANE_BITS)
        y = signed(operands >> LANE_BITS, LANE_BITS)
        inside = (x >= -Q) & (x < Q) & (y >= -Q) & (y < Q)
        tried += np.count_nonzero(inside)
        for name, value in (("sum", x + y), ("difference", x - y)):
            wrong = ((found[name] - value) % Q != 0) | (found[name] < -Q) | (found[name] >= Q)
            assert not np.any(wrong & inside), name
    assert tried == (2 * Q) ** 2


def test_products_are_in_the_range_of_the_reduction():
    """Those of numbers in [-q, q] with constants of the table that are reduced, and sums of two
    products of such numbers. What is left of them is in the range of sums: so butterflies are right
    for all numbers.
    """
    constants = np.array(table_words()[:PACK_BASE], dtype=np.int64)
    assert np.count_nonzero(constants) > 300
    assert np.abs(constants).max() * Q < 1 << PRODUCT_BITS - 1
    assert 2 * Q * Q < 1 << PRODUCT_BITS - 1
    assert REDUCED < Q
    assert 169 * SCALE % Q == 1
