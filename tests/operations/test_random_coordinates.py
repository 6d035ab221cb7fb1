"""With a source of random numbers, what a multiple of a point writes differs each time."""

import pytest

from coprime.catalog import choose
from coprime.engine.contract import Command
from coprime.engine.sequencer.lane_model import LaneModel
from coprime.engine.sequencer.multiply_steps import MultiplySteps
from coprime.program.operands import Core
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers

MULTIPLES = {
    Command.EC_MULTIPLY: 0.92,
    Command.EC_BASE_MULTIPLY: 0.9,
    Command.ED_BASE_MULTIPLY: 0.85,
    Command.X_MULTIPLY: 0.98,
}
"""Operations with a secret scalar, and at least which part of their products differ: all of the
ladder or the comb, but for products with the 0 of the point at infinity at a ladder's last two
bits; not those of checks and constants."""


def products(monkeypatch, design, command):
    """Each product as it is written, and the operation's result."""
    found = []
    run = MultiplySteps.run

    def recorded(self, lane: LaneModel, step):
        run(self, lane, step)
        found.append(lane.values.get(step.destination, lane.values.get(Core.ACCUMULATOR)))

    with monkeypatch.context() as patch:
        patch.setattr(MultiplySteps, "run", recorded)
        result = predict_operation(design, command, random_numbers(command, 64, seed=3)).result
    return found, result


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("family", ["compact", pytest.param("ring", marks=pytest.mark.matrix)])
@pytest.mark.parametrize("command", MULTIPLES)
@pytest.mark.parametrize("profile", ["drawn", pytest.param("host", marks=pytest.mark.matrix)])
def test_what_is_written(monkeypatch, family, command, profile):
    design = choose(family, {"max_bits": "256", "curves": "all", "ecdsa": profile}).core.design
    (one, result), (other, again) = (products(monkeypatch, design, command) for _ in range(2))
    assert result == again
    differ = sum(a != b for a, b in zip(one, other, strict=True)) / len(one)
    assert differ > MULTIPLES[command] if profile == "drawn" else differ == 0
