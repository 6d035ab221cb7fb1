"""Single bits that change during a call: they end it with FAULT and cleared memories, or the key is
that of a refused ciphertext, or nothing is affected."""

import random

import pytest

from coprime.bus import registers
from coprime.catalog import choose_calls
from coprime.device.base import InterruptTimeout
from coprime.device.calls import CallAccelerator
from coprime.device.faulty import FaultyDevice
from coprime.device.jobs import EngineError
from coprime.engine.capabilities import Error
from coprime.flow.parts import accelerator_verilog
from coprime.lattice.interface import BY_NAME, DECAPSULATE_CODE
from coprime.model.lattice import ml_kem_standard as standard

pytestmark = pytest.mark.fuzz

SEED = 19
NAME = "ML-KEM-512"
CYCLES = 100_000
"""More than a call takes: it has no end."""


class Campaign:
    """Decapsulations of one ciphertext, genuine or altered, from the same saved state."""

    def __init__(self):
        choice = choose_calls("lattice", {"sets": NAME.lower()})
        self.device = FaultyDevice(
            accelerator_verilog(choice), choice.module_name, cycle_limit=CYCLES
        )
        self.driver = CallAccelerator(self.device, choice.design.interface)
        generator = random.Random(SEED)
        one = BY_NAME[NAME]
        ek, dk = standard.key_pair(one, generator.randbytes(32), generator.randbytes(32))
        self.key, c = standard.encapsulate(one, ek, generator.randbytes(32))
        altered = bytes([c[0] ^ 1]) + c[1:]
        self.genuine = {"dk": dk, "c": c}
        self.altered = {"dk": dk, "c": altered}
        self.refusal = standard.decapsulate(one, dk, altered)

    def run(self, values, after, *flips):
        """The key, or the error; None, and a reset, if the call has no end. Flips, each of a
        register, a word and a bit, come so many cycles after the start."""
        device, driver = self.device, self.driver
        driver.load(values, parameter_set=NAME)

        def change():
            for name, word, bit in flips:
                device.flip(device.registers[name], word, bit)

        device.call_at(device.cycles + 40 + after, change)
        try:
            result = driver.call("ML_KEM_DECAPSULATE", {}, parameter_set=NAME)
        except EngineError as error:
            return error.code
        except InterruptTimeout:
            device.reset()
            return None
        return result.outputs["key"]

    def memory(self, *parts):
        """The name of the memory whose path has these parts."""
        found = [
            name
            for name, one in self.device.registers.items()
            if one.is_memory and all(part in name for part in parts)
        ]
        assert len(found) == 1, found
        return found[0]


@pytest.fixture(scope="module")
def campaign():
    made = Campaign()
    with made.device:
        yield made


def test_without_faults(campaign):
    assert campaign.run(campaign.genuine, 0) == campaign.key
    assert campaign.run(campaign.altered, 0) == campaign.refusal


def cleared(campaign):
    """Nothing is complete, and the memories hold zeros."""
    device = campaign.device
    assert campaign.driver.complete() == frozenset()
    for name in (
        campaign.memory("arithmetic.datapath.memory"),
        campaign.memory("engine.memory"),
    ):
        memory = device.registers[name]
        assert not any(device.peek(memory, word) for word in range(memory.words))


def test_polynomials_have_parity(campaign):
    """The accumulator and the vector, while they are used."""
    name = campaign.memory("arithmetic.datapath.memory")
    generator = random.Random(SEED)
    faults = 0
    for _ in range(12):
        word = generator.choice((0, 128, 768)) + generator.randrange(128)
        after = generator.randrange(1500, 15_000)
        found = campaign.run(campaign.altered, after, (name, word, generator.randrange(27)))
        assert found in (Error.FAULT, campaign.refusal)
        if found is Error.FAULT:
            faults += 1
            cleared(campaign)
    assert faults > 6


def test_bytes_have_parity(campaign):
    """Those of the ciphertext, until they are compared."""
    name = campaign.memory("engine.memory")
    places = campaign.driver.interface
    assert places.slot["c"].length(0) == 768
    generator = random.Random(SEED)
    design = choose_calls("lattice", {"sets": NAME.lower()}).design
    start = design.programs.slots["c"].addresses[0]
    for _ in range(6):
        word = start + generator.randrange(160)
        after = generator.randrange(3000, 8000)
        found = campaign.run(campaign.altered, after, (name, word, generator.randrange(33)))
        assert found is Error.FAULT
        cleared(campaign)


