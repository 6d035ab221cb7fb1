"""AXI4 against a master that is not ours: cocotbext-axi, on Verilator."""

from coprime.bus.accelerator import Accelerator, Bus
from coprime.bus.axi4 import AXI4


def test_with_cocotb(mock_engine, simulate_bench):
    accelerator = Accelerator(mock_engine(40, max_length=8192), Bus.AXI4)
    assert simulate_bench(accelerator, "axi4_bench") == (17, 0)


def test_id_width(rejects):
    rejects(lambda: AXI4("4"), TypeError, "id_width must be an integer, not '4'")
    rejects(lambda: AXI4(0), ValueError, "id_width must be 1 to 32, not 0")
    rejects(lambda: AXI4(33), ValueError, "id_width must be 1 to 32, not 33")
    assert len(AXI4(12).axi.rid) == 12
