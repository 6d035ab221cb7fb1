"""A stamped cluster at work, in the cells that it has been composed of."""

import pytest

from coprime.cells.target import Target
from coprime.device.simulated import SimulatedDevice
from coprime.flow.parts import measured_verilog
from coprime.flow.stamping.stamp import stamp_design
from tests.cluster.bench import Bench, cluster_choice
from tests.flow.stamping.packed import models, packed_verilog


@pytest.mark.route
def test_two_stamped_nodes_decrypt():
    """Each in its rectangle, a copy of the same one, with another number folded into its LUTs."""
    choice = cluster_choice("fdfm", 2, max_bits=64)
    verilog, top, repeated = measured_verilog(choice, "", Target.ECP5)
    stamped = stamp_design(verilog, top, repeated=repeated, seeds=(1,), pins="")
    assert list(stamped.rectangles.values()) == [2]
    netlist = packed_verilog(stamped.netlist, "stamped") + models()
    with SimulatedDevice(netlist, "stamped", cycle_limit=1_000_000) as device:
        bench = Bench(choice, device)
        works = [bench.private(seed) for seed in (1, 2)]
        assert works[0].result != works[1].result
        for core, work in enumerate(works):
            bench.start(core, work)
        taken = [bench.take() for _ in works]
    assert sorted(taken) == [(core, *work.ended) for core, work in enumerate(works)]
