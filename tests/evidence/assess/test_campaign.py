"""Faults and what becomes of them, on the smallest accelerator that checks its results."""

import random
from dataclasses import replace

import pytest
from coprime_evidence.assess import replay
from coprime_evidence.assess.campaign import Campaign
from coprime_evidence.assess.fault_kinds import FaultKind
from coprime_evidence.assess.faults import Fault
from coprime_evidence.assess.number_subject import NumberSubject
from coprime_evidence.assess.subject import Outcome

from coprime.catalog import choose
from coprime.engine.contract import Command, Error
from coprime.model.curve_points import signature

pytestmark = pytest.mark.xdist_group("campaign")

CHOICE = choose("compact", {"max_bits": "64"})
INERT = "front_end.status.products"
"""The count of products, on which no result depends."""


@pytest.fixture(scope="module")
def private():
    with Campaign(NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=2)) as campaign:
        yield campaign


def flip(cycle, name, word=0, bit=0):
    return Fault(kind=FaultKind.BIT, cycle=cycle, name=name, word=word, bit=bit)


def draws(campaign, kind, count, seed=1):
    return [campaign.targets.draw(kind, number, seed) for number in range(count)]


# --- Runs -----------------------------------------------------------------------------------------


@pytest.mark.matrix
def test_the_whole_operation_is_recorded(private):
    """From the write that starts it to the driver's last read; each cycle is in one access."""
    first = private._accesses[-1].end - private.cycles
    accesses = [one for one in private._accesses if one.begin >= first]
    assert accesses[0].call[:2] == ("write32", private.subject.start)
    assert {one.call[0] for one in accesses} >= {"wait_interrupt", "read_block"}
    assert sum(one.end - one.begin for one in accesses) == private.cycles
    assert len(private.targets.steps) == private.cycles


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("kind", FaultKind)
def test_the_start_of_a_run_changes_nothing(private, kind, monkeypatch):
    """A run has the same outcome if it is simulated from the first access on, and to its end."""
    faults = draws(private, kind, 40)
    short = [private.run(fault) for fault in faults]
    monkeypatch.setattr(replay.Replay, "_compare", lambda self, state: None)
    assert [private.run(fault) for fault in faults] == short
    early = [max(one.states[:1]) for one in private._accesses]
    monkeypatch.setattr(
        private,
        "_accesses",
        [
            replay.Access(one.call, one.answer, one.begin, one.end, [state])
            for one, state in zip(private._accesses, early, strict=True)
        ],
    )
    assert [private.run(fault) for fault in faults] == short


def test_runs_do_not_depend_on_each_other(private):
    faults = [fault for kind in FaultKind for fault in draws(private, kind, 8, seed=3)]
    forward = [private.run(fault) for fault in faults]
    assert [private.run(fault) for fault in reversed(faults)] == forward[::-1]


