"""`lattice` as an accelerator in Verilator: FIPS 203's results, in the predicted cycles."""

import hashlib
import random

import pytest
from cryptography.hazmat.primitives.asymmetric import mlkem

from coprime.bus import registers
from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.jobs import EngineError
from coprime.device.simulated import open_simulation
from coprime.engine.capabilities import Error
from coprime.lattice.interface import BY_NAME, DECAPSULATE_CODE
from coprime.model.lattice import ml_kem_standard as standard
from coprime.model.lattice.sampling import uniform

SEED = 203
SETS = tuple(BY_NAME)
PEERS = {
    "ML-KEM-768": (mlkem.MLKEM768PrivateKey, mlkem.MLKEM768PublicKey),
    "ML-KEM-1024": (mlkem.MLKEM1024PrivateKey, mlkem.MLKEM1024PublicKey),
}
LIMITS = {
    ("1", "ML-KEM-512"): (11_100, 12_900, 16_300),
    ("1", "ML-KEM-768"): (17_600, 19_500, 24_000),
    ("1", "ML-KEM-1024"): (25_500, 27_500, 33_100),
    # Xing and Li, CHES 2021: 3,768, 5,079, 6,668; 6,316, 7,925, 10,049; 9,380, 11,321.
    ("8", "ML-KEM-512"): (2_600, 2_870, 4_000),
    ("8", "ML-KEM-768"): (3_670, 4_110, 5_590),
    ("8", "ML-KEM-1024"): (5_100, 5_830, 7_650),
}
"""Cycles of a key pair, an encapsulation and a decapsulation, by DSP slices."""
DESIGNS = [
    pytest.param({"dsp": "1"}, id="1 slice"),
    pytest.param(
        {"dsp": "8", "slices": "64"},
        id="8 slices",
        marks=[pytest.mark.matrix, pytest.mark.xdist_group("lattice, 8 slices")],
    ),
]


class Lattice:
    """An open accelerator, whose every output and cycle count is compared."""

    def __init__(self, **settings):
        self.choice = choose_calls("lattice", settings)
        self.design = self.choice.design
        self.interface = self.design.interface
        self.device = open_simulation(self.choice)
        self.driver = CallAccelerator(self.device, self.interface)

    def call(self, name, parameter_set, values):
        """A call whose inputs are all given."""
        call = self.interface.call[name]
        outcome = self.design.predict(call, parameter_set, values)
        result = self.driver.call(name, values, parameter_set=parameter_set)
        assert result.outputs == call.reference(parameter_set, values) == outcome.outputs
        assert result.cycles == outcome.cycles
        return result


@pytest.fixture(scope="module", params=DESIGNS)
def lattice(request):
    made = Lattice(**request.param)
    made.dsp = request.param["dsp"]
    with made.device:
        yield made


def seeds(generator, *names):
    return {name: generator.randbytes(32) for name in names}


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("name", SETS)
def test_each_call(lattice, name):
    """Each with cycles below what is stated; decapsulation also of an altered ciphertext."""
    generator = random.Random(SEED)
    pair = lattice.call("ML_KEM_KEY_PAIR", name, seeds(generator, "d", "z"))
    ek, dk = pair.outputs["ek"], pair.outputs["dk"]
    sent = lattice.call("ML_KEM_ENCAPSULATE", name, {"ek": ek, **seeds(generator, "m")})
    c, key = sent.outputs["c"], sent.outputs["key"]
    received = lattice.call("ML_KEM_DECAPSULATE", name, {"dk": dk, "c": c})
    assert received.outputs == {"key": key}
    limits = LIMITS.get((lattice.dsp, name), ())
    for result, limit in zip((pair, sent, received), limits, strict=bool(limits)):
        assert result.cycles <= limit


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("name", SETS)
def test_one_altered_bit_refuses_in_the_same_cycles(lattice, name):
    """The first and the last bit of each part of a ciphertext, and some others."""
    generator = random.Random(SEED)
    one = BY_NAME[name]
    ek, dk = standard.key_pair(one, *seeds(generator, "d", "z").values())
    key, c = standard.encapsulate(one, ek, generator.randbytes(32))
    cycles = lattice.call("ML_KEM_DECAPSULATE", name, {"dk": dk, "c": c}).cycles
    u = 32 * one.du
    edges = [(0, 0), (u - 1, 7), (u * one.k - 1, 7), (u * one.k, 0), (len(c) - 1, 7)]
    edges += [(generator.randrange(len(c)), generator.randrange(8)) for _ in range(3)]
    for place, bit in edges:
        altered = bytearray(c)
        altered[place] ^= 1 << bit
        result = lattice.call("ML_KEM_DECAPSULATE", name, {"dk": dk, "c": bytes(altered)})
        assert result.outputs["key"] != key
        assert result.cycles == cycles
    assert lattice.call("ML_KEM_DECAPSULATE", name, {"dk": dk, "c": c}).outputs == {"key": key}


