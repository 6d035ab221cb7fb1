"""Leakage of whole accelerators: how traces are drawn, what is found, and what is written."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from coprime_evidence.assess import leakage_campaign
from coprime_evidence.assess.leakage import run_leakage
from coprime_evidence.assess.number_subject import NumberSubject
from coprime_evidence.assess.number_traces import LeakageTest, NumberTraces
from coprime_evidence.assess.power import TOTAL
from coprime_evidence.assess.traces import Acquisition, TraceRecorder

from coprime.catalog import choose
from coprime.cli import main
from coprime.device.base import DeviceError
from coprime.engine import design
from coprime.engine.contract import Command
from coprime.flow import parts
from coprime.operations import rsa_private
from coprime.operations.banked import Banked
from coprime.operations.masked_private import Masking, masked_private
from coprime.program.builder import Builder
from coprime.program.operands import Operand
from tests.program.steps import move

pytestmark = pytest.mark.xdist_group("leakage")

TRACES = 40


def source(test=LeakageTest.MESSAGE, command=Command.RSA_PRIVATE, operation_number=1):
    choice = choose("compact", {"max_bits": "64"})
    return NumberTraces(NumberSubject(choice, command, 64, seed=1), test, operation_number)


def acquisition(test=LeakageTest.MESSAGE, command=Command.RSA_PRIVATE, **others):
    return Acquisition(source(test, command), **others)


def drawn(test, command=Command.RSA_PRIVATE):
    """What each trace's operands are, by group."""
    groups = {True: [], False: []}
    for number in range(60):
        one = source(test, command).draw(number)
        groups[one.fixed].append(one.values)
    assert min(map(len, groups.values())) > 15
    return groups[True], groups[False]


def values(numbers, name):
    return {one[name] for one in numbers}


@pytest.mark.parametrize(
    ("test", "fixed_once", "varied"),
    [
        (LeakageTest.MESSAGE, {"x", "n", "dp", "e"}, {"x"}),
        (LeakageTest.KEY, {"n", "dp", "e"}, {"n", "dp", "dq", "p", "x"}),
        (LeakageTest.EXPONENT, {"n", "dp", "e"}, {"dp", "dq", "x"}),
        (LeakageTest.NOTHING, {"n", "dp", "e"}, {"x"}),
    ],
)
def test_groups_differ_in_what_is_tested(test, fixed_once, varied):
    fixed, other = drawn(test)
    for name in fixed_once:
        assert len(values(fixed, name)) == 1
    for name in varied:
        assert len(values(other, name)) > len(other) // 2
    if test is not LeakageTest.KEY:
        assert values(other, "p") == values(fixed, "p")
    if test is not LeakageTest.MESSAGE:
        assert len(values(fixed, "x")) == len(fixed)


def test_public_exponents_that_vary_have_one_length_and_weight():
    """So that operations that scan them take the same cycles."""
    fixed, other = drawn(LeakageTest.EXPONENT)
    exponents = values(fixed, "e") | values(other, "e")
    assert {(e.bit_length(), e.bit_count()) for e in exponents} == {(17, 8)}
    assert len(exponents) > len(other) // 2
    for one in [*fixed[:1], *other]:
        assert pow(pow(one["x"], one["e"], one["n"]), one["d"], one["n"]) == one["x"]


def test_operations_before_the_traced_one_have_random_inputs_and_the_same_key():
    own = source(LeakageTest.MESSAGE, operation_number=3)
    drawn = [own.draw(number) for number in range(40)]
    for one in drawn:
        assert [{**each, "x": 0} for each in one.before] == [{**one.values, "x": 0}] * 2
    fixed = [one for one in drawn if one.fixed]
    assert len({one.values["x"] for one in fixed}) == 1
    assert len({each["x"] for one in fixed for each in one.before}) == 2 * len(fixed)
    alone = source(LeakageTest.MESSAGE).draw(7)
    assert alone.before == [] and own.draw(7).values == alone.values


def test_exponents_of_modexp_vary_in_one_length():
    fixed, other = drawn(LeakageTest.KEY, Command.MODEXP)
    assert len(values(fixed, "e")) == 1
    assert {e.bit_length() for e in values(other, "e")} == {fixed[0]["e"].bit_length()}
    assert values(fixed, "m") == values(other, "m")