def test_right(private):
    """A bit without effect, which the driver reads in the end; and one whose trace is lost."""
    for cycle in (0, private.cycles // 2, private.cycles - 1):
        assert private.run(flip(cycle, INERT, bit=31)).outcome is Outcome.RIGHT


def test_error(private):
    """A flipped modulus: an error of the hardware."""
    lengths = flip(private.cycles // 2, "front_end.operands.state__lengths")
    run = private.run(lengths)
    assert (run.outcome, run.error, run.value) == (Outcome.ERROR, Error.FAULT, None)


def test_no_end(private):
    """The state machine of the front end is lost."""
    outcomes = {
        private.run(flip(private.cycles // 2, "front_end.control.fsm_state", bit=bit)).outcome
        for bit in range(4)
    }
    assert Outcome.NO_END in outcomes


def test_wrong():
    """MODEXP has nothing to be checked with, so some results are wrong; each has its value."""
    with Campaign(NumberSubject(CHOICE, Command.MODEXP, 64, seed=1)) as campaign:
        runs = [campaign.run(fault) for fault in draws(campaign, FaultKind.BIT, 300)]
    wrong = [run for run in runs if run.outcome is Outcome.WRONG]
    assert not campaign.subject.checked
    x, e, m = (campaign.subject.numbers[name] for name in "xem")
    assert wrong
    assert all(run.value not in (None, pow(x, e, m)) for run in wrong)
    assert all(run.value is None for run in runs if run.outcome is not Outcome.WRONG)


def test_reveals():
    """A result that is right modulo one prime only reveals the key."""
    subject = NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=2)
    numbers, verdicts = subject.numbers, subject.verdicts
    x, n, d = (numbers[name] for name in "xnd")
    right = pow(x, d, n)
    for wrong in ((right + numbers["p"]) % n, (right + 5 * numbers["q"]) % n):
        assert verdicts.reveals(wrong)
        assert not verdicts.is_of_another_input(wrong)
    for other in (right, (right + 1) % n, 0):
        assert not verdicts.reveals(other)


def test_another_input():
    """The result is right for an input that differs in some bits beside each other."""
    subject = NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=2)
    numbers, verdicts = subject.numbers, subject.verdicts
    x, n, d = (numbers[name] for name in "xnd")
    for difference in (1, 1 << 20, 0xF0001 << 9):
        other = pow(x ^ difference, d, n)
        assert verdicts.is_of_another_input(other)
        assert not verdicts.reveals(other)
    for other in (pow(x, d, n), pow(x ^ (1 << 40 | 1), d, n)):
        assert not verdicts.is_of_another_input(other)


@pytest.mark.parametrize("command", [Command.MODMUL, Command.MODEXP])
def test_an_operation_without_a_key_reveals_none(command):
    subject = NumberSubject(CHOICE, command, 64, seed=1)
    assert not subject.checked
    wrong = command.operation.expected(subject.numbers, 0) ^ 1
    assert not subject.verdicts.reveals(wrong)
    assert not subject.verdicts.is_of_another_input(wrong)


# --- Kinds ----------------------------------------------------------------------------------------


def states(campaign, fault):
    """The device's registers after each cycle from the fault on, with and without it."""
    device = campaign.device
    access = next(
        one
        for one in campaign._accesses
        if one.call == ("wait_interrupt",) and len(one.states) > 20
    )
    _, state = access.states[10]
    fault = Fault(**{**fault.__dict__, "cycle": 0})
    histories = []
    for struck in (False, True):
        device.restore(state)
        strike = fault.strike(device, campaign.targets)
        following = strike() if struck else None
        history = [device.save()]
        for passed in range(1, 80):
            device.run(1)
            if following == passed:
                following = strike()
            history.append(device.save())
        histories.append(history)
    return histories


def peeked(campaign, state, name, word=0):
    campaign.device.restore(state)
    return campaign.device.peek(campaign.device.registers[name], word)


def test_two_bits(private):
    fault = Fault(kind=FaultKind.TWO_BITS, cycle=0, name=INERT, bit=3, other=31)
    plain, struck = states(private, fault)
    before, after = (peeked(private, one[0], INERT) for one in (plain, struck))
    assert before ^ after == 1 << 31 | 1 << 3


def test_skip(private):
    counter = "engine.lane.sequencer.program_memory.address"
    plain, struck = states(private, Fault(kind=FaultKind.SKIP, cycle=0, name=counter))
    before, after = (peeked(private, one[0], counter) for one in (plain, struck))
    assert after == before + 1


def test_hold(private):
    """The component's registers are as they were, those of others have gone on."""
    fault = Fault(kind=FaultKind.HOLD, cycle=0, name="front_end.status")
    plain, struck = states(private, fault)
    cycles = "front_end.status.cycles"
    assert peeked(private, plain[1], cycles) == peeked(private, plain[0], cycles) + 1
    assert peeked(private, struck[1], cycles) == peeked(private, plain[0], cycles)
    assert peeked(private, struck[2], cycles) == peeked(private, plain[1], cycles)
    names = [name for name in private.device.registers if not name.startswith("front_end.status")]
    assert all(peeked(private, plain[1], one) == peeked(private, struck[1], one) for one in names)


def test_stuck(private):
    """The inverse of its value for five cycles, whatever it would become."""
    name = "front_end.status.cycles"
    plain, struck = states(
        private, Fault(kind=FaultKind.STUCK, cycle=0, name=name, bit=0, cycles=5)
    )
    inverse = 1 - peeked(private, plain[0], name) % 2
    bits = [peeked(private, one, name) % 2 for one in struck[:6]]
    assert bits == [inverse] * 5 + [1 - inverse]


# --- Drawing --------------------------------------------------------------------------------------


def test_draws_are_of_the_seed(private):
    for kind in FaultKind:
        drawn = draws(private, kind, 50)
        assert drawn == draws(private, kind, 50) != draws(private, kind, 50, seed=2)
        for fault in drawn:
            private.targets.check(fault)
            assert Fault.parse(str(fault)) == fault


def test_every_second_draw_is_uniform(private):
    """Of these, as many are in the memories as they have of all bits; of the others, few are."""
    registers = private.device.registers.values()
    bits = sum(one.width * one.words for one in registers)
    in_memory = sum(one.width * one.words for one in registers if one.is_memory) / bits
    drawn = [
        private.device.registers[one.name].is_memory for one in draws(private, FaultKind.BIT, 4000)
    ]
    uniform, others = drawn[::2], drawn[1::2]
    assert abs(sum(uniform) / len(uniform) - in_memory) < 0.05
    assert sum(others) / len(others) < 0.05 < in_memory


def test_every_register_and_every_step_is_hit(private):
    """Within some thousand draws, and so are all bits of them in more."""
    drawn = draws(private, FaultKind.BIT, 8000)
    assert {one.name for one in drawn} == set(private.device.registers)
    assert {private.targets.steps[one.cycle] for one in drawn} == set(private.targets.steps)
    uniform = [one.cycle for one in drawn[::2]]
    assert min(uniform) < 0.01 * private.cycles < 0.99 * private.cycles < max(uniform)


def test_stuck_bits_and_pairs(private):
    assert {one.cycles for one in draws(private, FaultKind.STUCK, 2000)} == set(range(2, 65))
    assert all(one.bit != one.other for one in draws(private, FaultKind.TWO_BITS, 200))


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("flip,1,a,0,0", "a fault begins with one of bit, two-bits, hold, skip, stuck, not 'flip'"),
        ("bit,1,a,0", "a fault of this kind is bit,CYCLE,NAME,WORD,BIT, not 'bit,1,a,0'"),
        ("bit,x,a,0,0", "a fault of this kind is bit,CYCLE,NAME,WORD,BIT, not 'bit,x,a,0,0'"),
        ("bit,1,a,0,0", "there is no register 'a'"),
        ("hold,1,a", "there is no component 'a'"),
        ("bit,1000000,a,0,0", r"the cycle of a fault must be in 0\.\.\d+, not 1000000"),
        (f"bit,1,{INERT},1,0", rf"the word of {INERT} must be in 0\.\.0, not 1"),
        (f"bit,1,{INERT},0,32", rf"the bit of {INERT} must be in 0\.\.31, not 32"),
        (f"stuck,1,{INERT},0,3,65", r"the cycles of a fault must be in 1\.\.64, not 65"),
    ],
)
def test_faults_that_cannot_be(private, fault, error):
    with pytest.raises(ValueError, match=error):
        private.targets.check(Fault.parse(fault))


