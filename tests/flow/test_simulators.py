"""Every simulator runs the exported text: Verilator, and Icarus as Verilog and SystemVerilog.

A driver works on each family in Verilator, which records what it writes and reads. A bus master in
plain Verilog then does the same in Icarus, and must read the same.
"""

import re
import shutil

import pytest

from coprime.catalog import FAMILIES, family_named
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import SimulatedDevice
from coprime.flow.parts import accelerator_verilog
from coprime.flow.tools import run_tool
from coprime.rsa import keys
from tests.simulators import bench

# The smallest key that a family takes, and what else keeps it short.
SETTINGS = {
    "compact": {"max_bits": "64"},
    "compression": {"modulus": "2^16+1"},
    "direct": {"modulus": "2^16+1"},
}
MISSING = "there is no Icarus Verilog (on Debian: apt-get install iverilog)"
SMALL = {"max_bits": "64"}


class Recorder:
    """Passes accesses on to a device, and keeps them."""

    def __init__(self, device):
        self.device = device
        self.accesses = []

    def write32(self, address, value):
        self.device.write32(address, value)
        self.accesses.append(("write", address, value))

    def read32(self, address):
        value = self.device.read32(address)
        self.accesses.append(("read", address, value))
        return value

    def wait_interrupt(self, timeout=None):
        self.device.wait_interrupt(timeout)
        self.accesses.append(("wait", 0, 0))


def record(family):
    """An operation in Verilator, checked: the text, the top module, the accesses."""
    choice = family.choose(SETTINGS.get(family.name, SMALL))
    verilog = accelerator_verilog(choice)
    with SimulatedDevice(verilog, choice.module_name) as device:
        recorder = Recorder(device)
        accelerator = Accelerator(recorder)
        if family.name in ("compression", "direct"):
            modulus = 2**16 + 1
            x, e = modulus - 2, 65535
            assert accelerator.modexp(x, e, modulus).value == pow(x, e, modulus)
        else:
            key = keys.generate(64, seed=1)
            x = key.n - 2
            accelerator.load_private(key)
            assert accelerator.private(x).value == pow(x, key.d, key.n)
    return verilog, choice.module_name, recorder.accesses


@pytest.mark.skipif(shutil.which("iverilog") is None, reason=MISSING)
@pytest.mark.parametrize("family", FAMILIES)
def test_icarus_runs_what_verilator_runs(tmp_path, family):
    verilog, top, accesses = record(family_named(family))
    assert len({kind for kind, _, _ in accesses}) == 3
    (tmp_path / "design.v").write_text(verilog + bench(verilog, top, accesses))
    for generation in ("2005", "2012"):
        program = str(tmp_path / generation)
        command = ["iverilog", f"-g{generation}", "-s", "bench", "-o", program, "design.v"]
        run_tool("Icarus Verilog", command, folder=tmp_path)
        log = run_tool("Icarus Verilog", ["vvp", "-n", program])
        assert re.findall(r"WRONG.*|TIMEOUT|PASSED", log) == ["PASSED"], generation
