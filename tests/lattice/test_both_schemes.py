"""`lattice` with ML-KEM and ML-DSA: each call as on an engine of its scheme, and none of the other
scheme's with a parameter set."""

import random

import pytest

from coprime.bus import registers
from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.faulty import FaultyDevice
from coprime.device.jobs import EngineError
from coprime.device.simulated import open_simulation
from coprime.engine.capabilities import Error
from coprime.flow.kept_verilog import kept_accelerator

SEED = 205
BOTH = {"schemes": "both"}
ML_KEM, ML_DSA = "ML-KEM-512", "ML-DSA-44"
DESIGN = choose_calls("lattice", BOTH).design
ALONE = {
    "ML_KEM": choose_calls("lattice", {}).design,
    "ML_DSA": choose_calls("lattice", {"schemes": "ml-dsa"}).design,
}
PAIRS = [(call.name, name) for call in DESIGN.interface.calls for name in call.sets]


def inputs(call, name):
    return call.draw(name, random.Random(SEED))


def same_as_alone(call, name, design=DESIGN):
    """The prediction, which is that of the engine of the scheme."""
    values = inputs(call, name)
    outcome = design.predict(call, name, values)
    own = ALONE[call.name[:6]]
    assert outcome == own.predict(own.interface.call[call.name], name, values)
    return values, outcome


@pytest.mark.parametrize(
    ("call", "name"), [("ML_KEM_DECAPSULATE", ML_KEM), ("ML_DSA_VERIFY", ML_DSA)]
)
def test_the_cycles_are_those_of_the_scheme_alone(call, name):
    _, outcome = same_as_alone(DESIGN.interface.call[call], name)
    assert outcome.error is Error.NONE


def test_slots_and_calls_are_those_of_both():
    interface = DESIGN.interface
    alone = [design.interface for design in ALONE.values()]
    assert [one.name for one in interface.slots] == [
        one.name for each in alone for one in each.slots
    ]
    assert [one.name for one in interface.calls] == [
        one.name for each in alone for one in each.calls
    ]
    assert len({one.number for one in interface.slots}) == len(interface.slots)
    for each in alone:
        for number, name in enumerate(each.parameter_sets):
            for slot in each.slots:
                assert interface.slot[slot.name].length(interface.set_number(name)) == slot.length(
                    number
                )
    assert interface.slot["dk"].length(interface.set_number(ML_DSA)) == 0
    assert [one.name for one in interface.calls_of(ML_DSA)] == [one.name for one in alone[1].calls]


def test_a_call_has_the_sets_of_its_scheme():
    interface = DESIGN.interface
    with pytest.raises(ValueError, match=r"ML_KEM_KEY_PAIR has the parameter sets ML-KEM-512.*44"):
        interface.check_set(interface.call["ML_KEM_KEY_PAIR"], ML_DSA)
    with pytest.raises(
        ValueError, match=r"sets must be all, or one of each scheme as in ml-kem-512.ml-dsa-44"
    ):
        _ = choose_calls("lattice", BOTH | {"sets": "ml-kem-512"}).design


class Lattice:
    """An open accelerator."""

    def __init__(self, make_device=open_simulation, **settings):
        self.choice = choose_calls("lattice", BOTH | settings)
        self.interface = self.choice.design.interface
        self.device = make_device(self.choice)
        self.driver = CallAccelerator(self.device, self.interface)

    def call(self, name, parameter_set):
        """A call with drawn inputs, as predicted, and as with its scheme alone."""
        call = self.interface.call[name]
        values, outcome = same_as_alone(call, parameter_set, self.choice.design)
        result = self.driver.call(name, values, parameter_set=parameter_set)
        assert result.outputs == call.reference(parameter_set, values) == outcome.outputs
        assert result.cycles == outcome.cycles

    def start(self, name, parameter_set):
        """The error of a command with a parameter set, without the driver's checks.

        The driver's set is chosen again."""
        number = self.interface.set_number(parameter_set)
        before = self.device.read32(registers.PARAMETER_SET.address)
        for register, value in (
            (registers.ERROR, 0),
            (registers.PARAMETER_SET, number),
            (registers.INTERRUPT_STATUS, 1),
            (registers.COMMAND, self.interface.call[name].code),
        ):
            self.device.write32(register.address, value)
        while self.device.read32(registers.STATUS.address):
            self.device.run(10)
        self.device.write32(registers.PARAMETER_SET.address, before)
        return registers.ERROR["CODE"].of(self.device.read32(registers.ERROR.address))


