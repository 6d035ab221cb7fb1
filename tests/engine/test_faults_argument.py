"""Each statement of docs/faults.md: a flip of exactly that kind gives no wrong result.

The operation is RSA_PRIVATE of 64 bits. A step is named by the program's note of it, and a prime.
"""

import re
from itertools import combinations
from pathlib import Path

import pytest
from coprime_evidence.assess.campaign import Campaign
from coprime_evidence.assess.fault_kinds import FaultKind
from coprime_evidence.assess.faults import Fault
from coprime_evidence.assess.number_subject import NumberSubject
from coprime_evidence.assess.subject import Outcome

from coprime.catalog import choose
from coprime.engine.contract import Command, Error
from coprime.operations.encodings.rsa_key import key_numbers
from coprime.program.operands import Context, Core, Operand
from coprime.program.steps import StepKind
from coprime.rsa.keys import RsaPrivateKey
from coprime.rsa.primes import is_prime

pytestmark = [pytest.mark.xdist_group("faults, argument"), pytest.mark.fuzz]

CHOICE = choose("compact", {"max_bits": "64"})
DESIGN = CHOICE.design
LAYOUT = DESIGN.layout
STEPS = DESIGN.programs[0].steps
WIDTH = DESIGN.capabilities.digit_width
DIGITS, PRIME_DIGITS = (DESIGN.capabilities.digits(bits) for bits in (64, 32))
LANE = "engine.lane"
LEFT, RIGHT = f"{LANE}.left.memory", f"{LANE}.right.memory"
STATE = f"{LANE}.sequencer.fsm_state"


@pytest.fixture(scope="module")
def campaign():
    with Campaign(NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=21)) as found:
        yield found


@pytest.fixture(scope="module")
def visits(campaign):
    return visits_of(campaign)


def visits_of(campaign):
    """Of each visit of a step, in its order: its place in the program, its prime, its cycles."""
    found = []
    for cycle, step in enumerate(campaign.targets.steps):
        context, address = map(int, step.split()[-3:-1])
        if step.startswith("wait_interrupt") and address:
            if not found or found[-1][:2] != (address - 1, context):
                found.append((address - 1, context, []))
            found[-1][2].append(cycle)
    return found


def first(visits, kind_or_note, context=None):
    """The cycles of the first visit of a step: its last one is the FETCH of the next."""
    return next(
        cycles
        for place, found, cycles in visits
        if kind_or_note in (STEPS[place].kind, STEPS[place].note) and context in (None, found)
    )


def flip(campaign, cycle, name, bit=0, word=0):
    return campaign.run(Fault(kind=FaultKind.BIT, cycle=cycle, name=name, word=word, bit=bit))


def outcomes(campaign, cycles, name, words=(0,)):
    """Those of every bit of a register, or of words of a memory, in each of the cycles."""
    width = campaign.device.registers[name].width
    runs = [
        flip(campaign, cycle, name, bit, word)
        for cycle in cycles
        for word in words
        for bit in range(width)
    ]
    assert not [str(run.fault) for run in runs if run.outcome is Outcome.WRONG]
    return {run.outcome for run in runs}


def pairs(campaign, cycle, name):
    """The outcomes of every two bits of a register."""
    faults = (
        Fault(kind=FaultKind.TWO_BITS, cycle=cycle, name=name, bit=bit, other=other)
        for bit, other in combinations(range(campaign.device.registers[name].width), 2)
    )
    return {campaign.run(fault).outcome for fault in faults}


def prime_from(start, step):
    return next(p for p in range(start, 1 << 32, step) if is_prime(p, 20) and p % 65537 != 1)


def words_of(location, digits):
    return range(LAYOUT.bases[location], LAYOUT.bases[location] + digits)


def named(campaign, *ends):
    names = [name for name in campaign.device.registers if name.endswith(ends)]
    assert names
    return names


# --- Before the moment --------------------------------------------------------------------------


def test_x_in_memory(campaign, visits):
    for cycles in visits[0][2], first(visits, "FACTOR = X", Context.P), first(visits, "S < M?"):
        found = outcomes(campaign, cycles[:1], LEFT, words_of(Operand.X, DIGITS))
        assert found == {Outcome.ERROR}


@pytest.mark.fuzz
def test_m_in_memory(campaign, visits):
    """In every step that computes S modulo M, and in the comparison with it."""
    start = first(visits, "modulo M from here on")[0]
    comparison = first(visits, StepKind.CHECK_REDUCED)[0]
    found = [cycles[0] for _, _, cycles in visits if start <= cycles[0] <= comparison]
    assert len(found) == 9
    assert Outcome.ERROR in outcomes(campaign, found, LEFT, words_of(Operand.M, DIGITS))


@pytest.mark.fuzz
def test_m_above_its_length():
    """With a key and an input where S needs the last subtraction: S + M is read without bit 64."""
    with Campaign(NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=108)) as campaign:
        visits = visits_of(campaign)
        cycles = range(first(visits, "... + S_q")[0], first(visits, "S < M?")[-1], 10)
        found = outcomes(campaign, cycles, LEFT, words_of(Operand.M, DIGITS))
        assert Outcome.ERROR in found


