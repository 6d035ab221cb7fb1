"""An engine behind its bus, in simulation; each command is checked against its prediction."""

from dataclasses import dataclass

import pytest

from coprime.catalog import family_named
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from coprime.engine.contract import Error
from coprime.runs.numbers import random_numbers


class CheckedPrediction:
    """The design's `predict`, remembering what it said."""

    def __init__(self, design):
        self.design = design
        self.last = None

    def __call__(self, command, operands, lengths):
        self.last = self.design.predict(command, operands, lengths)
        return self.last


class CheckedAccelerator(Accelerator):
    """Asserts after every command that cycles, products and result are the predicted ones."""

    def __init__(self, device, design):
        self.prediction = CheckedPrediction(design)
        super().__init__(device, predict=self.prediction)

    def _run(self, job, x):
        result = super()._run(job, x)
        predicted = self.prediction.last
        assert predicted.error is Error.NONE
        assert (result.cycles, result.products) == (predicted.cycles, predicted.products)
        assert result.value == predicted.result
        return result


@dataclass(frozen=True)
class Bench:
    device: object
    accelerator: CheckedAccelerator
    design: object


def open_bench(family, **settings):
    choice = family_named(family).choose({name: str(value) for name, value in settings.items()})
    device = open_simulation(choice)
    return Bench(device, CheckedAccelerator(device, choice.design), choice.design)


def grouped(configurations, slow_ones):
    """Both as parameters of a fixture, by their names: a worker builds one, and does all its tests.

    What is taken apart by `covering` is the configuration: its family, and each of its settings.
    """

    def parameters(named, *marks):
        for name, value in named.items():
            yield pytest.param(value, id=name, marks=[*marks, pytest.mark.xdist_group(name)])

    return [*parameters(configurations), *parameters(slow_ones, pytest.mark.matrix)]


def run_in_both_orders(bench, commands):
    """Each operation twice, on 64 bits: each finds what the others have left of operands and
    tables. The bench compares results and cycles with the prediction."""
    for command in (*commands, *reversed(commands)):
        numbers = random_numbers(command, 64, seed=7)
        found = bench.accelerator.operate(command, numbers).outputs
        assert command.operation.accepts(numbers, found)