@pytest.mark.matrix
def test_ciphertexts_of_zeros_ones_and_anything(lattice):
    generator = random.Random(SEED)
    for name in SETS:
        one = BY_NAME[name]
        _, dk = standard.key_pair(one, *seeds(generator, "d", "z").values())
        size = one.ciphertext_bytes
        found = {
            lattice.call("ML_KEM_DECAPSULATE", name, {"dk": dk, "c": c}).cycles
            for c in (bytes(size), b"\xff" * size, generator.randbytes(size))
        }
        assert len(found) == 1


@pytest.mark.clients
@pytest.mark.parametrize("name", PEERS)
def test_both_directions_with_another_implementation(lattice, name):
    generator = random.Random(SEED)
    private, public = PEERS[name]
    drawn = seeds(generator, "d", "z")
    theirs = private.from_seed_bytes(drawn["d"] + drawn["z"])
    pair = lattice.call("ML_KEM_KEY_PAIR", name, drawn)
    assert pair.outputs["ek"] == theirs.public_key().public_bytes_raw()
    values = {"ek": pair.outputs["ek"], **seeds(generator, "m")}
    sent = lattice.call("ML_KEM_ENCAPSULATE", name, values).outputs
    assert theirs.decapsulate(sent["c"]) == sent["key"]
    key, c = public.from_public_bytes(pair.outputs["ek"]).encapsulate()
    values = {"dk": pair.outputs["dk"], "c": c}
    assert lattice.call("ML_KEM_DECAPSULATE", name, values).outputs == {"key": key}


@pytest.mark.parametrize("name", SETS)
def test_random_bytes_and_slots_that_stay(lattice, name):
    """A key pair of random bytes, and what it is used for without leaving the engine."""
    generator = random.Random(SEED)
    driver, one = lattice.driver, BY_NAME[name]
    driver.wipe()
    random_bytes = generator.randbytes(96)
    lattice.device.give_random(random_bytes)
    pair = driver.call("ML_KEM_KEY_PAIR", {}, parameter_set=name)
    d, z, m = (random_bytes[k : k + 32] for k in range(0, 96, 32))
    ek, dk = standard.key_pair(one, d, z)
    assert pair.outputs == {"ek": ek, "dk": dk}
    call = lattice.interface.call["ML_KEM_KEY_PAIR"]
    assert pair.cycles == lattice.design.predict(call, name, {}, d + z).cycles
    assert driver.complete() == {"ek", "dk"}
    sent = driver.call("ML_KEM_ENCAPSULATE", {}, parameter_set=name)
    key, c = standard.encapsulate(one, ek, m)
    assert sent.outputs == {"c": c, "key": key}
    received = driver.call("ML_KEM_DECAPSULATE", {}, parameter_set=name)
    assert received.outputs == {"key": key}