@pytest.mark.fuzz(quick=2)
@pytest.mark.parametrize(
    "operand",
    [Operand.P, Operand.Q, Operand.P_POWER, Operand.Q_POWER, Operand.DP, Operand.DQ, Operand.CRT_P],
)
def test_key_in_memory(campaign, visits, operand):
    digits = DIGITS if operand is Operand.CRT_P else PRIME_DIGITS
    found = outcomes(campaign, visits[0][2][:1], LEFT, words_of(operand, digits))
    # What lies above an exponent is not read.
    assert found == {Outcome.ERROR} or (operand.is_exponent and Outcome.ERROR in found)


def test_e_in_memory(campaign, visits):
    """Where it is loaded, and where it is kept."""
    for start, bank, location in (
        (visits[0], RIGHT, Operand.E),
        (visits[5], LEFT, Core.KEPT_E),
    ):
        words = words_of(location, 1)
        assert outcomes(campaign, start[2][:1], bank, words) == {Outcome.ERROR}


@pytest.mark.parametrize("prime", [Context.P, Context.Q])
def test_an_inverse_that_becomes_0(prime):
    """c = 1 of a prime that is -1 modulo 2^17: its lowest bit is the only one."""
    special = prime_from((3 << 30) - 1, 1 << WIDTH)
    other = prime_from((7 << 29) + 1, 2)
    primes = (special, other) if prime is Context.P else (other, special)
    key = RsaPrivateKey.from_primes(*primes, 65537)
    subject = NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=1)
    subject.__dict__["numbers"] = {"x": key.n // 3, **key_numbers(key)}
    with Campaign(subject) as campaign:
        run = flip(campaign, 10, RIGHT, 0, LAYOUT.bases[prime.inverse])
        assert (run.outcome, run.error) == (Outcome.ERROR, Error.FAULT)


COUNTERS = (
    *("linear_unit.index", "columns.next_written", "columns.column__written"),
    *("columns.column__k", "columns.column__ahead_index", "pairs.pair__i"),
)


@pytest.mark.fuzz(quick=2)
@pytest.mark.parametrize("counter", COUNTERS)
def test_a_counter_that_runs_on(campaign, visits, counter):
    """Every bit, in the middle of steps; X, the key and the inverses are as they were, or wiped."""
    (name,) = named(campaign, counter)
    contents = LAYOUT.places.contents.items()
    blocks = [
        place.block
        for place, pieces in contents
        if place.bank == 0 and all(isinstance(location, Operand) for location, _ in pieces)
    ]
    locked = [
        (LEFT, k)
        for block in blocks
        for k in range(LAYOUT.block * block, LAYOUT.block * (block + 1))
    ]
    locked += [(RIGHT, LAYOUT.bases[one.inverse]) for one in (Context.P, Context.Q, Context.WHOLE)]

    def words(device):
        return [device.peek(device.registers[bank], word) for bank, word in locked]

    with campaign.subject.open() as device:
        driver, _ = campaign.subject.prepare(device)
        campaign.subject.operate(driver)
        kept = words(device)
    assert any(kept)
    for cycles in {place: cycles for place, _, cycles in visits}.values():
        for bit in range(device.registers[name].width):
            run = flip(campaign, cycles[len(cycles) // 2], name, bit)
            assert run.outcome is not Outcome.WRONG, run.fault
            found = words(campaign.device)
            assert found == kept or not any(found)


@pytest.mark.fuzz
def test_the_program_counter(campaign, visits):
    """Every bit in the first and in the last cycle of each step."""
    cycles = [cycle for _, _, cycles in visits for cycle in (cycles[0], cycles[-1])]
    for name in named(campaign, "program_memory.pc", "program_memory.address"):
        assert Outcome.ERROR in outcomes(campaign, cycles, name)


@pytest.mark.fuzz
def test_the_step(campaign, visits):
    """Every bit of the step under way, once in each step of the program."""
    last = {place: cycles for place, _, cycles in visits}
    cycles = [cycles[len(cycles) // 2] for cycles in last.values()]
    (name,) = named(campaign, "sequencer.step")
    assert outcomes(campaign, cycles, name) == set(Outcome) - {Outcome.WRONG}


def test_states(campaign, visits):
    """Every bit of both state machines in every cycle around the moment, and in some of others."""
    moment = first(visits, StepKind.CHECK_REDUCED)
    last = visits[-1][2]
    for name in named(campaign, "sequencer.fsm_state", "linear_unit.fsm_state"):
        found = outcomes(campaign, [*visits[4][2], *moment, *last], name)
        assert found >= {Outcome.RIGHT, Outcome.ERROR}


@pytest.mark.parametrize("name", ["current_context.current", "windows.window", "scanner.public"])
def test_what_is_kept_from_step_to_step(campaign, visits, name):
    (found,) = named(campaign, name)
    outcomes(campaign, [cycles[0] for _, _, cycles in visits], found)


def test_two_slots_at_once(campaign, visits):
    """While the multiplier is idle, and in a product: as long as it lasts, nothing is proved."""
    idle = first(visits, StepKind.CHECK_REDUCED)[3]
    product = first(visits, "-S_q, times R_p")[30]
    names = named(campaign, *(f"control.slot__{slot}" for slot in ("idle", "ahead", "xy", "qm")))
    for name in names:
        assert flip(campaign, idle, name).outcome in (Outcome.ERROR, Outcome.NO_END)
        assert flip(campaign, product, name).outcome is not Outcome.WRONG


def test_lengths_and_command(campaign, visits):
    names = named(campaign, "operands.state__lengths", "operands.state__counts", "control.command")
    for name in names:
        for cycle in (10, visits[0][2][0], visits[-1][2][0]):
            for bit in range(campaign.device.registers[name].width):
                run = flip(campaign, cycle, name, bit)
                assert run.outcome in (Outcome.ERROR, Outcome.NO_END), run.fault


def test_two_bits_of_counts_and_command(campaign, visits):
    """Whichever two: the check of the result uses the counts, too."""
    names = named(campaign, "operands.state__counts", "control.command")
    for name in names:
        for cycle in (10, visits[-1][2][0]):
            found = pairs(campaign, cycle, name)
            assert found <= {Outcome.ERROR, Outcome.NO_END}


@pytest.mark.fuzz
def test_two_bits_of_lengths(campaign, visits):
    """Their parity does not see them. What an exponent's does is checked, and M's is compared."""
    (name,) = named(campaign, "operands.state__lengths")
    for cycle in (10, first(visits, "S < M?")[0], visits[-1][2][0]):
        assert Outcome.WRONG not in pairs(campaign, cycle, name)


@pytest.mark.fuzz
def test_x_on_its_way(campaign, visits):
    """The gearbox and its counters in each cycle of the input; the buffer before it."""
    begin = visits[0][2][0]
    names = named(campaign, "gearbox.digit_index", "gearbox.word_index", "ring.word", "ring.digit")
    names += named(campaign, "gearbox.place", "gearbox.full", "gearbox.empty", "fsm_state")
    for name in {name for name in names if name.startswith("front_end")}:
        outcomes(campaign, range(5, begin, 9), name)
    (buffer,) = named(campaign, "front_end.buffer.memory")
    assert outcomes(campaign, [4], buffer, (0, 1)) == {Outcome.ERROR}


# --- After the moment ---------------------------------------------------------------------------


def test_after_the_check(campaign, visits):
    """SUM, its copy, and the result in memory; the comparison as it is read."""
    moment, last = first(visits, "SUM_COPY = SUM"), visits[-1][2]
    for location in (Core.SUM, Core.SUM_COPY):
        for cycle in (moment[-1], last[0]):
            found = outcomes(campaign, [cycle], RIGHT, words_of(location, DIGITS))
            assert Outcome.ERROR in found
    words = words_of(Core.RESULT, DIGITS)
    assert Outcome.ERROR in outcomes(campaign, last[-1:], LEFT, words)
    for name in named(campaign, "result_check.fresh", "result_check.asked_1"):
        outcomes(campaign, range(last[-1], last[-1] + 60, 3), name)


def test_the_proof_itself(campaign, visits):
    (name,) = named(campaign, "proof.passed")
    cycles = [cycles[0] for _, _, cycles in visits]
    assert outcomes(campaign, cycles, name) == {Outcome.RIGHT, Outcome.ERROR}


def test_the_way_out(campaign, visits):
    """From the engine's end to the driver's last access."""
    end = range(visits[-1][2][-1], campaign.cycles)
    names = named(campaign, "gearbox.digit_index", "gearbox.word_index", "ring.word", "ring.digit")
    names += named(campaign, "status.output_length", "status.interrupt", "status.error")
    names += named(campaign, "status.busy", "read_2.answer", "residue_sum.total", "seal.kept")
    for name in {name for name in names if not name.startswith("engine.lane.mult")}:
        outcomes(campaign, end[::5], name)
    (buffer,) = named(campaign, "front_end.buffer.memory")
    words = range(campaign.device.registers[buffer].words)
    assert Outcome.ERROR in outcomes(campaign, [campaign.cycles - 45], buffer, words)


@pytest.mark.fuzz
def test_the_front_end(campaign):
    """Its state machine while input and output move, and in some cycles of the engine."""
    cycles = [*range(0, 100, 2), *range(100, campaign.cycles - 130, 211)]
    cycles += range(campaign.cycles - 130, campaign.cycles, 2)
    outcomes(campaign, cycles, "front_end.control.fsm_state")


@pytest.mark.fuzz
def test_flips_anywhere(campaign):
    faults = [campaign.targets.draw(FaultKind.BIT, number, seed=5) for number in range(1000)]
    runs = [campaign.run(fault) for fault in faults]
    assert not [str(run.fault) for run in runs if run.outcome is Outcome.WRONG]
    assert {run.outcome for run in runs} == set(Outcome) - {Outcome.WRONG}


def test_the_page_names_the_tests():
    page = (Path(__file__).parents[2] / "docs" / "faults.md").read_text("utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    assert named | {"test_the_page_names_the_tests"} == {
        name for name in globals() if name.startswith("test_")
    }
