"""The engine of both schemes, of xc7's LUTs, carry chains and its one DSP slice, simulated with
models of these cells."""

import random

import pytest

from coprime.catalog import choose_calls
from coprime.cells.target import Target
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import SimulatedDevice
from coprime.flow.parts import accelerator_verilog
from tests.netlists import xc7_library


@pytest.mark.matrix
def test_calls_of_both_in_turn():
    """A slice of xc7 for both: each call of the smallest sets, with predicted cycles."""
    choice = choose_calls("lattice", {"schemes": "both"})
    interface = choice.design.interface
    verilog = accelerator_verilog(choice, Target.XC7)
    assert verilog.count("DSP48E1 ") == 1
    with SimulatedDevice(verilog + xc7_library(), choice.module_name) as device:
        driver = CallAccelerator(device, interface)
        for name in ("ML_DSA_VERIFY", "ML_KEM_DECAPSULATE", "ML_DSA_SIGN", "ML_KEM_KEY_PAIR"):
            call = interface.call[name]
            parameter_set = interface.sets_of(call)[0]
            values = call.draw(parameter_set, random.Random(7))
            found = driver.call(name, values, parameter_set=parameter_set)
            assert found.outputs == call.reference(parameter_set, values)
            assert found.cycles == choice.design.predict(call, parameter_set, values).cycles