@pytest.fixture(scope="module")
def lattice():
    made = Lattice()
    with made.device:
        yield made


@pytest.mark.matrix
@pytest.mark.parametrize(("call", "name"), PAIRS)
def test_each_call(lattice, call, name):
    """In an order in which ML-DSA comes after ML-KEM."""
    lattice.call(call, name)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("kem", "dsa"),
    [("ML-KEM-768", "ML-DSA-65"), ("ML-KEM-1024", "ML-DSA-44"), (ML_KEM, "ML-DSA-87")],
)
def test_a_set_of_each_scheme(kem, dsa):
    made = Lattice(sets=f"{kem}+{dsa}".lower())
    assert made.interface.parameter_sets == (kem, dsa)
    smaller = made.choice.design.programs.memory_words
    assert smaller <= DESIGN.programs.memory_words
    with made.device:
        for call in made.interface.calls:
            made.call(call.name, *call.sets)


@pytest.mark.matrix
def test_schemes_in_turn(lattice):
    """What one has left in memories and buffers does not disturb the other one."""
    for _ in range(2):
        for call, name in (
            ("ML_KEM_ENCAPSULATE", "ML-KEM-768"),
            ("ML_DSA_SIGN", ML_DSA),
            ("ML_KEM_CHECK_KEY", ML_KEM),
            ("ML_DSA_VERIFY", "ML-DSA-65"),
            ("ML_KEM_DECAPSULATE", ML_KEM),
            ("ML_DSA_KEY_PAIR", ML_DSA),
        ):
            lattice.call(call, name)


@pytest.mark.matrix
def test_another_parameter_set_forgets_the_slots(lattice):
    for call, name, other in (
        ("ML_KEM_DECAPSULATE", ML_KEM, ML_DSA),
        ("ML_DSA_SIGN", ML_DSA, ML_KEM),
    ):
        lattice.call(call, name)
        assert lattice.driver.complete()
        lattice.driver.load({}, parameter_set=other)
        assert not lattice.driver.complete()


@pytest.mark.matrix
@pytest.mark.parametrize("call", [one.name for one in DESIGN.interface.calls])
def test_calls_of_another_scheme_are_refused(lattice, call):
    """Also those that need no slot; the next call is right."""
    own, other = (ML_KEM, ML_DSA) if call.startswith("ML_KEM") else (ML_DSA, ML_KEM)
    lattice.driver.wipe()
    lattice.device.give_random(bytes(96))
    assert lattice.start(call, other) == Error.OPERAND_MISSING
    assert lattice.driver.complete() == frozenset()
    with pytest.raises(ValueError, match=f"{call} has the parameter sets"):
        lattice.driver.call(call, {}, parameter_set=other)
    lattice.driver.wipe()
    lattice.call("ML_KEM_DECAPSULATE", ML_KEM)
    lattice.call(call, own)


@pytest.mark.matrix
def test_a_call_that_is_given_up(lattice):
    """By a wipe, at any moment; afterwards nothing is complete, and calls of both are right."""
    driver = lattice.driver
    for call, name, waits in (
        ("ML_DSA_SIGN", ML_DSA, (0, 100, 3000, 40_000)),
        ("ML_KEM_DECAPSULATE", ML_KEM, (0, 100, 7000)),
    ):
        values = inputs(lattice.interface.call[call], name)
        for wait in waits:
            driver.load(values, parameter_set=name)
            lattice.device.write32(registers.COMMAND.address, lattice.interface.call[call].code)
            lattice.device.run(wait)
            assert registers.STATUS["BUSY"].of(lattice.device.read32(registers.STATUS.address))
            driver.wipe()
            assert driver.complete() == frozenset()
        lattice.call("ML_KEM_ENCAPSULATE", ML_KEM)
        lattice.call("ML_DSA_VERIFY", ML_DSA)