def test_seeds_are_used_once(lattice):
    generator = random.Random(SEED)
    driver = lattice.driver
    driver.wipe()
    driver.load(seeds(generator, "d", "z", "m"), parameter_set=SETS[0])
    lattice.device.give_random(generator.randbytes(96))
    first = driver.call("ML_KEM_KEY_PAIR", {}, parameter_set=SETS[0])
    assert driver.complete() == {"ek", "dk", "m"}
    assert driver.call("ML_KEM_KEY_PAIR", {}, parameter_set=SETS[0]).outputs != first.outputs


def test_slots_do_not_disturb_each_other(lattice):
    """A key stays as it is while keys of others are used and checked, and seeds are loaded."""
    generator = random.Random(SEED)
    name = SETS[0]
    one, driver = BY_NAME[name], lattice.driver
    (ek, dk), (other, _) = (
        standard.key_pair(one, *seeds(generator, "d", "z").values()) for _ in range(2)
    )
    driver.load({"dk": dk, **seeds(generator, "d", "z", "m")}, parameter_set=name)
    sent = lattice.call("ML_KEM_ENCAPSULATE", name, {"ek": other, **seeds(generator, "m")})
    driver.load(seeds(generator, "z"), parameter_set=name)
    driver.call("ML_KEM_CHECK_KEY", {}, parameter_set=name)
    key, c = standard.encapsulate(one, ek, generator.randbytes(32))
    result = driver.call("ML_KEM_DECAPSULATE", {"c": c}, parameter_set=name)
    assert result.outputs == {"key": key} != {"key": sent.outputs["key"]}


def test_a_matrix_whose_bytes_do_not_suffice(lattice):
    """A seed of which an element of the matrix needs a fourth block of SHAKE128."""
    generator = random.Random(SEED)
    name = SETS[0]
    while True:
        rho = generator.randbytes(32)
        if len(uniform(hashlib.shake_128(rho + bytes(2)).digest(3 * 168))) < 256:
            break
    ek, _ = standard.key_pair(BY_NAME[name], *seeds(generator, "d", "z").values())
    usual = lattice.call("ML_KEM_ENCAPSULATE", name, {"ek": ek, **seeds(generator, "m")})
    values = {"ek": ek[:-32] + rho, **seeds(generator, "m")}
    rare = lattice.call("ML_KEM_ENCAPSULATE", name, values)
    assert usual.cycles < rare.cycles < usual.cycles + 1500


def refused(lattice, values, name):
    """Whether the check of these keys, and of no others, ends with an error, as predicted."""
    lattice.driver.wipe()
    lattice.driver.load(values, parameter_set=name)
    call = lattice.interface.call["ML_KEM_CHECK_KEY"]
    outcome = lattice.design.predict(call, name, values)
    try:
        result = lattice.driver.call("ML_KEM_CHECK_KEY", {}, parameter_set=name)
    except EngineError as error:
        assert error.code is outcome.error is Error.INVALID_KEY
        return True
    assert outcome.error is Error.NONE
    assert result.cycles == outcome.cycles
    return False


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("name", SETS)
def test_keys_are_checked(lattice, name):
    generator = random.Random(SEED)
    one = BY_NAME[name]
    ek, dk = standard.key_pair(one, *seeds(generator, "d", "z").values())
    for values in ({"ek": ek}, {"dk": dk}, {"ek": ek, "dk": dk}):
        assert not refused(lattice, values, name)
    for place in (0, 256 * one.k - 1, generator.randrange(256 * one.k)):
        for coefficient in (3329, 4095):
            number = int.from_bytes(ek, "little") & ~(4095 << 12 * place)
            bad = (number | coefficient << 12 * place).to_bytes(len(ek), "little")
            assert refused(lattice, {"ek": bad}, name)
            assert refused(lattice, {"ek": bad, "dk": dk}, name)
    vector = 384 * one.k
    for place in (vector, vector + len(ek) - 1, len(dk) - 64, len(dk) - 33):
        bad = bytearray(dk)
        bad[place] ^= 1 << generator.randrange(8)
        assert refused(lattice, {"dk": bytes(bad)}, name)
        assert refused(lattice, {"ek": ek, "dk": bytes(bad)}, name)
    # What the standard does not check.
    for place in (0, len(dk) - 1):
        other = bytearray(dk)
        other[place] ^= 1
        assert not refused(lattice, {"dk": bytes(other)}, name)


