"""The power of a simulated device, compared with what its registers hold in every cycle."""

from itertools import pairwise

import pytest
from coprime_evidence.assess.power import TOTAL, PowerDevice, PowerModel, component_of

from coprime.catalog import choose
from coprime.device.accelerator import Accelerator
from coprime.flow.parts import accelerator_verilog

X, Y, M = 0x1234567890ABCDEF, 0xFEDCBA0987654321, 0xFFFFFFFFFFFFFFC5


@pytest.mark.parametrize(
    ("register", "component"),
    [
        ("engine.lane.multiplier.slice.multiplier.p", "engine.lane.multiplier.slice"),
        ("engine.lane.left.a_data", "engine.lane.left"),
        ("front_end.gearbox.ring.word", "front_end"),
        ("alone", "top"),
    ],
)
def test_component_of(register, component):
    assert component_of(register) == component


def counted(device, model, values):
    """The samples as the definition has them, from the values of all words in each cycle."""
    rows = []
    for before, now in pairwise(values):
        row = dict.fromkeys(device.components, 0)
        for (register, _), old, new in zip(words(device), before, now, strict=True):
            if model is PowerModel.DISTANCE:
                bits = (old ^ new).bit_count()
            else:
                bits = new.bit_count() if new != old or not register.is_memory else 0
            row[component_of(register.name)] += bits
            row[TOTAL] += bits
        rows.append([row[name] for name in device.components])
    return rows


def words(device):
    return [(one, word) for one in device.registers.values() for word in range(one.words)]


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("model", PowerModel)
def test_samples_are_the_bits_of_the_registers(model):
    choice = choose("compact", {"max_bits": "64"})
    with PowerDevice(accelerator_verilog(choice), choice.module_name, model=model) as device:
        accelerator = Accelerator(device)
        assert accelerator.modmul(X, Y, M).value == X * Y % M
        before, cycles = device.cycles, len(device.trace)
        accelerator.modmul(X, Y, M)
        accesses = device.begins - before
        values = []

        def look():
            values.append([device.peek(*word) for word in words(device)])
            return device.cycles + 1

        before = device.cycles
        device.call_at(before + accesses, look)
        accelerator.modmul(X, Y, M)
        assert device.begins == before + accesses
        assert device.trace.tolist() == counted(device, model, values[: cycles + 1])
