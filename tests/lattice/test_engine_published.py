"""`lattice` in Verilator against every published case of ML-KEM, and the `cryptography` package.

A case is run as an application would: the key of others is checked, then used. What a case says is
wrong must be refused, a key by ML_KEM_CHECK_KEY, a length by the register and by the driver.
"""

import random
from collections import Counter

import pytest
from cryptography.hazmat.primitives.asymmetric import mlkem

from coprime.bus import registers
from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.jobs import EngineError
from coprime.device.simulated import open_simulation
from coprime.engine.capabilities import Error
from coprime.lattice.interface import BY_NAME
from tests.lattice.published import published

FILES = published("ML-KEM")
SEED_BYTES = 32
LARGEST = "ML-KEM-1024"
REFUSED = {
    "ACVP keyGen": ((0, 0),) * 3,
    "ACVP encapDecap": ((0, 0),) * 3,
    "ACVP keyCheck": ((10, 0),) * 3,
    "Wycheproof encaps": ((108, 20), (112, 20), (116, 20)),
    "Wycheproof keygen_seed": ((0, 0),) * 3,
    "Wycheproof semi_expanded_decaps": ((2, 4),) * 3,
    "Wycheproof decapsulate_seed": ((0, 40),) * 3,
}
"""Cases of a file with a wrong key and with a wrong length, for each parameter set."""
PEERS = {
    "ML-KEM-768": (mlkem.MLKEM768PrivateKey, mlkem.MLKEM768PublicKey),
    "ML-KEM-1024": (mlkem.MLKEM1024PrivateKey, mlkem.MLKEM1024PublicKey),
}


class RefusalError(Exception):
    """The accelerator refuses an input, with an error of it."""


class Application:
    """An open accelerator, and what an application does with it."""

    def __init__(self, **settings):
        choice = choose_calls("lattice", settings)
        self.interface = choice.design.interface
        self.device = open_simulation(choice)
        self.driver = CallAccelerator(self.device, self.interface)

    def load(self, name, data, parameter_set):
        """Load a slot. RefusalError if both the register and the driver refuse its length."""
        number = self.interface.set_number(parameter_set)
        slot = self.interface.slot[name]
        if len(data) == slot.length(number):
            self.driver.load({name: data}, parameter_set=parameter_set)
            return
        with pytest.raises(ValueError, match=rf"{name} must have \d+ bytes .*not {len(data)}"):
            self.driver.load({name: data}, parameter_set=parameter_set)
        self.driver.load({}, parameter_set=parameter_set)
        self.device.write32(registers.SLOT.address, slot.number)
        self.device.write32(registers.SLOT_LENGTH.address, len(data))
        error = self.device.read32(registers.ERROR.address)
        assert registers.ERROR["REFUSAL"].of(error) == Error.SLOT_LENGTH
        raise RefusalError(Error.SLOT_LENGTH)

    def call(self, name, parameter_set, values=None):
        """The outputs of a call with what is loaded. Raises RefusalError for its error."""
        try:
            return self.driver.call(name, values or {}, parameter_set=parameter_set).outputs
        except EngineError as error:
            raise RefusalError(error.code) from error

    def outputs(self, case):
        """What the accelerator gives for a case, by the names of slots."""
        inputs, name = case.inputs, case.set
        self.driver.wipe()
        found = {}
        if case.operation in ("key_pair", "decapsulate_seed"):
            # The seed of applications is d and z in one.
            d, z = inputs.get("d"), inputs.get("z")
            if "seed" in inputs:
                d, z = inputs["seed"][:SEED_BYTES], inputs["seed"][SEED_BYTES:]
            self.load("d", d, name)
            self.load("z", z, name)
            found = self.call("ML_KEM_KEY_PAIR", name)
        else:
            key = "ek" if "ek" in inputs else "dk"
            self.load(key, inputs[key], name)
            self.call("ML_KEM_CHECK_KEY", name)
        if case.operation == "encapsulate":
            self.load("m", inputs["m"], name)
            return self.call("ML_KEM_ENCAPSULATE", name)
        if "c" in inputs:
            self.load("c", inputs["c"], name)
            found |= self.call("ML_KEM_DECAPSULATE", name)
        return found

    def passes(self, case):
        """Compare every published result; the error if an input is refused, as the case says."""
        try:
            outputs = self.outputs(case)
        except RefusalError as refusal:
            assert not case.valid, case.name
            return refusal.args[0]
        assert case.valid, case.name
        assert bool(case.results) == (case.operation != "check_key"), case.name
        for name in case.results:
            assert case.agrees(name, outputs["key" if name == "k" else name]), (case.name, name)
        return Error.NONE


@pytest.fixture(scope="module")
def application():
    made = Application()
    with made.device:
        yield made


@pytest.fixture(scope="module")
def application_of_lanes():
    made = Application(dsp="8", slices="64")
    with made.device:
        yield made


def label(file):
    return f"{file.name}-{file.set}".replace(" ", "-")


@pytest.mark.parametrize("file", [one for one in FILES if one.set != LARGEST], ids=label)
def test_the_first_and_the_last_case_of_each_file(application, file):
    for case in (file.cases[0], file.cases[-1]):
        application.passes(case)


def test_a_wrong_key_and_wrong_lengths(application):
    """Of each error the first case, and one of each slot that has a wrong length."""
    tried = Counter()
    for file in FILES:
        if file.set != LARGEST:
            continue
        for case in file.cases:
            sizes = tuple((name, len(data)) for name, data in case.inputs.items() if name != "m")
            if not case.valid and not tried[case.operation, sizes]:
                tried[case.operation, sizes] += 1
                assert application.passes(case) in (Error.INVALID_KEY, Error.SLOT_LENGTH), case.name
    assert len(tried) > 5


@pytest.mark.vectors
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("file", FILES, ids=label)
def test_all_of_each_file(application, file):
    pass_all(application, file)


@pytest.mark.vectors
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", BY_NAME)
def test_all_files_of_each_set_on_eight_slices(application_of_lanes, name):
    for file in FILES:
        if file.set == name:
            pass_all(application_of_lanes, file)


def pass_all(application, file):
    """All cases, of which as many are refused as the file says."""
    found = Counter(application.passes(case) for case in file.cases)
    wrong_keys, wrong_lengths = REFUSED[file.name][tuple(BY_NAME).index(file.set)]
    expected = {Error.INVALID_KEY: wrong_keys, Error.SLOT_LENGTH: wrong_lengths}
    expected[Error.NONE] = len(file.cases) - wrong_keys - wrong_lengths
    assert found == Counter(expected)


@pytest.mark.clients
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", PEERS)
def test_a_thousand_keys_in_both_directions(application, name):
    """Keys of either, with a key sent from each to the other."""
    generator = random.Random(name)
    private, public = PEERS[name]
    for _ in range(1000):
        d, z, m = (generator.randbytes(SEED_BYTES) for _ in range(3))
        theirs = private.from_seed_bytes(d + z)
        pair = application.call("ML_KEM_KEY_PAIR", name, {"d": d, "z": z})
        assert pair["ek"] == theirs.public_key().public_bytes_raw()
        sent = application.call("ML_KEM_ENCAPSULATE", name, {"ek": pair["ek"], "m": m})
        assert theirs.decapsulate(sent["c"]) == sent["key"]
        key, c = public.from_public_bytes(pair["ek"]).encapsulate()
        received = application.call("ML_KEM_DECAPSULATE", name, {"dk": pair["dk"], "c": c})
        assert received == {"key": key}
