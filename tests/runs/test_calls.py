"""Calls that are run and compared, on the mock engine of byte strings."""

import pytest

from coprime.device.jobs import EngineError
from coprime.engine.capabilities import Error
from coprime.runs.calls import run_call
from tests.calls.mock import FAMILY, INTERFACE, inverted

CHOICE = FAMILY.choose({})
COPY, DRAW, FAIL = (INTERFACE.call[name] for name in ("COPY", "DRAW", "FAIL"))


def test_given_and_drawn_inputs():
    given = run_call(CHOICE, COPY, {"key": b"seven b", "second": b"four"}, parameter_set="short")
    assert given.outputs == {"copy": inverted(b"seven b")}
    assert given.ok and given.cycles == given.predicted_cycles == 8
    drawn = [run_call(CHOICE, COPY, {}, parameter_set="long", seed=seed) for seed in (1, 1, 2)]
    assert drawn[0].outputs == drawn[1].outputs != drawn[2].outputs
    assert all(one.ok and len(one.outputs["copy"]) == 12 for one in drawn)


def test_the_engine_draws_what_it_can():
    """From a random source with the bytes of the seed; what is given it does not draw."""
    outputs = []
    for seed in (1, 2):
        done = run_call(CHOICE, DRAW, {}, parameter_set="short", seed=seed)
        assert done.ok and done.cycles == done.predicted_cycles == 4
        outputs.append(done.outputs)
        assert done.outputs.keys() == {"second"}  # the other one cannot be read
    assert outputs[0] != outputs[1]
    done = run_call(CHOICE, DRAW, {"second": b"wxyz"}, parameter_set="short")
    assert done.outputs == {"second": b"wxyz"} and done.ok


def test_an_error_that_is_predicted():
    with pytest.raises(EngineError) as raised:
        run_call(CHOICE, FAIL, {}, parameter_set="short")
    assert raised.value.code is Error.FAULT


def test_wrong_predictions_are_reported():
    done = run_call(FAMILY.choose({"wrong": "1"}), COPY, {}, parameter_set="short")
    assert done.ok and done.predicted_cycles == done.cycles + 1


def test_wrong_outputs_are_reported(monkeypatch):
    monkeypatch.setitem(COPY.__dict__, "reference", lambda parameter_set, values: {"copy": b""})
    assert not run_call(CHOICE, COPY, {}, parameter_set="short").ok


def test_records_have_no_secrets():
    done = run_call(CHOICE, DRAW, {}, parameter_set="short")
    assert done.record()["outputs"] == {"second": done.outputs["second"].hex()}
    hidden = done.__class__(**{**done.__dict__, "secret": frozenset({"second"})})
    assert hidden.record()["outputs"] == {"second": None}
    assert done.outputs["second"].hex() not in repr(hidden)
