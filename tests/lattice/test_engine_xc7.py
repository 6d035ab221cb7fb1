"""The engine of xc7's LUTs, carry chains and DSP slice, simulated with models of these cells."""

import random

import pytest

from coprime.catalog import choose_calls
from coprime.cells.target import Target
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import SimulatedDevice
from coprime.flow.parts import accelerator_verilog
from coprime.lattice.interface import BY_NAME
from coprime.model.lattice import ml_kem_standard as standard
from tests.netlists import xc7_library

SEED = 203


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("slices", "dsp", "name"),
    [("8", "1", "ML-KEM-512"), ("4", "1", "ML-KEM-1024"), ("64", "8", "ML-KEM-768")],
)
def test_calls(slices, dsp, name):
    generator = random.Random(SEED)
    choice = choose_calls("lattice", {"slices": slices, "dsp": dsp})
    one = BY_NAME[name]
    d, z, m = (generator.randbytes(32) for _ in range(3))
    ek, dk = standard.key_pair(one, d, z)
    key, c = standard.encapsulate(one, ek, m)
    altered = bytes([c[0] ^ 1]) + c[1:]
    verilog = accelerator_verilog(choice, Target.XC7) + xc7_library()
    with SimulatedDevice(verilog, choice.module_name) as device:
        predict = choice.design.predict
        driver = CallAccelerator(device, choice.design.interface, predict=predict)

        def outputs(call, inputs):
            found = driver.call(call, inputs, parameter_set=name)
            assert found.cycles == found.predicted_cycles
            return found.outputs

        assert outputs("ML_KEM_KEY_PAIR", {"d": d, "z": z}) == {"ek": ek, "dk": dk}
        assert outputs("ML_KEM_ENCAPSULATE", {"ek": ek, "m": m}) == {"c": c, "key": key}
        assert outputs("ML_KEM_DECAPSULATE", {"dk": dk, "c": c}) == {"key": key}
        refused = {"key": standard.decapsulate(one, dk, altered)}
        assert outputs("ML_KEM_DECAPSULATE", {"dk": dk, "c": altered}) == refused
        assert outputs("ML_KEM_CHECK_KEY", {"ek": ek, "dk": dk}) == {}
