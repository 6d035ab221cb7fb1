"""What the cycles of a private operation on `ring` are spent on: the list in docs/ring.md.

`python -m bench.ring_cycles --bits 2048 -p tile=bal50` counts in the engine's prediction, which
every simulation is compared with. Of two lanes (`-p multipliers=2`) each has its columns.
"""

import argparse
from collections import Counter, defaultdict
from unittest.mock import patch

from coprime.catalog import family_named
from coprime.engine.contract import Command
from coprime.engine.prediction import LaneModel
from coprime.engine.sequencer.barrier_steps import BarrierSteps
from coprime.engine.sequencer.overlap import OverlapModel
from coprime.program.operands import Reference
from coprime.program.steps import Step
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers

from .page import table, thousands

SPENT, TIMES = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
"""Cycles, and how many times, by lane, and by what they are spent on."""
REST = "linear steps, comparisons, scans of exponents, fetching steps"
pass_barrier = BarrierSteps.pass_barrier


def name_of(lane: LaneModel) -> str:
    return "modulo " + " and ".join(prime.name for prime in lane.program.moduli)


def spend(lane: LaneModel, name: str, cycles: int) -> None:
    SPENT[name_of(lane)][name] += cycles
    TIMES[name_of(lane)][name] += 1


def wait(lanes: list[LaneModel]) -> None:
    """Counts what the lanes wait for each other."""
    before = [lane.cycles for lane in lanes]
    pass_barrier(lanes)
    for lane, cycles in zip(lanes, before, strict=True):
        spend(lane, "waiting for the other lane", lane.cycles - cycles - 1)


class CountingModel(OverlapModel):
    """Counts what is spent on each product and preparation; a drain if no product follows."""

    _draining = 0

    def prepare(self, longest: int) -> None:
        self._drain()
        spend(self.lane, "preparations of M'", self.multiplication.prepare_cycles(longest))
        super().prepare(longest)

    def multiply(self, destination: Reference, step: Step, inner: int, rounds: int) -> None:
        multiplication, before = self.multiplication, self._closes
        count, products = (
            multiplication.words(inner, rounds),
            multiplication.products(inner, rounds),
        )
        super().multiply(destination, step, inner, rounds)
        spend(self.lane, "products of words", products)
        spend(
            self.lane,
            "cycles of a multiplication's steps without one",
            multiplication.period(count) - products,
        )
        if self._closes - multiplication.period(count) != before:
            self._drain()
            spend(
                self.lane, "words of X read before a multiplication", multiplication.loading(count)
            )
        self._draining = multiplication.draining(count)
        if step.descale:
            self._draining -= multiplication.settling
            self._drain()
            spend(self.lane, "rounds modulo M", multiplication.rounds_after(0, count))

    def _drain(self) -> None:
        if self._draining:
            spend(self.lane, "last columns, which nothing fills", self._draining)
        self._draining = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("-p", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    settings = {"max_bits": str(options.bits)}
    settings |= dict(setting.split("=") for setting in options.settings)
    operands = random_numbers(Command.RSA_PRIVATE, options.bits, 1, checked=True)
    with (
        patch("coprime.engine.sequencer.lane_model.OverlapModel", CountingModel),
        patch.object(BarrierSteps, "pass_barrier", wait),
    ):
        design = family_named("ring").choose(settings).design
        total = predict_operation(design, Command.RSA_PRIVATE, operands).cycles
    names = list(dict.fromkeys(name for spent in SPENT.values() for name in spent))
    rows = [
        [name, *(thousands(each[lane][name]) for lane in SPENT for each in (TIMES, SPENT))]
        for name in names
    ]
    rest = [thousands(total - spent.total()) for spent in SPENT.values()]
    rows.append([REST, *(cell for cycles in rest for cell in ("", cycles))])
    rows.append(["**all**", *["", thousands(total)] * len(SPENT)])
    print(table(["", *(cell for lane in SPENT for cell in ("times", f"cycles {lane}"))], rows))


if __name__ == "__main__":
    main()
