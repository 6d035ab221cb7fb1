"""High and low parts in the Amaranth simulator: all numbers near a change, and random ones."""

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from coprime.cells.dsp_slice import Accumulate, DspSlice
from coprime.lattice.arithmetic.high_low import HIGH_BITS, HighLow, hinted, power_of_two_parts
from coprime.model.lattice import rounding
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, Q


class Rig(wiring.Component):
    """The splitter with a slice, a hint beside its parts, and the parts of algorithm 35."""

    def __init__(self):
        super().__init__(
            {
                "few_parts": In(1),
                "r": In(23),
                "hint": In(1),
                "high": Out(HIGH_BITS),
                "low": Out(20),
                "used": Out(HIGH_BITS),
                "t1": Out(10),
                "t0": Out(13),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.parts = parts = HighLow()
        m.submodules.slice = slice_ = DspSlice()
        t1, t0 = power_of_two_parts(self.r)
        m.d.comb += [
            parts.few_parts.eq(self.few_parts),
            parts.r.eq(self.r),
            slice_.a.eq(parts.factor),
            slice_.b.eq(parts.constant),
            slice_.product.eq(1),
            slice_.accumulate.eq(Accumulate.LOAD.value),
            parts.product.eq(slice_.p),
            self.high.eq(parts.high),
            self.low.eq(parts.low),
            self.used.eq(hinted(parts.high, parts.low, self.hint, self.few_parts)),
            self.t1.eq(t1),
            self.t0.eq(t0),
        ]
        return m


def numbers(p, generator):
    """Those at whose successor the high part or the sign of the low part changes, and others."""
    m = 2 * p.gamma2
    near = [
        j * m + base + d
        for j in range(p.parts // 2 + 1)
        for base in (0, p.gamma2)
        for d in (-1, 0, 1, 2)
    ]
    found = [r for r in near if 0 <= r < Q] + [Q - 2, Q - 1]
    return found + [generator.randrange(Q) for _ in range(200)]


@pytest.mark.parametrize("p", ML_DSA_SETS[:2], ids=lambda p: f"{p.parts}-parts")
def test_parts_and_hints_are_the_models(p):
    dut, generator = Rig(), random.Random(p.parts)
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    tried = numbers(p, generator)

    async def bench(context):
        context.set(dut.few_parts, p.parts == 32)
        for cycle in range(len(tried) + HighLow.LATENCY):
            if cycle < len(tried):
                context.set(dut.r, tried[cycle])
                r1, r0 = rounding.power2round(tried[cycle])
                assert (context.get(dut.t1), context.get(dut.t0)) == (r1, 4096 - r0)
            if cycle >= HighLow.LATENCY:
                r = tried[cycle - HighLow.LATENCY]
                high, low = rounding.decompose(p, r)
                got = context.get(dut.low)
                assert (context.get(dut.high), got - (got >> 19 << 20)) == (high, low), r
                for hint in (0, 1):
                    context.set(dut.hint, hint)
                    assert context.get(dut.used) == rounding.use_hint(p, hint, r)
            await context.tick()

    simulator.add_testbench(bench)
    simulator.run()