@pytest.fixture(scope="module")
def recorder():
    found = TraceRecorder(acquisition())
    yield found
    found.device.close()


def test_a_trace_follows_from_its_number(recorder):
    drawn, trace = recorder.trace(5)
    recorder.trace(6)
    again, repeated = recorder.trace(5)
    assert drawn == again
    assert (trace == repeated).all()


def test_traces_of_a_fixed_message_are_all_the_same_without_blinding(recorder):
    numbers = random.Random(1).sample(range(1000), 20)
    seen = [recorder.trace(number) for number in numbers]
    assert all((trace == recorder.reference).all() for one, trace in seen if one.fixed)
    assert not any((trace == recorder.reference).all() for one, trace in seen if not one.fixed)


def test_places_are_the_steps_of_the_program(recorder):
    places = recorder.places.of("engine.lane.multiplier.slice")
    assert len(places) == len(recorder.reference)
    steps = [str(place) for place in places]
    square = "C = C * C, once for each bit of the window"
    order = ["X < M", f"{square} (mod Q)", f"{square} (mod P)", "S_p - S_q, below 4P (mod P)"]
    order += ["S ^ E - X, below 2p (mod Q)", "S ^ E - X, below 2p (mod P)"]
    found = [next(k for k, step in enumerate(steps) if step.startswith(one)) for one in order]
    assert found == sorted(found)
    assert steps[0].startswith("input") and steps[-1].startswith("output")
    assert places is recorder.places.of("front_end")  # which is in no lane


def test_a_trace_of_another_length_is_refused(recorder, monkeypatch):
    monkeypatch.setattr(recorder, "reference", recorder.reference[:-1])
    with pytest.raises(DeviceError, match="choose --cycles"):
        recorder.trace(0)


@pytest.mark.matrix
def test_the_message_of_an_unblinded_operation_leaks():
    passed = []
    found = run_leakage(acquisition(), TRACES, keep=3, workers=1, progress=passed.append)
    assert (sum(passed), found.fixed) == (TRACES, round(found.fixed))
    first = found.profiles[0]
    assert {"engine.lane.left", "engine.lane.multiplier.slice", TOTAL} <= {
        one.component for one in first.findings if one.t > first.threshold
    }
    sequencer = found.components.index("engine.lane.sequencer.scanner")
    assert not first.t[:, sequencer].any()  # the key is the same in both groups
    assert found.kept.traces.shape == (3, found.cycles)


def test_noise_is_added_and_repeats(recorder):
    noisy = [
        run_leakage(acquisition(noise=5.0), 20, orders=(1,), keep=20, workers=1) for _ in range(2)
    ]
    assert (noisy[0].profiles[0].t == noisy[1].profiles[0].t).all()
    exact = np.stack([recorder.trace(number)[1][:, -1] for number in range(20)])
    added = noisy[0].kept.traces - exact
    assert added.std() == pytest.approx(5, rel=0.02) and abs(added.mean()) < 0.1


