"""`lattice` with Keccak in two shares: the same results, in the predicted cycles."""

import random

import pytest

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.model.trivium import SEED_BYTES
from tests.cli.command import run_json

SEED = 204


class Masked:
    """An open accelerator, whose every output and cycle count is compared."""

    def __init__(self, **settings):
        self.choice = choose_calls("lattice", {"masked": "sponge", **settings})
        self.design = self.choice.design
        self.device = open_simulation(self.choice)
        self.driver = CallAccelerator(self.device, self.design.interface)

    def call(self, name, parameter_set, values):
        """A call whose inputs are all given."""
        call = self.design.interface.call[name]
        outcome = self.design.predict(call, parameter_set, values)
        result = self.driver.call(name, values, parameter_set=parameter_set)
        assert result.outputs == outcome.outputs
        assert result.outputs == call.reference(parameter_set, values)
        assert result.cycles == outcome.cycles
        return result


@pytest.fixture(scope="module")
def ml_kem():
    made = Masked(sets="ml-kem-512")
    with made.device:
        yield made


@pytest.mark.matrix
@pytest.mark.xdist_group("lattice masked")
def test_each_call_of_ml_kem(ml_kem):
    """Decapsulation also of an altered ciphertext."""
    generator = random.Random(SEED)
    name = "ML-KEM-512"
    seeds = {slot: generator.randbytes(32) for slot in ("d", "z")}
    pair = ml_kem.call("ML_KEM_KEY_PAIR", name, seeds)
    ek, dk = pair.outputs["ek"], pair.outputs["dk"]
    sent = ml_kem.call("ML_KEM_ENCAPSULATE", name, {"ek": ek, "m": generator.randbytes(32)})
    received = ml_kem.call("ML_KEM_DECAPSULATE", name, {"dk": dk, "c": sent.outputs["c"]})
    assert received.outputs["key"] == sent.outputs["key"]
    altered = bytes([sent.outputs["c"][0] ^ 1]) + sent.outputs["c"][1:]
    refused = ml_kem.call("ML_KEM_DECAPSULATE", name, {"dk": dk, "c": altered})
    assert refused.outputs["key"] != received.outputs["key"]
    assert refused.cycles == received.cycles
    ml_kem.call("ML_KEM_CHECK_KEY", name, {"ek": ek, "dk": dk})


@pytest.mark.matrix
@pytest.mark.xdist_group("lattice masked")
def test_seeds_are_drawn_after_those_of_the_masks(ml_kem):
    drawn = random.Random(SEED).randbytes(SEED_BYTES + 64)
    ml_kem.driver.wipe()
    ml_kem.device.give_random(drawn)
    call = ml_kem.design.interface.call["ML_KEM_KEY_PAIR"]
    found = ml_kem.driver.call("ML_KEM_KEY_PAIR", {}, parameter_set="ML-KEM-512")
    outcome = ml_kem.design.predict(call, "ML-KEM-512", {}, drawn)
    assert (found.outputs, found.cycles) == (outcome.outputs, outcome.cycles)
    own = {"d": drawn[SEED_BYTES:][:32], "z": drawn[SEED_BYTES:][32:]}
    assert found.outputs == call.reference("ML-KEM-512", own)


@pytest.mark.matrix
@pytest.mark.parametrize("slices", ["4", "16"])
def test_ml_dsa(slices):
    """A key pair, a signature, its verification."""
    made = Masked(schemes="ml-dsa", sets="ml-dsa-44", slices=slices)
    generator = random.Random(SEED)
    with made.device:
        pair = made.call("ML_DSA_KEY_PAIR", "ML-DSA-44", {"xi": generator.randbytes(32)})
        values = {
            "sk": pair.outputs["sk"],
            "pk": pair.outputs["pk"],
            "mu": generator.randbytes(64),
            "rnd": generator.randbytes(32),
        }
        signed = made.call("ML_DSA_SIGN", "ML-DSA-44", values)
        checked = {name: values[name] for name in ("pk", "mu")} | signed.outputs
        made.call("ML_DSA_VERIFY", "ML-DSA-44", checked)


@pytest.mark.matrix
def test_the_command_line_draws_for_masks_and_seeds(capsys):
    words = "run lattice -p masked=sponge -p sets=ml-kem-512 --set ML-KEM-512 ML_KEM_KEY_PAIR"
    found = run_json(capsys, *words.split())
    assert found["ok"] and found["cycles"] == found["predicted_cycles"]


def test_64_slices_are_refused():
    with pytest.raises(ValueError, match="masked=sponge needs slices=32 or fewer, not 64"):
        _ = choose_calls("lattice", {"slices": "64", "masked": "sponge"}).design
