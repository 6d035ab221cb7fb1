"""The self-test of engines of byte strings: passes, and fails at whatever is wrong."""

import pytest
from amaranth.sim import Simulator

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.jobs import EngineError
from coprime.device.serial import SerialDevice
from coprime.device.simulated import SimulatedDevice
from coprime.engine.capabilities import Error
from coprime.flow.boards import BOARDS
from coprime.flow.verilog import to_verilog
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from coprime.model.lattice.ml_kem_standard import key_pair
from coprime.soc import call_self_test
from coprime.soc.board_design import BoardDesign, board_bench
from coprime.soc.call_self_test import (
    SelfTestStep,
    known_calls,
    self_testing_calls,
)
from coprime.soc.simulated_board import SimulatedBoard, SimulatedPort
from tests.calls.vault import VAULT
from tests.soc.test_self_test import BENCH, BUSY, PASSED, TOP

DESIGN = VAULT.design


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Few cycles until an engine is late."""
    monkeypatch.setattr(call_self_test, "_CLEARING", 1 << 8)


def outcome(design, change=lambda words: words):
    """How a self-test ends, in Amaranth's simulator, and after how many cycles."""
    engine = self_testing_calls(design)
    test, found = engine.test, []
    words = change([*test._words()])
    test._words = lambda: words

    async def bench(context):
        context.set(test.start, 1)
        await context.tick()
        context.set(test.start, 0)
        cycles, call = 0, None
        while context.get(test.running):
            assert not context.get(test.passed | test.failed | engine.busy | engine.done)
            if context.get(test.engine.start):
                call = context.get(test.engine.call)
            # The protocol asks for it: what a call gives depends on it until it ends.
            assert (
                call is None
                or not context.get(test.engine.busy)
                or (context.get(test.engine.call) == call)
            )
            await context.tick()
            cycles += 1
        found.append((context.get(test.passed), context.get(test.failed), cycles))

    simulator = Simulator(engine)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    ((passed, failed, cycles),) = found
    assert passed + failed == 1
    return "passed" if passed else "failed", cycles


def test_passes():
    how, cycles = outcome(DESIGN)
    assert how == "passed"
    assert cycles > sum(one.cycles for one in known_calls(DESIGN))


@pytest.mark.matrix
@pytest.mark.parametrize("family", ["lattice", "shake"])
def test_a_board_passes(family):
    engine = self_testing_calls(choose_calls(family, {}).design)
    verilog = BENCH + to_verilog(BoardDesign(BOARDS["ulx3s"], engine, 16, None), TOP)
    with SimulatedDevice(verilog, "coprime_bench", cycle_limit=200_000) as device:
        device.run(1000)
        assert device.read32(0) == BUSY
        device.wait_interrupt()
        assert device.read32(0) == PASSED


@pytest.mark.matrix
def test_a_key_of_ml_kem_over_a_serial_wire():
    """On the board, after its self-test: key pair, encapsulation, decapsulation, a missing seed."""
    clock, baud = 25_000_000, 1_000_000
    choice = choose_calls("lattice", {"sets": "ml-kem-512"})
    top, verilog = board_bench(choice, BOARDS["ulx3s"], baud=baud)
    with (
        SimulatedBoard(verilog, top, clock=clock, baud=baud) as board,
        SerialDevice(SimulatedPort(board), patience=0.1) as serial,
    ):
        design = choice.design
        driver = CallAccelerator(serial, design.interface, predict=design.predict)
        (one,) = design.interface.parameter_sets
        values = {"d": bytes(32), "z": bytes(range(32))}
        made = driver.call("ML_KEM_KEY_PAIR", values, parameter_set=one, read=["ek"])
        assert made.outputs["ek"] == key_pair(ML_KEM_SETS[0], *values.values())[0]
        sent = driver.call("ML_KEM_ENCAPSULATE", {"m": bytes(32)}, parameter_set=one)
        found = driver.call("ML_KEM_DECAPSULATE", {}, parameter_set=one)
        assert found.outputs["key"] == sent.outputs["key"]
        assert made.cycles == made.predicted_cycles
        driver.wipe()
        with pytest.raises(EngineError) as refused:
            driver.call("ML_KEM_KEY_PAIR", {}, parameter_set=one)
        assert refused.value.code is Error.OPERAND_MISSING


def test_each_call_is_made_once_and_something_is_compared():
    for family in ("shake", "lattice"):
        design = choose_calls(family, {}).design
        calls = known_calls(design)
        assert [one.call for one in calls] == [*design.interface.calls]
        assert sum(bool(one.compared) for one in calls) >= 2


def test_lattice_keeps_keys_inside_and_compares_what_comes_of_them():
    key_pair, encapsulation, decapsulation, check = known_calls(choose_calls("lattice", {}).design)
    assert {*key_pair.loaded} == {"d", "z"} and not key_pair.compared
    assert {*encapsulation.loaded} == {"m"} and encapsulation.kept == {"ek"}
    assert not decapsulation.loaded and decapsulation.kept == {"dk", "c"}
    assert encapsulation.compared == decapsulation.compared and {*check.kept} == {"ek", "dk"}
    inside = known_calls(choose_calls("lattice", {"secrets": "stay"}).design)
    assert [[*one.compared] for one in inside] == [["ek"], ["c"], [], []]


def of_step(step, change):
    """Change the first word of a step that `change` takes."""

    def changed(words):
        k = next(k for k, word in enumerate(words) if word["step"] == step and change(word))
        return [*words[:k], {**words[k], **change(words[k])}, *words[k + 1 :]]

    return changed


@pytest.mark.parametrize(
    ("step", "change"),
    [
        (
            SelfTestStep.COMPARE,
            lambda word: {"word": {**word["word"], "data": word["word"]["data"] ^ 1}},
        ),
        (
            SelfTestStep.COMPARE,
            lambda word: {"word": {**word["word"], "last": not word["word"]["last"]}},
        ),
        (
            SelfTestStep.COMPARE,
            lambda word: word["word"]["last"] and {"word": {**word["word"], "bytes": 0}},
        ),
        (
            SelfTestStep.LOAD,
            lambda word: {"word": {**word["word"], "data": word["word"]["data"] ^ 1}},
        ),
        (SelfTestStep.START, lambda word: {"step": SelfTestStep.WAIT}),
    ],
    ids=["a word", "the end", "bytes of the last word", "an input", "a call that is left out"],
)
def test_fails(step, change):
    assert outcome(DESIGN, change=of_step(step, change))[0] == "failed"


def test_fails_when_the_engine_is_late():
    """It waits for random bytes, as its input is missing."""

    def no_words(words):
        start = {"step": SelfTestStep.START, "word": {"data": DESIGN.interface.calls[0].code}}
        return [start, {"step": SelfTestStep.WAIT}, *words]

    how, cycles = outcome(DESIGN, change=no_words)
    assert how == "failed" and cycles > 1 << 8
