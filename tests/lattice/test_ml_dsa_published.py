"""`lattice` in Verilator against every published case of ML-DSA."""

from collections import Counter

import pytest

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.jobs import EngineError
from coprime.device.simulated import open_simulation
from coprime.engine.capabilities import Error
from coprime.model.lattice import ml_dsa as model
from tests.lattice.published import published

FILES = published("ML-DSA")
SMALLEST = "ML-DSA-44"


class Application:
    """An open accelerator, and what an application does with it."""

    def __init__(self, **settings):
        choice = choose_calls("lattice", {"schemes": "ml-dsa"} | settings)
        self.interface = choice.design.interface
        self.device = open_simulation(choice)
        self.driver = CallAccelerator(self.device, self.interface)

    def outputs(self, case):
        """What the accelerator gives; EngineError or ValueError if it, or its driver, refuses."""
        inputs, found = dict(case.inputs), {}
        self.driver.wipe()
        if "message" in inputs:
            inputs["framed"] = model.framed(inputs.pop("message"), inputs["context"])
        if "framed" in inputs:
            inputs["message"] = inputs.pop("framed")
        inputs.pop("context", None)
        if "seed" in inputs:
            seed = {"xi": inputs.pop("seed")}
            found = self.driver.call("ML_DSA_KEY_PAIR", seed, parameter_set=case.set).outputs
        if case.operation == "key_pair":
            return found
        if case.operation == "sign" and "sk" in inputs:
            key = {"sk": inputs.pop("sk")}
            self.driver.call("ML_DSA_CHECK_KEY", key, parameter_set=case.set)
        name = {"sign": "ML_DSA_SIGN", "verify": "ML_DSA_VERIFY"}[case.operation]
        return self.driver.call(name, inputs, parameter_set=case.set).outputs

    def passes(self, case):
        """Compare every published result; whether an input is refused, as the case says."""
        try:
            outputs = self.outputs(case)
        except EngineError as error:
            assert error.code in (Error.SIGNATURE, Error.INVALID_KEY), case.name
            assert not case.valid, case.name
            return "engine"
        except ValueError:
            assert not case.valid, case.name
            return "driver"
        assert case.valid, case.name
        for name in case.results:
            assert case.agrees(name, outputs[name]), (case.name, name)
        return "valid"


@pytest.fixture(scope="module")
def application():
    made = Application()
    with made.device:
        yield made


def label(file):
    return f"{file.name}-{file.set}".replace(" ", "-")


@pytest.mark.vectors(quick=2)
@pytest.mark.parametrize("file", [one for one in FILES if one.set == SMALLEST], ids=label)
def test_the_first_and_the_last_case_of_each_file(application, file):
    for case in (file.cases[0], file.cases[-1]):
        application.passes(case)


@pytest.mark.vectors
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("file", FILES, ids=label)
def test_all_of_each_file(application, file):
    found = Counter(application.passes(case) for case in file.cases)
    assert found["valid"] == sum(case.valid for case in file.cases)


@pytest.mark.vectors
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", sorted({one.set for one in FILES}))
def test_all_of_each_file_on_eight_slices(name):
    made = Application(dsp="8", slices="64", sets=name.lower())
    with made.device:
        for file in (one for one in FILES if one.set == name):
            found = Counter(made.passes(case) for case in file.cases)
            assert found["valid"] == sum(case.valid for case in file.cases), file.name
