"""What compact becomes on a device: its area, and the mapped netlist at work."""

import random

import pytest

from coprime.catalog import family_named
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import SimulatedDevice
from coprime.explore.measure import measure_area
from coprime.flow.package import accelerator_verilog
from coprime.flow.xc7 import map_xc7
from coprime.rsa.keys import generate
from tests.netlists import without_initial_contents, xc7_library


@pytest.fixture(scope="module")
def choice():
    return family_named("compact").choose({})


def test_xc7_cells_of_the_engine(choice):
    area = measure_area(choice, Target.XC7)
    assert (area.dsp, area.bram) == (1, 1)


def test_ecp5_cells_of_the_engine(choice):
    area = measure_area(choice, Target.ECP5)
    assert (area.dsp, area.bram) == (1, 2)


def test_xc7_netlist_decrypts(choice):
    """The whole accelerator in AMD's cells, as Yosys models them: same results, same cycles."""
    mapped = map_xc7(accelerator_verilog(choice, Target.XC7), choice.module_name)
    assert mapped.dsp == 1
    netlist = without_initial_contents(mapped.netlist) + xc7_library()
    generator = random.Random(7)
    with SimulatedDevice(netlist, choice.module_name) as device:
        accelerator = Accelerator(device, predict=choice.design.predict)
        m = generator.getrandbits(1023) | 1
        x, y = generator.randrange(m), generator.randrange(m)
        product = accelerator.modmul(x, y, m)
        assert product.value == x * y % m
        assert product.cycles == product.predicted_cycles
        for length in (64, 100, 256):
            key = generate(length, seed=length)
            x = generator.randrange(key.n)
            accelerator.load_private(key)
            result = accelerator.private(x)
            assert result.value == pow(x, key.d, key.n)
            assert result.cycles == result.predicted_cycles
