"""Modules of `lattice` alone: the netlist, for every operand there is, or every state.

The netlist is an and-inverter graph, evaluated for 2^20 operands at a time. The reference is
Python's `%`.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from amaranth.lib import wiring
from numpy.typing import NDArray

from coprime.flow.tools import run_yosys
from coprime.flow.verilog import to_verilog
from coprime.lattice.arithmetic.large_slots import LargeSlots
from coprime.lattice.arithmetic.large_steps import PAIR_SHIFT, Part
from coprime.lattice.arithmetic.parallel_large_slots import ParallelLargeSlots
from coprime.lattice.arithmetic.reduction import Reduction
from coprime.lattice.arithmetic.shared_part import SharedPart
from coprime.lattice.arithmetic.sums import LaneSums
from coprime.model.lattice.arithmetic import LANE_BITS, PRODUCT_BITS, REDUCED, K, Q
from coprime.model.lattice.large_arithmetic import NUMBER_BITS
from coprime.model.lattice.large_arithmetic import N as LARGE_N
from coprime.model.lattice.ml_dsa_sets import Q as LARGE_Q
from coprime_evidence.assess.aiger import Graph

from .lattice_steps import DRAINS, slot_counter
from .symbols import ProofError

_TOGETHER = 20
"""Bits of the operands that are evaluated at once."""
BATCHES = range(1 << PRODUCT_BITS - _TOGETHER)
_TOP = "coprime_one"
_YOSYS = (
    *("read_verilog one.v", f"hierarchy -top {_TOP}"),
    *("proc", "flatten", "opt", "techmap", "opt", "dffunmap", "simplemap"),
    *("setundef -zero", "aigmap", "opt_clean", "write_aiger -ascii -symbols -zinit one.aag"),
)


class EveryOperand:
    """A pipeline of at most two stages, whose operands have 26 bits in all.

    Parameters
    ----------
    component : its inputs that are not operands are 0
    operands : bits of each
    """

    def __init__(self, component: wiring.Component, operands: Mapping[str, int]) -> None:
        self.graph = _graph(component)
        self.step = self.graph.compiled()
        bits = [f"{name}[{k}]" for name, width in operands.items() for k in range(width)]
        assert len(bits) == PRODUCT_BITS
        self.places = [self.graph.names[bit] - 1 for bit in bits]
        self.patterns = _patterns(_TOGETHER)

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
        widths = Counter(name.partition("[")[0] for name in self.graph.outputs)
        for name, value in zip(self.graph.outputs, outputs, strict=True):
            base, _, index = name.partition("[")
            bits = np.frombuffer(value.to_bytes(1 << _TOGETHER - 3, "little"), np.uint8)
            column = np.unpackbits(bits, bitorder="little").astype(np.int64)
            place = int(index[:-1])
            weight = -(1 << place) if place == widths[base] - 1 else 1 << place
            found[base] = found.get(base, np.zeros_like(column)) + weight * column
        operands = np.arange(1 << _TOGETHER, dtype=np.int64) | number << _TOGETHER
        return operands, found


def _graph(component: wiring.Component) -> Graph:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "one.v").write_text(to_verilog(component, _TOP), encoding="utf-8")
        run_yosys(list(_YOSYS), folder)
        return Graph.read(folder / "one.aag")


def _patterns(bits: int) -> list[int]:
    """All numbers of so many bits at once: of each bit all its values."""
    every = np.arange(1 << bits, dtype=np.uint32)
    return [
        int.from_bytes(np.packbits((every >> k & 1).astype(np.uint8), bitorder="little"), "little")
        for k in range(bits)
    ]


def check_wiped_slots(regions: int, lanes: int = 1, memory_words: int = 0) -> None:
    """ProofError unless a wipe of so many polynomials, and words of another memory, ends after any
    step that it has met, which goes on as a TRANSFORM, and then, and DRAINS cycles before, layers
    have been counted whole, and no pair of numbers is waited for: from every state of LargeSlots,
    or ParallelLargeSlots, with a slot, or in which they have been."""
    graph = _graph(LargeSlots(regions) if lanes == 1 else ParallelLargeSlots(regions, lanes))
    first = 1 + graph.inputs
    registers = {name: place - first for name, place in graph.names.items() if place >= first}
    free = [place for name, place in registers.items() if not name.startswith("addresses.")]
    state, inputs = [0] * len(graph.nexts), [0] * graph.inputs
    for place, pattern in zip(free, _patterns(len(free)), strict=True):
        state[place] = pattern
    # The lowest bit of the slots' number has its first name.
    name, layer_bits = slot_counter(lanes)
    lowest = ("is_upper", *(f"{name}[{k}]" for k in range(1, layer_bits)))
    counted = [registers[bit] for bit in lowest]
    waited = [place for name, place in registers.items() if name.startswith("debt[")]
    ones = (1 << (1 << len(free))) - 1
    step, met = graph.compiled(), 0
    for cycle in range(max(regions * LARGE_N // lanes, memory_words) - DRAINS):
        before = _any_of(state[k] for k in counted)
        state, found = step(state, inputs, ones)
        outputs = dict(zip(graph.outputs, found, strict=True))
        if cycle == 0:
            met = outputs["valid"] | ~before & ones
        if not outputs["busy"] & met:
            break
    if (outputs["busy"] | _any_of(state[k] for k in (*counted, *waited))) & met:
        raise ProofError("slots: a step goes on after a wipe, or has counted other slots")


def _any_of(words: Iterable[int]) -> int:
    """Where one of them is 1."""
    found = 0
    for word in words:
        found |= word
    return found


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


def check_shared_part(batches: Iterable[int] = BATCHES) -> None:
    """ProofError unless each number comes out whole, and of all that are x + 2^9 y modulo q, in
    [-q, q), with x and y in [-255, 255], x and y come out as parts, in these batches."""
    every = EveryOperand(SharedPart(), {"number": NUMBER_BITS, "part": 2})
    half = 1 << PAIR_SHIFT - 1
    for batch in batches:
        operands, outputs = every.batch(batch)
        number, found = _signed(operands & (1 << NUMBER_BITS) - 1, NUMBER_BITS), outputs["found"]
        centred = (number + LARGE_Q // 2) % LARGE_Q - LARGE_Q // 2
        low = (centred + half) % (2 * half) - half
        high = centred - low >> PAIR_SHIFT
        shared = (np.abs(low) < half) & (np.abs(high) < half)
        shared &= (number >= -LARGE_Q) & (number < LARGE_Q)
        part = operands >> NUMBER_BITS
        for chosen, expected, counts in (
            (Part.WHOLE, number, True),
            (Part.LOW, low, shared),
            (Part.HIGH, high, shared),
        ):
            if np.any((found != expected) & counts & (part == chosen.value)):
                raise ProofError(f"SharedPart: {chosen.name} is wrong")


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