# --- Signatures with nonces that are drawn --------------------------------------------------------

SIGNING = NumberSubject(
    choose("compact", {"max_bits": "256", "curves": "weierstrass", "ecdsa": "drawn"}),
    Command.ECDSA_SIGN,
    64,
    seed=2,
)


def signed(nonce, given=None):
    """A signature as the engine gives it, with this nonce."""
    numbers = dict(given or SIGNING.numbers)
    order = ("z", "d", "gx", "gy", "a", "b", "p", "n")
    z, d, *others = (numbers[one] for one in order)
    r, s = signature(z, d, nonce, *others)
    return r | s << SIGNING.engine.design.capabilities.half_bits


def test_whether_a_nonce_follows():
    n = SIGNING.numbers["n"]
    before = 0x1234_5678_9ABC_DEF1
    last = signed(before, SIGNING.before)
    for usual in (0x9B57_3CC8_B414_435C, 0x7FFF_0000_FFFF_8000, 0x0001_2345_6789_ABCD):
        assert SIGNING.verdicts.is_right(signed(usual))
        assert not SIGNING.verdicts.nonce_follows(signed(usual), last)
        assert not SIGNING.verdicts.is_right(signed(usual) ^ 1)
    known = (1, 0xFFFF_FFFF_FFFF, n - 0x1234, 0x1234_5678_9ABC_0000, 0x1234_5678_9ABC_FFFF)
    for nonce in (*known, before, n - before):
        assert SIGNING.verdicts.nonce_follows(signed(nonce), last)


