import itertools

import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.counters import COUNTER_5_3, FULL_ADDER, HALF_ADDER
from coprime.flow.unit_gate import estimate
from tests.combinational import Bench

COUNTERS = [HALF_ADDER, FULL_ADDER, COUNTER_5_3]


class Row(wiring.Component):
    """Two counters beside each other: the first bits of all inputs, and their second bits."""

    def __init__(self, counter, places=2):
        self.counter, self.places = counter, places
        super().__init__(
            {f"i{k}": In(places) for k in range(counter.inputs)}
            | {f"o{k}": Out(places) for k in range(counter.outputs)}
        )

    def elaborate(self, platform):
        m = Module()
        inputs = [getattr(self, f"i{k}") for k in range(self.counter.inputs)]
        outputs = [getattr(self, f"o{k}") for k in range(self.counter.outputs)]
        m.d.comb += Cat(outputs).eq(Cat(self.counter.build(*inputs)))
        return m


def test_every_count_in_each_place():
    vectors = range(1 << 2 * 5)
    for counter, results in zip(
        COUNTERS, Bench(list(map(Row, COUNTERS))).run(vectors), strict=True
    ):
        for vector, result in zip(vectors, results, strict=True):
            for place in range(2):
                ones = sum(vector >> (2 * k + place) & 1 for k in range(counter.inputs))
                count = sum((result >> (2 * k + place) & 1) << k for k in range(counter.outputs))
                assert count == ones


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
def test_unit_gates(counter):
    """The figures that trees are chosen by are what abc finds, or it finds something smaller."""
    gates = estimate(Row(counter, 1), "coprime_counter")
    assert gates.area <= counter.area
    assert gates.delay <= max(counter.delays)
    if counter is not COUNTER_5_3:
        assert (gates.area, gates.delay) == (counter.area, max(counter.delays))


def test_kinds():
    for fewer, more in itertools.pairwise(COUNTERS):
        assert fewer.inputs < more.inputs < 1 << more.outputs