@pytest.mark.matrix
def test_the_command_writes_what_numpy_reads(tmp_path, capsys):
    words = "assess leakage compact --traces 40 --workers 1 --json --keep 5 -o".split()
    assert main([*words, str(tmp_path / "out")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "out" / "leakage.json").read_text())
    assert (printed["traces"], printed["bits"], printed["operation"]) == (40, 64, "RSA_PRIVATE")
    values = np.load(tmp_path / "out" / "t_values.npz")
    shape = (printed["cycles"], len(printed["components"]))
    for order in printed["orders"]:
        t = values[f"t_{order['order']}"]
        assert t.shape == shape
        assert order["above_corrected"] == (np.abs(t) > order["corrected_threshold"]).sum()
        largest = order["findings"][0]
        column = printed["components"].index(largest["component"])
        assert abs(t[largest["cycle"], column]) == largest["t"] == order["largest"]
    traces = np.load(tmp_path / "out" / "traces.npz")
    assert traces["traces"].shape == (5, printed["cycles"])
    assert traces["inputs"].shape == (5, 8)
    assert traces["fixed"].dtype == bool
    for order in (1, 2):
        assert (tmp_path / "out" / f"t_{order}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.matrix
def test_the_command_prints_a_table(capsys):
    assert main("assess leakage compact --traces 20 --workers 1 --order 1".split()) == 0
    out = capsys.readouterr().out
    assert out.startswith("20 traces of ")
    assert "order 1: the largest |t| is" in out and "order 2" not in out


PLAIN = {
    "input, before the first step",
    *("X < M?", "X + t M", "X + 2 (2^V - 1) M - t M", "2 t M, over X"),
    *("S, out of Montgomery form", "S - M", "... + M, where it was below 0"),
    *("SUM = RESULT", "S < M?", "RESULT = SUM", "S + t M"),
    *("TERM = BLINDED_BASE", "FACTOR = CLAIMED"),
    "output, after the last step",
}
"""Where masked operations have X and S as they are; the first steps follow the input."""
FIRST = {"M > 0, and odd for Montgomery?"}


def leaking_steps(traces, test=LeakageTest.MESSAGE, operation_number=1):
    """Of RSA_PRIVATE with blinding=all."""
    choice = choose("compact", {"max_bits": "128", "blinding": "all"})
    subject = NumberSubject(choice, Command.RSA_PRIVATE, 128, seed=1)
    own = Acquisition(NumberTraces(subject, test, operation_number))
    found = run_leakage(own, traces, orders=(1,), workers=1)
    (profile,) = found.profiles
    return {one.place.step for one in profile.findings if one.t > profile.threshold}


@pytest.fixture
def programs_anew():
    """Programs, and what is made of them, are not those of before, and not kept."""
    kept = (
        design._programs,
        design._placed,
        parts._accelerator_verilog,
        leakage_campaign._recorder,
    )
    for one in kept:
        one.cache_clear()
    yield
    for one in kept:
        one.cache_clear()


@pytest.mark.fuzz
def test_masked_numbers_do_not_show_the_message():
    """In first order, from where X is masked to where S is made canonical, and in the check."""
    steps = leaking_steps(400)
    assert {"X < M?", "S - M"} <= steps
    assert steps <= PLAIN | FIRST


@pytest.mark.fuzz
def test_exponents_are_read_plain_by_the_first_operation_only():
    moved = {"if the host has written it", "the same"}
    public = {"C = C * r", "C = C * B"}
    first = leaking_steps(300, LeakageTest.EXPONENT)
    second = leaking_steps(300, LeakageTest.EXPONENT, operation_number=2)
    assert moved | public <= first
    assert public <= second and not moved & second


@pytest.mark.fuzz
def test_a_plain_move_among_masked_numbers_is_found(monkeypatch, programs_anew):
    """X is moved where BLINDED_BASE is made: nothing else has changed, and the result is right."""

    def planted(machine):
        (steps,) = masked_private(machine)
        place = next(k for k, one in enumerate(steps) if one.destination is Masking.BLINDED_BASE)
        plain = move(Banked.FACTOR, Operand.X)
        return [[*steps[: place + 1], replace(plain, note="planted"), *steps[place + 1 :]]]

    monkeypatch.setattr(rsa_private, "masked_private", planted)
    steps = leaking_steps(60)
    assert "planted" in steps
    assert "C = C * C, once for each bit of the window" not in steps


PRODUCTS_MODULO_PRIMES = {"r' S", "-r'^E X", "-S_q modulo P", "S_p - S_q", "r', below 2 c p"}
"""Those after which no port has the public modulus, which a test of the key finds, too."""


@pytest.mark.fuzz
def test_masked_primes_do_not_show_in_products():
    steps = leaking_steps(400, LeakageTest.KEY)
    assert {"2^(i + 1) P", "S - P"} <= steps  # where they are read as they are
    assert not PRODUCTS_MODULO_PRIMES & steps


@pytest.mark.fuzz
def test_a_plain_prime_in_products_is_found(monkeypatch, programs_anew):
    """M' without its mask: all else has one, and the result is right."""

    add = Builder.add

    def plain(code, destination, x, y, note, **fields):
        if note == "M' + t P":
            code.move(destination, x, note)
        else:
            add(code, destination, x, y, note, **fields)

    monkeypatch.setattr(Builder, "add", plain)
    assert leaking_steps(400, LeakageTest.KEY) >= {"r' S", "-r'^E X", "-S_q modulo P"}