def test_first_and_second_operation_of_a_key():
    """Before the first one there was another key; before the second the same, which is not loaded
    again."""
    first, second = (replace(SIGNING, number=number) for number in (1, 2))
    assert SIGNING.before == first.before
    assert first.before["d"] != first.numbers["d"]
    differ = {one for one, value in second.numbers.items() if value != second.before[one]}
    assert differ == {"z"}
    assert second.command_line == f"{SIGNING.command_line} --operation-number 2"
    private = NumberSubject(CHOICE, Command.RSA_PRIVATE, 64, seed=2)
    assert private.before == replace(private, number=2).before
    assert {**private.before, "x": 0} == {**private.numbers, "x": 0}
    assert replace(private, number=1).before["n"] != private.numbers["n"]
    with pytest.raises(ValueError, match="EC_MULTIPLY keeps nothing of a key"):
        replace(SIGNING, command=Command.EC_MULTIPLY, number=2)


@pytest.mark.fuzz
def test_a_nonce_that_follows_is_a_wrong_result(monkeypatch):
    """A campaign takes a signature with another nonce for right, unless that one follows, or the
    key does from those that the same fault makes of other draws."""
    generator = random.Random(1)
    drawn = [generator.randrange(1 << 60, 1 << 63) for _ in range(8)]
    with Campaign(SIGNING) as campaign:
        assert [one.subject.draw for one in campaign.other_draws()] == [*range(1, 8)]
        fault = flip(0, INERT)
        for nonces, outcome in (
            (drawn, "right"),
            ([77, *drawn[1:]], "wrong"),
            (drawn[:1] * 8, "wrong"),
            ([*drawn[:3], drawn[2], *drawn[4:]], "wrong"),
            ([0x1234 << 48 | one >> 16 for one in drawn], "wrong"),
            ([one >> 16 << 16 | 0x1234 for one in drawn], "wrong"),
        ):
            monkeypatch.setattr(
                NumberSubject, "operate", lambda self, driver, of=nonces: signed(of[self.draw])
            )
            run = campaign.run(fault)
            assert (run.outcome.value, run.reveals) == (outcome, outcome == "wrong")


@pytest.mark.fuzz
def test_other_draws_have_other_nonces():
    """And the same accesses in the same cycles, so that a fault meets the same step."""
    with Campaign(SIGNING) as campaign:
        every = [campaign, *campaign.other_draws()]
        assert len({one._expected for one in every}) == 8
        assert len({tuple(one.targets.steps) for one in every}) == 1


@pytest.mark.matrix
@pytest.mark.parametrize(
    "family",
    [
        "fdfm",
        *(
            pytest.param(name, marks=pytest.mark.fuzz)
            for name in ("montgomery-1csa", "montgomery-2csa", "interleaved-csa", "karatsuba")
        ),
    ],
)
def test_two_lanes(family):
    """Verilator's own optimizations must not change them: the run without a fault is right, which
    making the campaign checks, and so is one with a fault without effect."""
    choice = choose(family, {"max_bits": "64", "multipliers": "2"})
    with Campaign(NumberSubject(choice, Command.RSA_PRIVATE, 64, seed=2)) as campaign:
        assert any(".lane_1." in name for name in campaign.device.registers)
        assert campaign.run(flip(campaign.cycles // 2, INERT, bit=31)).outcome is Outcome.RIGHT
