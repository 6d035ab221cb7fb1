"""The wrappers of docs/integration.md work."""

import re
import shutil
from pathlib import Path

import pytest

from coprime.bus import registers
from coprime.catalog import family_named
from coprime.device.accelerator import Accelerator
from coprime.device.base import BusError
from coprime.device.simulated import SimulatedDevice
from coprime.flow.parts import accelerator_verilog
from coprime.flow.tools import run_tool
from coprime.rsa import keys

ROOT = Path(__file__).parents[2]


@pytest.mark.clients
def test_neorv32(tmp_path):
    """The driver over an XBUS: GHDL makes Verilog of the wrapper, Verilator simulates all."""
    ghdl = shutil.which("ghdl")
    if ghdl is None:
        pytest.skip("there is no ghdl (on Debian: apt-get install ghdl)")
    shutil.copy(ROOT / "docs" / "coprime_xbus.vhd", tmp_path / "wrapper.vhd")
    run_tool("GHDL", [ghdl, "-a", "--std=08", "wrapper.vhd"], folder=tmp_path)
    made = run_tool(
        "GHDL",
        [ghdl, "--synth", "--std=08", "--out=verilog", "coprime_xbus"],
        folder=tmp_path,
    )
    # Of the component it makes a module without content.
    (module,) = re.findall(r"^module coprime_xbus\b.*?^endmodule", made, re.M | re.S)
    choice = family_named("fdfm").choose({"max_bits": "128"})
    master = (ROOT / "tests" / "models" / "axi_to_xbus.v").read_text("utf-8")
    verilog = "\n".join([accelerator_verilog(choice), module, master])
    with SimulatedDevice(verilog, "axi_to_xbus") as device:
        accelerator = Accelerator(device, predict=choice.design.predict)
        key = keys.generate(128, seed=1)
        accelerator.load_private(key)
        result = accelerator.private(pow(5, 65537, key.n))
        assert (result.value, result.cycles) == (5, result.predicted_cycles)
        for access in (
            lambda: device.read32(registers.KEY_DATA.address),
            lambda: device.write32(registers.CYCLES.address, 1),
        ):
            with pytest.raises(BusError):
                access()
        assert accelerator.modexp(3, 65537, key.n).value == pow(3, 65537, key.n)