def faulty(choice):
    return FaultyDevice(kept_accelerator(choice), choice.module_name)


class Campaign(Lattice):
    """Calls with bits that flip, on an engine whose secrets stay."""

    def __init__(self):
        super().__init__(faulty, secrets="stay")
        self.bytes, self.samples, *self.polynomials = (
            self.memory(part)
            for part in (
                "engine.memory.",
                "engine.samples.",
                "engine.arithmetic.datapath.memory",
                "engine.large_arithmetic.datapath.memory",
            )
        )

    def memory(self, part):
        """The memory whose path has this part."""
        registers_ = self.device.registers.items()
        (found,) = [one for name, one in registers_ if one.is_memory and part in name]
        return found

    def address(self, slot, name, word):
        """In the byte memory, of a word of a slot."""
        place = self.choice.design.programs.slots[slot]
        number = self.interface.set_number(name)
        return place.addresses[number] + word % place.words[number]

    def outcome(self, call, name, memory, word, after):
        """The error, if a bit flips so many cycles after the start, or the outputs."""
        self.driver.load(inputs(self.interface.call[call], name), parameter_set=name)
        self.device.call_at(
            self.device.cycles + 40 + after, lambda: self.device.flip(memory, word, 3)
        )
        try:
            return self.driver.call(call, {}, parameter_set=name).outputs
        except EngineError as error:
            return error.code

    def assert_cleared(self):
        assert self.driver.complete() == frozenset()
        for memory in (self.bytes, self.samples, *self.polynomials):
            assert not any(self.device.peek(memory, word) for word in range(memory.words))


@pytest.fixture(scope="module")
def campaign():
    made = Campaign()
    with made.device:
        yield made


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("call", "name", "outputs", "secrets"),
    [
        ("ML_KEM_DECAPSULATE", ML_KEM, set(), {"dk", "key"}),
        ("ML_DSA_SIGN", ML_DSA, {"signature"}, {"sk"}),
    ],
)
def test_secrets_stay_and_a_wipe_clears_everything(campaign, call, name, outputs, secrets):
    """They are complete, in memories that are not empty; no word of them can be read."""
    driver, device, interface = campaign.driver, campaign.device, campaign.interface
    values = inputs(interface.call[call], name)
    assert set(driver.call(call, values, parameter_set=name).outputs) == outputs
    assert secrets <= driver.complete()
    for slot in secrets:
        device.write32(registers.SLOT.address, interface.slot[slot].number)
        assert device.read32(registers.SLOT_LENGTH.address) == 0
        assert device.read32(registers.DATA_WINDOW.address) == 0
        device.write32(registers.ERROR.address, 0)
    number = call.startswith("ML_DSA")
    for memory in (campaign.bytes, campaign.polynomials[number]):
        assert any(device.peek(memory, word) for word in range(memory.words))
    driver.wipe()
    campaign.assert_cleared()


@pytest.mark.matrix
def test_a_bit_that_flips_ends_with_fault(campaign):
    """Of bytes and of polynomials of either scheme; afterwards calls are right."""
    ciphertext = campaign.address("c", ML_KEM, 100)
    t0 = campaign.address("sk", ML_DSA, -5)
    small, large = campaign.polynomials
    for call, name, memory, word, after in (
        ("ML_KEM_DECAPSULATE", ML_KEM, campaign.bytes, ciphertext, 5000),
        ("ML_KEM_DECAPSULATE", ML_KEM, small, 5, 4000),
        ("ML_DSA_SIGN", ML_DSA, campaign.bytes, t0, 40_000),
        ("ML_DSA_SIGN", ML_DSA, large, 2 * 8 * 256 + 3, 40_000),
    ):
        assert campaign.outcome(call, name, memory, word, after) is Error.FAULT
        campaign.assert_cleared()
    for call, name in (("ML_KEM_DECAPSULATE", ML_KEM), ("ML_DSA_VERIFY", ML_DSA)):
        values = inputs(campaign.interface.call[call], name)
        campaign.driver.call(call, values, parameter_set=name)
