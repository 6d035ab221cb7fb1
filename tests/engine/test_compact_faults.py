"""Bits that flip while the compact engine works, and what an application gets then."""

from collections import Counter

import pytest
from coprime_evidence.assess.campaign import Campaign
from coprime_evidence.assess.fault_kinds import FaultKind
from coprime_evidence.assess.faults import Fault
from coprime_evidence.assess.number_subject import NumberSubject
from coprime_evidence.assess.subject import Outcome

from coprime.bus.gearbox import LENGTH_BITS
from coprime.catalog import choose
from coprime.device.accelerator import Accelerator
from coprime.device.jobs import EngineError
from coprime.engine.contract import Command, Error
from coprime.program.operands import Core

pytestmark = pytest.mark.xdist_group("faults of compact")

CHOICE = choose("compact", {"max_bits": "64"})
COUNT_BITS = CHOICE.design.capabilities.count_bits


@pytest.fixture(scope="module")
def private():
    with Campaign(NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=2)) as campaign:
        yield campaign


@pytest.fixture(scope="module")
def power():
    """MODEXP, which has nothing to be checked with."""
    with Campaign(NumberSubject(CHOICE, Command.MODEXP, 64, seed=1)) as campaign:
        yield campaign


def engine_cycles(campaign):
    """The cycles in which the engine works: those of the front end's most frequent state."""
    states = [step.split()[-1] for step in campaign.targets.steps]
    ((busy, _),) = Counter(states).most_common(1)
    cycles = [cycle for cycle, state in enumerate(states) if state == busy]
    assert cycles == list(range(cycles[0], cycles[-1] + 1))
    return range(cycles[0], cycles[-1] + 1)


def flip(campaign, cycle, name, word=0, bit=0):
    return campaign.run(Fault(kind=FaultKind.BIT, cycle=cycle, name=name, word=word, bit=bit))


def test_the_state_of_the_front_end(private):
    """No bit of it gives a result: what is wiped ends as a WIPE, however the wipe began."""
    cycles = range(len(private.targets.steps))[-160::3]
    found = Counter(
        flip(private, cycle, "front_end.control.fsm_state", bit=bit).outcome
        for cycle in cycles
        for bit in range(4)
    )
    assert not found[Outcome.WRONG] and found[Outcome.ERROR]


def test_a_bit_that_does_nothing(private):
    """The front end's count of products."""
    run = flip(private, 100, "front_end.status.products", bit=31)
    assert (run.outcome, run.reveals) == (Outcome.RIGHT, False)


def layout_word(slot, digit, choice=CHOICE):
    """Name of the bank, and the word of a slot's digit."""
    layout = choice.design.layout
    side = "right" if layout.lies_right(slot) else "left"
    return f"engine.lane.{side}.memory", layout.bases[slot] + digit


@pytest.mark.parametrize("slot", [Core.RESULT, Core.SUM])
@pytest.mark.parametrize("digit", [0, 3])
def test_after_the_check(private, slot, digit):
    """The result or what was checked, in the engine's last cycle: seen as the result is read."""
    name, word = layout_word(slot, digit)
    run = flip(private, engine_cycles(private)[-1], name, word, 5)
    assert (run.outcome, run.error) == (Outcome.ERROR, Error.FAULT)
    assert is_wiped(private.device)
    with pytest.raises(EngineError) as raised:
        Accelerator(private.device)._execute(Command.RSA_PRIVATE)
    assert raised.value.code is Error.OPERAND_MISSING


@pytest.mark.fuzz
def test_after_the_check_of_a_last_bit():
    """256 bits are 8 words and 15 digits and a bit: nothing comes sooner behind the last digit."""
    choice = choose("compact", {"max_bits": "256"})
    with Campaign(NumberSubject(choice, Command.RSA_PRIVATE, 256, seed=2)) as campaign:
        for slot in (Core.RESULT, Core.SUM):
            name, word = layout_word(slot, 15, choice)
            run = flip(campaign, engine_cycles(campaign)[-1], name, word, 0)
            assert (run.outcome, run.error) == (Outcome.ERROR, Error.FAULT)


@pytest.mark.parametrize(
    ("name", "bit"),
    [
        ("front_end.operands.state__lengths", 0),  # of the modulus
        ("front_end.operands.state__lengths", 2 * LENGTH_BITS + 2),  # of P
        ("front_end.operands.state__lengths", LENGTH_BITS + 15),  # of E
        ("front_end.operands.state__counts", 2 * COUNT_BITS + 1),  # of P
        ("front_end.operands.state__counts", 3 * COUNT_BITS),  # of Q
        ("front_end.operands.state__counts", 1),  # of the modulus
        ("front_end.control.operand", 1),
    ],
)
def test_lengths(private, name, bit):
    """What the engine works with, or how long a result is: no result, however it comes out."""
    busy = engine_cycles(private)
    for cycle in (busy[len(busy) // 3], busy[-200], busy[-1]):
        run = flip(private, cycle, name, bit=bit)
        assert run.outcome in (Outcome.ERROR, Outcome.NO_END)
        if cycle == busy[-1]:
            assert run.error is Error.FAULT
            assert is_wiped(private.device)


def is_wiped(device):
    """Nothing is left in any memory, but for what the multiplier works with."""
    names = ("engine.lane.left.memory", "engine.lane.right.memory", "front_end.buffer.memory")
    memories = [device.registers[name] for name in names]
    return not any(device.peek(one, word) for one in memories for word in range(one.words))


def draw(campaign, count):
    """Flips in the engine."""
    drawn = (campaign.targets.draw(FaultKind.BIT, number, seed=1) for number in range(2 * count))
    return [fault for fault in drawn if fault.name.startswith("engine.")][:count]


def test_wrong_results_are_found(power):
    runs = [power.run(fault) for fault in draw(power, 300)]
    wrong = [run for run in runs if run.outcome is Outcome.WRONG]
    assert wrong
    right = {run.value for run in runs if run.outcome is Outcome.RIGHT}
    assert len(right) == 1
    assert right.isdisjoint(run.value for run in wrong)


def test_wrong_signature(private):
    """None comes out of the engine where it is checked."""
    runs = [private.run(fault) for fault in draw(private, 400)]
    assert {run.outcome for run in runs} >= {Outcome.RIGHT, Outcome.ERROR}
    assert not [run for run in runs if run.outcome is Outcome.WRONG]
