"""Bits that flip while the compact engine works; bench/faults.py tells what becomes of them."""

import random

import pytest

from bench.faults import Campaign, Flip, Outcome, Place, main
from coprime.bus.gearbox import LENGTH_BITS
from coprime.catalog import choose
from coprime.device.accelerator import Accelerator
from coprime.device.jobs import EngineError
from coprime.engine.contract import Command, Error, Operand
from coprime.program.operands import Scratch

CHOICE = choose("compact", {"max_bits": "64"})
COUNT_BITS = CHOICE.design.capabilities.count_bits
CHECKED = Operand.E in CHOICE.design.capabilities.required[Command.RSA_PRIVATE]
"""Whether RSA_PRIVATE looks at its result before it can be read: with the public exponent."""


@pytest.fixture(scope="module")
def private():
    campaign = Campaign.of_private(CHOICE, 64, seed=2)
    yield campaign
    campaign.device.close()


@pytest.fixture(scope="module")
def power():
    """MODEXP, which has nothing to be checked with."""
    m, e = (1 << 64) - 59, 65537
    campaign = Campaign(
        CHOICE,
        Command.MODEXP,
        lambda accelerator, x: accelerator.modexp(x, e, m),
        x=random.Random(1).randrange(m),
        power=lambda x: pow(x, e, m),
        e=1,
        m=m,
    )
    yield campaign
    campaign.device.close()


def test_places(private):
    """Every register and every memory is in one of them; the engine's banks are its memory."""
    every = sum(one.width * one.words for one in private.device.registers.values())
    assert sum(map(private.bits, Place)) == every
    assert private.bits(Place.MEMORY) >= 2 * 17 * CHOICE.design.layout.depth
    assert private.bits(Place.REGISTERS) > 500


def test_flips_are_drawn_from_the_whole_operation(private):
    for place in Place:
        flips = private.draw(place, 2000, seed=1)
        assert flips == private.draw(place, 2000, seed=1) != private.draw(place, 2000, seed=2)
        cycles = [flip.cycle for flip in flips]
        assert min(cycles) < 0.01 * private.cycles
        assert 0.99 * private.cycles < max(cycles) < private.cycles


def test_a_bit_that_does_nothing(private):
    """The front end's count of products."""
    (run,) = private.run([Flip(100, "front_end.status.products", 0, 31)])
    assert (run.outcome, run.reveals) == (Outcome.RIGHT, False)


def test_x_in_memory(private):
    """Whoever changes X before it is read gets the right result for another X."""
    right = {word: one.name for one, word in private._words_of_x}
    assert len(right) == len(private._digits)
    flips = [Flip(0, name, word, bit) for word, name in right.items() for bit in (0, 5)]
    runs = [run for run in private.run(flips) if run.outcome is not Outcome.ERROR]
    assert {run.outcome for run in runs} == {Outcome.OTHER_MESSAGE}
    first = min(right)
    for run in runs:
        place = 17 * (run.flip.word - first) + run.flip.bit
        assert run.value == private._power(private._x ^ 1 << place)
    assert len(runs) >= 3 * 2  # what lies above the modulus may be out of range


def test_no_end(private):
    limit = private.device.cycle_limit
    private.device.cycle_limit = 10
    (run,) = private.run([Flip(100, "front_end.status.products", 0, 31)])
    private.device.cycle_limit = limit
    assert (run.outcome, run.value) == (Outcome.HANG, None)


def layout_word(slot, digit, choice=CHOICE):
    """Name of the bank, and the word of a slot's digit."""
    layout = choice.design.layout
    side = "right" if layout.lies_right(slot) else "left"
    return f"engine.lane.{side}.memory", layout.bases[slot] + digit


@pytest.mark.parametrize("slot", [Scratch.RESULT, Scratch.SUM])
@pytest.mark.parametrize("digit", [0, 3])
def test_after_the_check(private, slot, digit):
    """The result or what was checked, in the engine's last cycle: seen as the result is read."""
    name, word = layout_word(slot, digit)
    (run,) = private.run([Flip(private.cycles - 1, name, word, 5)])
    assert (run.outcome, run.error) == (Outcome.ERROR, Error.FAULT)
    assert is_wiped(private.device)
    with pytest.raises(EngineError) as raised:
        Accelerator(private.device)._execute(Command.RSA_PRIVATE)
    assert raised.value.code is Error.OPERAND_MISSING


@pytest.mark.slow
def test_after_the_check_of_a_last_bit():
    """256 bits are 8 words and 15 digits and a bit: nothing comes sooner behind the last digit."""
    choice = choose("compact", {"max_bits": "256"})
    campaign = Campaign.of_private(choice, 256, seed=2)
    with campaign.device:
        for slot in (Scratch.RESULT, Scratch.SUM):
            name, word = layout_word(slot, 15, choice)
            (run,) = campaign.run([Flip(campaign.cycles - 1, name, word, 0)])
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
    for cycle in (private.cycles // 3, private.cycles - 200, private.cycles - 1):
        (run,) = private.run([Flip(cycle, name, 0, bit)])
        assert run.outcome is not Outcome.RIGHT
        assert (run.value, run.reveals) == (None, False)
        if cycle == private.cycles - 1:
            assert run.error is Error.FAULT
            assert is_wiped(private.device)


def is_wiped(device):
    """Nothing is left in any memory, but for what the multiplier works with."""
    names = ("engine.lane.left.memory", "engine.lane.right.memory", "front_end.buffer.memory")
    memories = [device.registers[name] for name in names]
    return not any(device.peek(one, word) for one in memories for word in range(one.words))


@pytest.mark.parametrize("place", [Place.REGISTERS, Place.MEMORY])
def test_wrong_results_are_found(power, place):
    runs = list(power.run(power.draw(place, 150, seed=1)))
    wrong = [run for run in runs if run.outcome is Outcome.WRONG]
    assert wrong
    assert power._power(power._x) not in {run.value for run in wrong}
    assert any(run.outcome is Outcome.RIGHT for run in runs)


def test_runs_do_not_depend_on_each_other(private):
    """Each flip by itself leads to what it leads to among others."""
    flips = [flip for place in Place for flip in private.draw(place, 10, seed=3)]
    together = list(private.run(flips))
    assert together == [run for flip in sorted(flips) for run in private.run([flip])]


@pytest.mark.parametrize("place", [Place.REGISTERS, Place.MEMORY])
def test_wrong_signature(private, place):
    """None comes out where it is checked; where it is not, one is enough to have the key."""
    runs = list(private.run(private.draw(place, 200, seed=1)))
    wrong = [run for run in runs if run.outcome is Outcome.WRONG]
    assert any(run.reveals for run in wrong) != CHECKED
    if CHECKED:
        assert not wrong
        assert any(run.outcome is Outcome.ERROR for run in runs)


@pytest.mark.slow
@pytest.mark.skipif(not CHECKED, reason="RSA_PRIVATE gives its result without a check")
@pytest.mark.parametrize(("bits", "flips"), [(128, 5000), (1024, 200)])
def test_campaign(bits, flips):
    assert main(["compact", "--bits", str(bits), "--flips", str(flips), "--list"]) == 0
