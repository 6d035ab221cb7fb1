"""`lattice` of ML-DSA on several DSP slices in Verilator: FIPS 204's results, in the predicted
cycles."""

import random

import pytest

from coprime.bus import registers
from coprime.catalog import choose_calls
from coprime.cells.target import Target
from coprime.device.calls import CallAccelerator
from coprime.device.jobs import EngineError
from coprime.device.simulated import SimulatedDevice
from coprime.engine.capabilities import Error
from coprime.flow.parts import accelerator_verilog
from coprime.lattice.ml_dsa_interface import ML_DSA_BY_NAME, SIGN_CODE
from coprime.model.lattice import ml_dsa as model
from coprime.model.lattice.ml_dsa_sets import SEED_BYTES
from tests.lattice.test_ml_dsa_engine import Lattice, only, signed
from tests.netlists import xc7_library

SEED = 204
LIMITS = {
    "ML-DSA-44": (7_000, 8_200),
    "ML-DSA-65": (10_400, 11_900),
    # Of Adams Bridge, from its specification.
    "ML-DSA-87": (15_153, 18_251),
}
"""Cycles of a key pair and a verification with 8 DSP slices, and 64 slices of Keccak."""
EIGHT = {"dsp": "8", "slices": "64"}
ROUND = 34_927
"""Cycles of a signing round of ML-DSA-87, of Adams Bridge."""
pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("lattice of ML-DSA, 8 DSP slices")]


@pytest.fixture(scope="module")
def lattice():
    made = Lattice(**EIGHT)
    with made.device:
        yield made


@pytest.mark.parametrize("name", ML_DSA_BY_NAME)
def test_each_call(lattice, name):
    """Of mu and of a message, with no, one and two rejected iterations; a key pair, a verification
    and an iteration in fewer cycles than is stated."""
    generator = random.Random(SEED)
    values = signed(name, generator, 0)
    pair = lattice.call("ML_DSA_KEY_PAIR", name, only(values, "xi"))
    lattice.call("ML_DSA_SIGN", name, only(values, "sk", "rnd", "pk", "mu"))
    check = lattice.call("ML_DSA_VERIFY", name, only(values, "pk", "signature", "mu"))
    lattice.call("ML_DSA_VERIFY", name, only(values, "pk", "signature", "message"))
    found = lattice.call("ML_DSA_CHECK_KEY", name, only(values, "sk", "pk"))
    assert found.outputs == only(values, "pk")
    for result, limit in zip((pair, check), LIMITS[name], strict=True):
        assert result.cycles <= limit
    cycles = []
    for rejections in (1, 2):
        values = signed(name, generator, rejections)
        inputs = only(values, "sk", "pk", "message")
        cycles.append(lattice.call("ML_DSA_SIGN", name, inputs, values["rnd"]).cycles)
    assert cycles[1] - cycles[0] <= ROUND


def test_wrong_signatures_are_refused(lattice):
    """A bit of c~, of z, of a hint, of the padding after the last hint, of a count, of mu; z out of
    bounds in an even and in an odd place."""
    name = "ML-DSA-65"
    one, generator = ML_DSA_BY_NAME[name], random.Random(SEED)
    values = only(signed(name, generator, 0), "pk", "signature", "mu")
    assert not lattice.refuses(name, values)
    size, z = one.signature_bytes, one.challenge_bytes
    hints = size - one.omega - one.k
    for place in (0, z, hints - 1, hints, hints + one.omega - 1, size - 1):
        wrong = bytearray(values["signature"])
        wrong[place] ^= 1 << generator.randrange(8)
        assert lattice.refuses(name, values | {"signature": bytes(wrong)})
    assert lattice.refuses_as_predicted(name, values | {"mu": bytes(64)})
    for place in range(4):
        number = int.from_bytes(values["signature"][z : z + 10], "little")
        number &= ~(((1 << 20) - 1) << 20 * place)
        wrong = bytearray(values["signature"])
        wrong[z : z + 10] = number.to_bytes(10, "little")
        assert lattice.refuses_as_predicted(name, values | {"signature": bytes(wrong)})


