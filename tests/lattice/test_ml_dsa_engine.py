"""`lattice` of ML-DSA in Verilator: FIPS 204's results, in the predicted cycles."""

import random

import pytest

from coprime.bus import registers
from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.jobs import EngineError
from coprime.device.simulated import open_simulation
from coprime.engine.capabilities import Error
from coprime.lattice.ml_dsa_interface import ML_DSA_BY_NAME, SIGN_CODE
from coprime.model.lattice import ml_dsa as model
from coprime.model.lattice.ml_dsa_sets import SEED_BYTES
from tests.cli.command import run, run_json

SEED = 204
SMALLEST, *LARGER = ML_DSA_BY_NAME
LIMITS = {
    "ML-DSA-44": (36_800, 48_700),
    "ML-DSA-65": (62_800, 71_500),
    "ML-DSA-87": (106_000, 114_200),
}
"""Cycles of a key pair and a verification with 8 slices a cycle."""


class Lattice:
    """An open accelerator, whose every output and cycle count is compared."""

    def __init__(self, **settings):
        self.choice = choose_calls("lattice", {"schemes": "ml-dsa"} | settings)
        self.design = self.choice.design
        self.interface = self.design.interface
        self.device = open_simulation(self.choice)
        self.driver = CallAccelerator(self.device, self.interface)

    def call(self, name, parameter_set, values, drawn=b""):
        """A call with these inputs, and these random bytes for the one that it draws."""
        call = self.interface.call[name]
        outcome = self.design.predict(call, parameter_set, values, drawn)
        assert outcome.error is Error.NONE
        self.device.give_random(drawn)
        result = self.driver.call(name, values, parameter_set=parameter_set)
        optional = {one: drawn for one in call.optional if one not in values}
        assert result.outputs == call.reference(parameter_set, values | optional)
        assert result.outputs == outcome.outputs
        assert result.cycles == outcome.cycles
        return result

    def refuses(self, parameter_set, values):
        """Whether a verification fails."""
        try:
            self.driver.call("ML_DSA_VERIFY", values, parameter_set=parameter_set)
        except EngineError as error:
            assert error.code is Error.SIGNATURE
            return True
        return False

    def refuses_as_predicted(self, parameter_set, values):
        """The same, in the predicted cycles."""
        call = self.interface.call["ML_DSA_VERIFY"]
        outcome = self.design.predict(call, parameter_set, values)
        assert outcome.error is Error.SIGNATURE
        refused = self.refuses(parameter_set, values)
        assert self.device.read32(registers.CYCLES.address) == outcome.cycles
        return refused


@pytest.fixture(scope="module")
def lattice():
    made = Lattice()
    with made.device:
        yield made


def signed(name, generator, rejections):
    """Inputs and outputs of a signature with so many rejected iterations."""
    one = ML_DSA_BY_NAME[name]
    xi = generator.randbytes(SEED_BYTES)
    pk, sk = model.key_pair(one, xi)
    while True:
        rnd, message = generator.randbytes(SEED_BYTES), generator.randbytes(20)
        framed = model.framed(message, b"context")
        done = model.sign(one, sk, model.representative_for(pk, framed), rnd)
        if len(done.rejections) == rejections:
            return {
                "xi": xi,
                "pk": pk,
                "sk": sk,
                "rnd": rnd,
                "message": framed,
                "mu": model.representative_for(pk, framed),
                "signature": done.signature,
            }


def only(values, *names):
    return {name: values[name] for name in names}


@pytest.mark.parametrize(
    "name", [SMALLEST, *(pytest.param(one, marks=pytest.mark.matrix) for one in LARGER)]
)
def test_each_call(lattice, name):
    """With mu and with a message; key pairs and verifications in fewer cycles than is stated."""
    values = signed(name, random.Random(SEED), 0)
    pair = lattice.call("ML_DSA_KEY_PAIR", name, only(values, "xi"))
    lattice.call("ML_DSA_SIGN", name, only(values, "sk", "rnd", "pk", "mu"))
    assert lattice.driver.complete() == {"pk", "sk", "signature"}
    check = lattice.call("ML_DSA_VERIFY", name, only(values, "pk", "signature", "mu"))
    lattice.call("ML_DSA_VERIFY", name, only(values, "pk", "signature", "message"))
    found = lattice.call("ML_DSA_CHECK_KEY", name, only(values, "sk", "pk"))
    assert found.outputs == only(values, "pk")
    for result, limit in zip((pair, check), LIMITS[name], strict=True):
        assert result.cycles <= limit


@pytest.mark.matrix
@pytest.mark.parametrize("name", ML_DSA_BY_NAME)
def test_signatures_of_messages_with_rejected_iterations(lattice, name):
    """And with random bytes that the engine draws."""
    values = signed(name, random.Random(SEED), 2)
    lattice.call("ML_DSA_SIGN", name, only(values, "sk", "message"), values["rnd"])


@pytest.mark.matrix
def test_what_a_call_gives_stays_in_the_engine(lattice):
    """A key pair of random bytes, a signature with it, and its verification."""
    driver, name = lattice.driver, SMALLEST
    values = signed(name, random.Random(SEED), 0)
    driver.wipe()
    lattice.device.give_random(values["xi"] + values["rnd"])
    assert driver.call("ML_DSA_KEY_PAIR", {}, parameter_set=name).outputs == only(
        values, "pk", "sk"
    )
    assert driver.complete() == {"pk", "sk"}
    result = driver.call("ML_DSA_SIGN", only(values, "message"), parameter_set=name)
    assert result.outputs == only(values, "signature")
    driver.call("ML_DSA_VERIFY", only(values, "message"), parameter_set=name)
    driver.call("ML_DSA_CHECK_KEY", {}, parameter_set=name)
    assert driver.complete() == {"pk", "sk"}
    driver.load(only(values, "signature"), parameter_set=name)
    with pytest.raises(EngineError) as refused:
        driver.call("ML_DSA_VERIFY", {"message": b"another"}, parameter_set=name)
    assert refused.value.code is Error.SIGNATURE


