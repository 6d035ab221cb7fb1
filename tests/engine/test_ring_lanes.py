"""Two lanes of ring: a fault in either one ends the operation in both, and wipes both."""

from collections import Counter
from types import SimpleNamespace

import pytest
from coprime_evidence.assess.campaign import Campaign
from coprime_evidence.assess.fault_kinds import FaultKind
from coprime_evidence.assess.faults import Fault
from coprime_evidence.assess.number_subject import NumberSubject
from coprime_evidence.assess.subject import Outcome

from coprime.bus import registers
from coprime.catalog import choose
from coprime.device.jobs import EngineError
from coprime.engine.contract import Command, Error, Operand
from coprime.operations.banked import Banked
from coprime.program.operands import Core, Mode
from coprime.program.steps import Next, StepKind
from coprime.rsa.keys import generate
from tests.benches import open_bench

pytestmark = [pytest.mark.xdist_group("lanes of ring"), pytest.mark.matrix]

CHOICE = choose("ring", {"max_bits": "64", "multipliers": "2"})
DESIGN = CHOICE.design
LAYOUT = DESIGN.layout
DIGITS, PRIME_DIGITS = (DESIGN.capabilities.digits(bits) for bits in (64, 32))
LANES = ("engine.lane", "engine.lane_1")
FLOW = ("fsm_state", "program_memory.pc", "program_memory.address")
MEMORIES = [f"{lane}.{side}.memory" for lane in LANES for side in ("left", "right")]


# --- Both lanes' programs -----------------------------------------------------------------------


def test_barriers():
    """They meet as often in either program, and a lane takes only what the other one writes."""

    def meetings(program):
        found = [[]]
        for step in program.steps:
            if step.kind is StepKind.BARRIER:
                found.append([])
                continue
            found[-1].append(step)
            if step.next is Next.BARRIER:
                found.append([])
        return found

    leading, second = map(meetings, DESIGN.programs)
    assert len(leading) == len(second) == 5
    for pairs in map(zip, leading, second):
        for number, (one, other) in enumerate(pairs):
            if Mode.OTHER in (one.x, other.x):
                assert (one.kind, one.modulus) == (other.kind, other.modulus)
                assert number < 4  # both have had as many cycles since they met
    assert len(DESIGN.programs[0].steps) <= 63  # with more the program memory is twice as large


# --- Keys that do not fit -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def bench():
    bench = open_bench("ring", max_bits=257, tile="adk2x16", multipliers=2)
    yield bench
    bench.device.close()


def some(firsts, seconds):
    """Each pair; in turn, those that run every time have each value of the longer list."""
    return [
        pytest.param(one, other, marks=[pytest.mark.fuzz] * (number % len(firsts) != k))
        for k, one in enumerate(firsts)
        for number, other in enumerate(seconds)
    ]