def registers_named(campaign, end):
    found = [name for name in campaign.device.registers if name.endswith(end)]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.matrix
def test_comparisons_are_counted_and_complementary(campaign):
    streams = "arithmetic.datapath.streams."
    for end, bit in (("differs", 0), ("agrees", 0), *(("compared", bit) for bit in range(11))):
        name = registers_named(campaign, streams + end)
        # After the first comparisons, which have found the difference.
        assert campaign.run(campaign.altered, 11_000, (name, 0, bit)) is Error.FAULT, end
        cleared(campaign)


def test_a_decision_that_is_not_made_keeps_the_one_before(campaign):
    """The register itself: what a single bit of it gives is the refused key, or is not altered."""
    name = registers_named(campaign, "arithmetic.sequencer.genuine")
    for after in (1000, 8000, 15_000):
        assert campaign.run(campaign.altered, after, (name, 0, 0)) == campaign.refusal


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    ("end", "bit"),
    [
        ("engine.fsm_state", 0),  # RUN becomes REFUSE
        ("arithmetic.sequencer.fsm_state", 0),
        ("arithmetic.sequencer.fsm_state", 1),
        ("engine.memory.cleared", 0),  # it clears, or not any more
    ],
)
def test_a_call_that_ends_without_a_decision(campaign, end, bit):
    """That of the call before does not count, and no key of zeros is read."""
    name = registers_named(campaign, end)
    for after in range(7000, 14_000, 997):
        assert campaign.run(campaign.genuine, 0) == campaign.key
        found = campaign.run(campaign.altered, after, (name, 0, bit))
        # A side whose state is none of its states waits for ever.
        ends = (Error.FAULT, campaign.refusal)
        assert found in (*ends, None) if end.startswith("arithmetic") else found in ends
    assert found is Error.FAULT or end.startswith("arithmetic")  # which may only be delayed
    if found is Error.FAULT:
        cleared(campaign)


def result_after(campaign, monkeypatch, values, *flips):
    """The key, or the error, of a call with flips between its end and the reading."""
    device, driver = campaign.device, campaign.driver
    fetch = driver._fetch

    def changed(slot):
        for name, word, bit in flips:
            device.flip(device.registers[name], word, bit)
        return fetch(slot)

    with monkeypatch.context() as patched:
        patched.setattr(driver, "_fetch", changed)
        try:
            return driver.call("ML_KEM_DECAPSULATE", values, parameter_set=NAME).outputs["key"]
        except EngineError as error:
            return error.code


@pytest.mark.parametrize("rail", ["genuine", "altered"])
def test_a_decision_that_changes_after_it_was_made(campaign, monkeypatch, rail):
    """The key can then not be read."""
    name = registers_named(campaign, f"arithmetic.sequencer.{rail}")
    for values in (campaign.genuine, campaign.altered):
        assert result_after(campaign, monkeypatch, values, (name, 0, 0)) is Error.FAULT
        assert campaign.driver.complete() == frozenset()


@pytest.mark.parametrize("word", [0, 3, 7])
def test_a_key_that_changes_before_it_is_read(campaign, monkeypatch, word):
    """It does not leave, and the memories are cleared. The next call is right."""
    name = campaign.memory("engine.memory")
    design = choose_calls("lattice", {"sets": NAME.lower()}).design
    start = design.programs.slots["key"].addresses[0]
    for bit in (0, 31, 32):
        flip = name, start + word, bit
        assert result_after(campaign, monkeypatch, campaign.genuine, flip) is Error.FAULT
        cleared(campaign)
        assert result_after(campaign, monkeypatch, campaign.genuine) == campaign.key


def test_after_a_fault_the_next_call_is_right(campaign):
    name = registers_named(campaign, "arithmetic.datapath.streams.differs")
    assert campaign.run(campaign.altered, 11_000, (name, 0, 0)) is Error.FAULT
    code = registers.ERROR["CODE"].of(campaign.device.read32(registers.ERROR.address))
    assert code in (Error.FAULT, Error.NONE)
    assert campaign.run(campaign.genuine, 0) == campaign.key
    assert DECAPSULATE_CODE in {one.code for one in campaign.driver.interface.calls}