@pytest.mark.parametrize(
    "name", [SMALLEST, *(pytest.param(one, marks=pytest.mark.matrix) for one in LARGER)]
)
def test_wrong_signatures_are_refused(lattice, name):
    """A bit of c~, of z, of a hint, of the padding after the last hint, of a count, of mu."""
    one, generator = ML_DSA_BY_NAME[name], random.Random(SEED)
    values = only(signed(name, generator, 0), "pk", "signature", "mu")
    assert not lattice.refuses(name, values)
    size = one.signature_bytes
    hints = size - one.omega - one.k
    for place in (0, one.challenge_bytes, hints - 1, hints, hints + one.omega - 1, size - 1):
        wrong = bytearray(values["signature"])
        wrong[place] ^= 1 << generator.randrange(8)
        assert lattice.refuses(name, values | {"signature": bytes(wrong)})
    assert lattice.refuses_as_predicted(name, values | {"mu": bytes(64)})
    # z out of bounds.
    wrong = bytearray(values["signature"])
    wrong[one.challenge_bytes : one.challenge_bytes + 3] = bytes(3)
    assert lattice.refuses(name, values | {"signature": bytes(wrong)})


@pytest.mark.matrix
def test_a_signature_without_its_public_key(lattice):
    """It is computed, and the signature verified; another one is not the private key's."""
    generator, name = random.Random(SEED), SMALLEST
    values = signed(name, generator, 0)
    another, _ = model.key_pair(ML_DSA_BY_NAME[name], generator.randbytes(SEED_BYTES))
    lattice.driver.wipe()
    for pk in ({}, {"pk": another}):
        lattice.call("ML_DSA_SIGN", name, only(values, "sk", "rnd", "message") | pk)
        assert lattice.driver.complete() == {"sk", "signature"}


@pytest.mark.matrix
def test_signatures_that_are_not_verified():
    values = signed(SMALLEST, random.Random(SEED), 1)
    made = Lattice(check_signatures="0", sets="ml-dsa-44")
    with made.device:
        made.call("ML_DSA_SIGN", SMALLEST, only(values, "sk", "rnd", "mu"))


def test_wrong_keys_are_refused(lattice):
    """A bit of rho, tr, s1, s2, t0; a coefficient of s1 that is too large; another public key."""
    one, generator = ML_DSA_BY_NAME[SMALLEST], random.Random(SEED)
    values = only(signed(SMALLEST, generator, 0), "pk", "sk")
    t0 = 128 + 32 * one.s_bits * (one.k + one.columns)
    wrong = []
    for place in (0, 64, 127, 128, t0 - 1, t0, one.sk_bytes - 1):
        sk = bytearray(values["sk"])
        sk[place] ^= 1 << generator.randrange(8)
        wrong.append({"sk": bytes(sk)})
    wrong.append({"sk": values["sk"][:128] + b"\x07" + values["sk"][129:]})
    wrong.append(values | {"pk": values["pk"][:-1] + bytes([values["pk"][-1] ^ 1])})
    for given in wrong:
        lattice.driver.wipe()
        with pytest.raises(EngineError) as refused:
            lattice.driver.call("ML_DSA_CHECK_KEY", given, parameter_set=SMALLEST)
        assert refused.value.code is Error.INVALID_KEY
    outcome = lattice.design.predict(
        lattice.interface.call["ML_DSA_CHECK_KEY"], SMALLEST, wrong[-1]
    )
    assert outcome.error is Error.INVALID_KEY
    assert lattice.device.read32(registers.CYCLES.address) == outcome.cycles


@pytest.mark.matrix
def test_an_engine_that_only_verifies():
    """Another number of slices, too."""
    values = signed("ML-DSA-65", random.Random(SEED), 0)
    made = Lattice(verify_only="1", slices="16", sets="ml-dsa-65")
    assert {one.name for one in made.interface.slots} == {"pk", "signature", "mu", "message"}
    with made.device:
        made.call("ML_DSA_VERIFY", "ML-DSA-65", only(values, "pk", "signature", "message"))
        wrong = only(values, "pk", "signature") | {"message": b"another"}
        assert made.refuses("ML-DSA-65", wrong)


def test_only_lattices_of_ml_dsa_sign():
    with pytest.raises(ValueError, match=r"sets must be one of all, ml-dsa-44.*not 'ml-kem-512'"):
        _ = choose_calls("lattice", {"schemes": "ml-dsa", "sets": "ml-kem-512"}).design
    with pytest.raises(ValueError, match="verify_only=1 needs schemes=ml-dsa"):
        _ = choose_calls("lattice", {"verify_only": "1"}).design
    calls = choose_calls("lattice", {}).design.interface.calls
    assert SIGN_CODE not in [one.code for one in calls]


def test_inputs_that_the_command_line_draws(capsys):
    """A message that is given replaces the drawn mu."""
    words = f"run lattice -p schemes=ml-dsa ML_DSA_VERIFY --set {SMALLEST}".split()
    found = run_json(capsys, *words)
    assert found["ok"] and found["cycles"] == found["predicted_cycles"]
    status, _, err = run(capsys, *words, "--message", "0000")
    assert status != 0
    assert "signature" in err.lower()
