"""AXI4-Lite against a master that is not ours: cocotbext-axi, on Verilator."""

from coprime.bus.axi_accelerator import AxiAccelerator


def test_with_cocotb(mock_engine, simulate_bench):
    assert simulate_bench(AxiAccelerator(mock_engine(17)), "axi_bench") == (15, 0)
