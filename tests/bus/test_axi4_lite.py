"""AXI4-Lite against a master that is not ours: cocotbext-axi, on Verilator."""

import pytest

from coprime.bus.axi_accelerator import AxiAccelerator

# Whole commands without many stalls, and with resets in between, are for the long sweep.
QUICK = r"^(?!.*(command/often=0\.[03]|address/often=0\.0|reset_in_the_middle))"


@pytest.mark.clients
@pytest.mark.parametrize(
    ("chosen", "count"), [(QUICK, 11), pytest.param(None, 15, marks=pytest.mark.clients)]
)
def test_with_cocotb(mock_engine, simulate_bench, chosen, count):
    found = simulate_bench(AxiAccelerator(mock_engine(17)), "axi_bench", chosen=chosen)
    assert found == (count, 0)
