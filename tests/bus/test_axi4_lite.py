"""AXI4-Lite against a master that is not ours: cocotbext-axi, on Verilator."""

from coprime.bus.accelerator import Accelerator


def test_with_cocotb(mock_engine, simulate_bench):
    assert simulate_bench(Accelerator(mock_engine(17)), "axi_bench") == (15, 0)