def test_wrong_keys_are_refused(lattice):
    """A bit of rho, tr, s1, s2, t0; coefficients of s1 that are too large; another public key."""
    name = "ML-DSA-44"
    one, generator = ML_DSA_BY_NAME[name], random.Random(SEED)
    values = only(signed(name, generator, 0), "pk", "sk")
    t0 = 128 + 32 * one.s_bits * (one.k + one.columns)
    wrong = []
    for place in (0, 64, 127, 128, t0 - 1, t0, one.sk_bytes - 1):
        sk = bytearray(values["sk"])
        sk[place] ^= 1 << generator.randrange(8)
        wrong.append({"sk": bytes(sk)})
    for byte in (0x07, 0x38):
        wrong.append({"sk": values["sk"][:128] + bytes([byte]) + values["sk"][129:]})
    wrong.append(values | {"pk": values["pk"][:-1] + bytes([values["pk"][-1] ^ 1])})
    for given in wrong:
        lattice.driver.wipe()
        with pytest.raises(EngineError) as refused:
            lattice.driver.call("ML_DSA_CHECK_KEY", given, parameter_set=name)
        assert refused.value.code is Error.INVALID_KEY


def test_a_call_that_is_given_up(lattice):
    """By a wipe, at any moment; afterwards nothing is complete, and the next call is right."""
    name, driver = "ML-DSA-44", lattice.driver
    values = signed(name, random.Random(SEED), 1)
    inputs = only(values, "sk", "rnd", "pk", "mu")
    most = lattice.design.predict(lattice.interface.call["ML_DSA_SIGN"], name, inputs).cycles
    for wait in (0, 1, 100, most // 8, most // 2, most - 1000):
        driver.load(inputs, parameter_set=name)
        lattice.device.write32(registers.COMMAND.address, SIGN_CODE)
        lattice.device.run(wait)
        assert registers.STATUS["BUSY"].of(lattice.device.read32(registers.STATUS.address))
        driver.wipe()
        assert driver.complete() == frozenset()
    lattice.call("ML_DSA_SIGN", name, inputs)


@pytest.mark.parametrize("verify_only", ["0", "1"])
def test_four_slices(verify_only):
    """Another number of slices of Keccak, too; and an engine that only verifies."""
    made = Lattice(dsp="4", slices="32", verify_only=verify_only)
    with made.device:
        for name in ML_DSA_BY_NAME:
            values = signed(name, random.Random(SEED), 1)
            made.call("ML_DSA_VERIFY", name, only(values, "pk", "signature", "message"))
            wrong = only(values, "pk", "signature") | {"message": b"another"}
            assert made.refuses(name, wrong)
            if verify_only == "0":
                made.call("ML_DSA_KEY_PAIR", name, only(values, "xi"))
                made.driver.wipe()  # of the public key
                made.call("ML_DSA_SIGN", name, only(values, "sk", "rnd", "message"))


def test_on_xc7s_cells():
    """LUTs, carry chains and DSP slices, simulated with models of these cells."""
    name = "ML-DSA-44"
    choice = choose_calls("lattice", {"schemes": "ml-dsa", "sets": "ml-dsa-44"} | EIGHT)
    xi = random.Random(SEED).randbytes(SEED_BYTES)
    pk, sk = model.key_pair(ML_DSA_BY_NAME[name], xi)
    verilog = accelerator_verilog(choice, Target.XC7) + xc7_library()
    with SimulatedDevice(verilog, choice.module_name) as device:
        interface = choice.design.interface
        driver = CallAccelerator(device, interface)

        def outputs(call, inputs):
            driver.wipe()
            found = driver.call(call, inputs, parameter_set=name)
            assert found.cycles == choice.design.predict(interface.call[call], name, inputs).cycles
            return found.outputs

        assert outputs("ML_DSA_KEY_PAIR", {"xi": xi}) == {"pk": pk, "sk": sk}
        inputs = {"pk": pk, "sk": sk, "rnd": bytes(SEED_BYTES), "mu": bytes(64)}
        signature = outputs("ML_DSA_SIGN", inputs)["signature"]
        assert outputs("ML_DSA_VERIFY", {"pk": pk, "signature": signature, "mu": bytes(64)}) == {}