@pytest.mark.fuzz
@pytest.mark.parametrize(("p_bits", "wrong"), some([64, 50, 80], ["dp", "dq", "e", "n", "p", "q"]))
def test_cycles_to_a_fault(bench, p_bits, wrong):
    """Modulo which prime ever it is noticed, and whichever lane comes first, as predicted."""
    key = generate(128, p_bits=p_bits, seed=p_bits)
    names = ("n", "d", "p", "q", "dp", "dq", "e")
    numbers = SimpleNamespace(**{name: getattr(key, name) for name in names})
    setattr(numbers, wrong, getattr(key, wrong) ^ 2)
    bench.accelerator.load_private(numbers)
    with pytest.raises(EngineError) as caught:
        bench.accelerator.private(key.n // 3)
    job = bench.accelerator._private_job
    operands = {**job.operands, Operand.X: key.n // 3}
    predicted = bench.design.predict(Command.RSA_PRIVATE, operands, job.lengths)
    assert (caught.value.code, predicted.error) == (Error.FAULT, Error.FAULT)
    assert bench.device.read32(registers.CYCLES.address) == predicted.cycles
    bench.accelerator.load_private(key)
    assert bench.accelerator.private(5).value == pow(5, key.d, key.n)


# --- Faults -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def campaign():
    with Campaign(NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=21)) as found:
        yield found


@pytest.fixture(scope="module")
def busy(campaign):
    """The cycles in which the engine works: those of the front end's most frequent state."""
    states = [step.split()[-1] for step in campaign.targets.steps]
    ((state, _),) = Counter(states).most_common(1)
    return [cycle for cycle, found in enumerate(states) if found == state]


def flip(campaign, cycle, name, bit=0, word=0):
    return campaign.run(Fault(kind=FaultKind.BIT, cycle=cycle, name=name, word=word, bit=bit))


def outcomes(campaign, cycles, name, words=(0,)):
    """Those of every bit of a register, or of words of a memory, in each of the cycles."""
    width = campaign.device.registers[name].width
    places = [(cycle, bit, word) for cycle in cycles for word in words for bit in range(width)]
    runs = [flip(campaign, cycle, name, bit, word) for cycle, bit, word in places]
    assert not [str(run.fault) for run in runs if run.outcome is Outcome.WRONG]
    return {run.outcome for run in runs}


def is_wiped(device):
    memories = [device.registers[name] for name in MEMORIES]
    return not any(device.peek(one, word) for one in memories for word in range(one.words))


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("lane", "operand"),
    some(LANES, [Operand.X, Operand.P, Operand.Q, Operand.DP, Operand.DQ]),
)
def test_operands(campaign, busy, lane, operand):
    """A lane reads those of its prime; what is wrong in one ends both, and both are wiped."""
    read = {Operand.P, Operand.DP} if lane == LANES[0] else {Operand.Q, Operand.DQ}
    for word in range(DIGITS if operand is Operand.X else PRIME_DIGITS):
        place = LAYOUT.bases[operand] + word
        run = flip(campaign, busy[0], f"{lane}.left.memory", bit=1, word=place)
        assert run.outcome in (Outcome.ERROR, Outcome.RIGHT)
        if run.error is Error.FAULT:
            assert is_wiped(campaign.device)
        elif word == 0 and (operand is Operand.X or operand in read):
            pytest.fail(f"{operand.name} of {lane} is wrong, and {run.outcome}")


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("every", [1201, pytest.param(301, marks=pytest.mark.fuzz)])
@pytest.mark.fuzz
def test_what_is_checked(campaign, busy, lane, every):
    """SUM in either lane, and the copy of it, in the last third of the operation."""
    for location in (Core.SUM, Core.SUM_COPY, Banked.FACTOR):
        words = [LAYOUT.bases[location] + word for word in range(DIGITS)]
        cycles = busy[len(busy) * 2 // 3 :: every]
        outcomes(campaign, cycles, f"{lane}.right.memory", words)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("lane", "name"),
    some(LANES, [*FLOW, "proof.passed", "proof.began", "step", "code"]),
)
@pytest.mark.parametrize("every", [1688, pytest.param(211, marks=pytest.mark.fuzz)])
def test_flow(campaign, busy, lane, name, every):
    """Wherever a lane goes: no result but the right one."""
    (found,) = [one for one in campaign.device.registers if one == f"{lane}.sequencer.{name}"]
    outcomes(campaign, [*busy[::every], *busy[-30::3]], found)


@pytest.mark.parametrize("lane", LANES)
def test_no_proof_in_the_end(campaign, busy, lane):
    """Without the proof of one lane there is no result, and neither lane keeps anything."""
    for bit in range(2):
        run = flip(campaign, busy[-2], f"{lane}.sequencer.proof.passed", bit=bit)
        assert (run.outcome, run.error) == (Outcome.ERROR, Error.FAULT)
        assert is_wiped(campaign.device)


@pytest.mark.fuzz
def test_flips_anywhere(campaign):
    drawn = (campaign.targets.draw(FaultKind.BIT, number, seed=3) for number in range(300))
    runs = [campaign.run(fault) for fault in drawn if fault.name.startswith("engine.")]
    assert not [str(run.fault) for run in runs if run.outcome is Outcome.WRONG]
    assert {run.outcome for run in runs} >= {Outcome.RIGHT, Outcome.ERROR}


def test_wipe():
    """The command, after an operation and with its key in both memories."""
    with Campaign(NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=21)) as campaign:
        device = campaign.device
        assert not is_wiped(device)
        device.write32(registers.INTERRUPT_STATUS.address, 1)
        device.write32(registers.COMMAND.address, Command.WIPE)
        device.wait_interrupt()
        device.run(2)  # a word is written two cycles after it is asked for; none can be read before
        assert is_wiped(device)
