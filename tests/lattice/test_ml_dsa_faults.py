"""Single bits that change during a signature: it ends with FAULT, and nothing is left."""

import random

import pytest

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.faulty import FaultyDevice
from coprime.device.jobs import EngineError
from coprime.engine.capabilities import Error
from coprime.flow.parts import accelerator_verilog
from coprime.lattice.ml_dsa_interface import ML_DSA_BY_NAME
from coprime.model.lattice import ml_dsa as model

NAME = "ML-DSA-44"
MASKS = 4_000
"""A cycle in which masks are in the sample buffer for the first time."""


class Campaign:
    """Signatures of one message, from the same state; not verified, so that other checks act."""

    def __init__(self):
        settings = {"schemes": "ml-dsa", "sets": NAME.lower(), "check_signatures": "0"}
        choice = choose_calls("lattice", settings)
        self.device = FaultyDevice(accelerator_verilog(choice), choice.module_name)
        self.driver = CallAccelerator(self.device, choice.design.interface)
        one, generator = ML_DSA_BY_NAME[NAME], random.Random(20)
        self.pk, self.sk = model.key_pair(one, generator.randbytes(32))
        while True:
            self.rnd, self.mu = generator.randbytes(32), generator.randbytes(64)
            done = model.sign(one, self.sk, self.mu, self.rnd)
            if not done.rejections:
                break
        self.signature = done.signature

    def run(self, after=0, name=None, word=0, bit=0):
        """The signature, or the error, with a bit that flips so many cycles after the start."""
        device, driver = self.device, self.driver
        values = {"sk": self.sk, "rnd": self.rnd, "mu": self.mu}
        driver.load(values, parameter_set=NAME)

        def change():
            if name:
                device.flip(device.registers[name], word, bit)

        device.call_at(device.cycles + 40 + after, change)
        try:
            return driver.call("ML_DSA_SIGN", {}, parameter_set=NAME).outputs["signature"]
        except EngineError as error:
            return error.code

    def register(self, *parts, is_memory=True):
        """The name of the register whose path has these parts."""
        found = [
            name
            for name, one in self.device.registers.items()
            if one.is_memory == is_memory and all(part in name for part in parts)
        ]
        assert len(found) == 1, found
        return found[0]


@pytest.fixture(scope="module")
def campaign():
    made = Campaign()
    with made.device:
        yield made


@pytest.mark.matrix
def test_without_faults(campaign):
    assert campaign.run() == campaign.signature


@pytest.mark.matrix
def test_a_bit_of_memories_with_parity(campaign):
    """Of the private key, and of each polynomial of the vectors."""
    sk = campaign.register("memory.memory.memory", "engine.memory")
    polynomials = campaign.register("datapath.memory")
    for name, word in ((sk, 1040), (polynomials, 2 * 8 * 256 + 3), (polynomials, 8 * 256 + 5)):
        assert campaign.run(40_000, name, word, 3) is Error.FAULT
        assert not campaign.driver.complete()


@pytest.mark.matrix
def test_masks_that_are_others_when_they_are_sampled_again(campaign):
    """Unless their iteration is rejected: then the signature is right."""
    samples = campaign.register("engine.samples")
    found = [campaign.run(MASKS, samples, word, 2) for word in (0, 1, 255, 256, 300, 1023)]
    assert Error.FAULT in found
    for one in found:
        right = one is not Error.FAULT and model.verify(
            ML_DSA_BY_NAME[NAME], campaign.pk, campaign.mu, one
        )
        assert right or one is Error.FAULT


@pytest.mark.matrix
def test_a_signature_is_right_afterwards(campaign):
    assert campaign.run() == campaign.signature