def test_a_check_without_a_key_is_refused(lattice):
    lattice.driver.wipe()
    with pytest.raises(EngineError) as raised:
        lattice.driver.call("ML_KEM_CHECK_KEY", {}, parameter_set=SETS[0])
    assert raised.value.code is Error.OPERAND_MISSING


def test_a_call_that_is_given_up(lattice):
    """By a wipe, at any moment; afterwards nothing is complete, and the next call is right."""
    generator = random.Random(SEED)
    name, driver = SETS[0], lattice.driver
    values = lattice.interface.call["ML_KEM_DECAPSULATE"].draw(name, generator)
    most = lattice.design.predict(lattice.interface.call["ML_KEM_DECAPSULATE"], name, values).cycles
    for wait in (0, 1, 100, most // 8, most // 2, most - 1000):
        driver.load(values, parameter_set=name)
        lattice.device.write32(registers.COMMAND.address, DECAPSULATE_CODE)
        lattice.device.run(wait)
        assert registers.STATUS["BUSY"].of(lattice.device.read32(registers.STATUS.address))
        driver.wipe()
        assert driver.complete() == frozenset()
        lattice.call("ML_KEM_DECAPSULATE", name, values)


@pytest.mark.matrix
def test_secrets_that_stay():
    made = Lattice(secrets="stay", sets="ml-kem-512")
    generator = random.Random(SEED)
    with made.device:
        drawn = seeds(generator, "d", "z")
        result = made.driver.call("ML_KEM_KEY_PAIR", drawn, parameter_set=SETS[0])
        ek, _ = standard.key_pair(BY_NAME[SETS[0]], drawn["d"], drawn["z"])
        assert result.outputs == {"ek": ek}
        made.device.give_random(generator.randbytes(32))
        sent = made.driver.call("ML_KEM_ENCAPSULATE", {}, parameter_set=SETS[0])
        assert set(sent.outputs) == {"c"}
        received = made.driver.call("ML_KEM_DECAPSULATE", {}, parameter_set=SETS[0])
        assert received.outputs == {}
        assert made.driver.complete() == {"ek", "dk", "c", "key"}


@pytest.mark.matrix
@pytest.mark.parametrize("sets", ["all", "ml-kem-512"])
def test_four_slices(sets):
    made = Lattice(dsp="4", slices="64", sets=sets)
    generator = random.Random(SEED)
    with made.device:
        for name in SETS if sets == "all" else SETS[:1]:
            for call in made.interface.calls[:3]:
                made.call(call.name, name, call.draw(name, generator))
            assert refused(made, {"ek": b"\xff" * BY_NAME[name].ek_bytes}, name)


def test_several_slices_are_of_one_scheme():
    with pytest.raises(ValueError, match="dsp=4 needs schemes=ml-kem or ml-dsa"):
        _ = choose_calls("lattice", {"dsp": "4", "schemes": "both"}).design


@pytest.mark.matrix  # each takes a minute to be compiled
@pytest.mark.parametrize(
    ("slices", "dsp"), [("4", "1"), ("16", "1"), ("32", "1"), ("64", "1"), ("8", "4"), ("32", "8")]
)
def test_other_sponges(slices, dsp):
    made = Lattice(slices=slices, dsp=dsp)
    generator = random.Random(SEED)
    with made.device:
        for name in SETS:
            for call in made.interface.calls[:3]:
                made.call(call.name, name, call.draw(name, generator))
