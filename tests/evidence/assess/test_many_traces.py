"""Traces recorded hundreds at once are those of the device, sample by sample."""

import numpy as np
import pytest
from coprime_evidence.assess.many_traces import TraceWindow
from coprime_evidence.assess.moments import Moments
from coprime_evidence.assess.number_subject import NumberSubject
from coprime_evidence.assess.number_traces import LeakageTest, NumberTraces
from coprime_evidence.assess.power import PowerModel
from coprime_evidence.assess.traces import Acquisition, TraceRecorder

from coprime.catalog import choose
from coprime.device.base import DeviceError
from coprime.engine.contract import Command

pytestmark = pytest.mark.xdist_group("leakage")

TRACES = 12


def recorder_of(model, settings, test=LeakageTest.MESSAGE, bits=64):
    choice = choose("compact", {"max_bits": str(bits), **settings})
    subject = NumberSubject(choice, Command.RSA_PRIVATE, bits, seed=1)
    return TraceRecorder(Acquisition(NumberTraces(subject, test), model=model))


@pytest.fixture(scope="module", params=PowerModel)
def recorder(request):
    found = recorder_of(request.param, {})
    yield found
    found.device.close()


def record(recorder, numbers, windows=(), cycles=None):
    first, end = cycles or (0, len(recorder.reference))
    samples = (end - first) * recorder.reference.shape[1]
    sums = np.zeros((4, samples)), np.zeros((4, samples))
    drawn = [recorder.start(number) for number in numbers]
    fixed = np.array([one.fixed for one, _ in drawn])
    starts = [start for _, start in drawn]
    parts = recorder.many.record(starts, fixed, sums, (first, end), windows)
    return fixed, sums, parts


@pytest.mark.matrix
def test_sums_and_windows_are_those_of_the_devices_traces(recorder):
    total, cycles = recorder.reference.shape[1] - 1, len(recorder.reference)
    windows = [TraceWindow(total, 0, cycles), TraceWindow(3, 100, 140)]
    fixed, sums, parts = record(recorder, range(TRACES), windows)
    reference = recorder.reference.ravel()
    expected = Moments(reference), Moments(reference)
    for number in range(TRACES):
        one, trace = recorder.trace(number)
        assert one.fixed == fixed[number]
        expected[not one.fixed].add(trace.reshape(1, -1))
        assert (parts[0][number] == trace[:, total]).all()
        assert (parts[1][number] == trace[100:140, 3]).all()
    for found, one in zip(sums, expected, strict=True):
        assert (found == one.sums).all()
    assert sums[1].any()  # traces of random messages differ from the reference


@pytest.mark.matrix
def test_part_of_the_cycles(recorder):
    columns = recorder.reference.shape[1]
    _, whole, _ = record(recorder, range(TRACES))
    _, part, _ = record(recorder, range(TRACES), cycles=(500, 700))
    for found, every in zip(part, whole, strict=True):
        assert (found == every[:, 500 * columns : 700 * columns]).all()


@pytest.mark.matrix
def test_a_wrong_reference_is_noticed(recorder, monkeypatch):
    wrong = recorder.many._reference.copy()
    wrong[len(wrong) // 2, 5] += 1
    monkeypatch.setattr(recorder.many, "_reference", wrong)
    with pytest.raises(DeviceError, match="differs from the device"):
        record(recorder, [0])


@pytest.mark.matrix
def test_traces_of_another_length_are_refused(recorder, monkeypatch):
    for wrong in (
        recorder.reference[:-1],
        np.vstack([recorder.reference, recorder.reference[-1:]]),
    ):
        monkeypatch.setattr(recorder.many, "_reference", np.ascontiguousarray(wrong))
        with pytest.raises(DeviceError, match="choose --cycles"):
            record(recorder, [0])


def test_a_later_operation_of_the_same_key():
    """Its trace begins from what the operations before it have left."""
    subject = NumberSubject(choose("compact", {"max_bits": "64"}), Command.RSA_PRIVATE, 64, seed=1)
    recorder = TraceRecorder(Acquisition(NumberTraces(subject, operation_number=3)))
    try:
        total, cycles = recorder.reference.shape[1] - 1, len(recorder.reference)
        _, _, (many,) = record(recorder, range(4), [TraceWindow(total, 0, cycles)])
        others = TraceRecorder(Acquisition(NumberTraces(subject)))
        try:
            for number in range(4):
                drawn, trace = recorder.trace(number)
                assert (many[number] == trace[:, total]).all()
                alone, first = others.trace(number)
                assert alone.values == drawn.values and not (first == trace).all()
        finally:
            others.device.close()
    finally:
        recorder.device.close()


@pytest.mark.fuzz
def test_random_bytes_and_addresses_that_differ_between_the_traces():
    """A blinded exponent selects other entries of the table in each trace."""
    settings = {"blinding": "all"}
    recorder = recorder_of(PowerModel.DISTANCE, settings, LeakageTest.NOTHING, bits=128)
    try:
        cycles = len(recorder.reference)
        total = recorder.reference.shape[1] - 1
        left = recorder.device.components.index("engine.lane.left")
        windows = [TraceWindow(column, 0, cycles) for column in (total, left)]
        _, _, parts = record(recorder, range(8), windows)
        for number in range(8):
            _, trace = recorder.trace(number)
            assert (parts[0][number] == trace[:, total]).all()
            assert (parts[1][number] == trace[:, left]).all()
    finally:
        recorder.device.close()
