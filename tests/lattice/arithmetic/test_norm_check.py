"""Bounds of a signature in the Amaranth simulator."""

import pytest
from amaranth.sim import Simulator

from coprime.lattice.arithmetic.norm_check import BOUNDS, NormBound, NormCheck
from coprime.model.lattice.large_arithmetic import Q
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.rounding import exceeds


@pytest.mark.parametrize("number", range(3), ids=lambda k: ML_DSA_SETS[k].name)
def test_coefficients_are_refused_from_the_bound_on(number):
    dut = NormCheck()
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)

    async def bench(context):
        context.set(dut.parameter_set, number)
        for bound in NormBound:
            context.set(dut.bound, bound)
            limit = BOUNDS[bound][number]
            edges = [limit - 2, limit - 1, limit, limit + 1, 2 * limit, (Q - 1) // 2, 0, 1]
            for x in [sign * edge for edge in edges for sign in (1, -1)]:
                context.set(dut.clear, 1)
                await context.tick()
                context.set(dut.clear, 0)
                context.set(dut.x, x)
                context.set(dut.check, 1)
                await context.tick()
                context.set(dut.check, 0)
                context.set(dut.x, 0)
                await context.tick()
                assert context.get(dut.exceeds) == exceeds([x], limit), (bound, x)
                await context.tick()
                assert context.get(dut.exceeds) == exceeds([x], limit), "it is remembered"

    simulator.add_testbench(bench)
    simulator.run()


def test_a_coefficient_that_is_not_checked_changes_nothing():
    dut = NormCheck()
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)

    async def bench(context):
        context.set(dut.x, (Q - 1) // 2)
        for _ in range(4):
            await context.tick()
        assert not context.get(dut.exceeds)

    simulator.add_testbench(bench)
    simulator.run()
