"""An accelerator in a target's cells, as Yosys models them, at work."""

import random

from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import SimulatedDevice
from coprime.flow.mapping import map_design
from coprime.flow.parts import accelerator_verilog
from coprime.rsa.keys import generate
from tests.netlists import library, without_initial_contents


def check_netlist(choice, bits, target=Target.XC7, *, dsp=1):
    """So many DSP slices; results of Python's, cycles as predicted.

    `bits`: of a product's modulus.
    """
    mapped = map_design(target, accelerator_verilog(choice, target), choice.module_name)
    assert mapped.dsp == dsp
    netlist = without_initial_contents(mapped.netlist) + library(target)
    generator = random.Random(7)
    with SimulatedDevice(netlist, choice.module_name) as device:
        accelerator = Accelerator(device, predict=choice.design.predict)
        m = generator.getrandbits(bits) | 1
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
