"""What the cycles of a private operation on `ring` are spent on: the list in docs/ring.md.

`python -m bench.ring_cycles --bits 2048 -p tile=bal50` counts in the engine's prediction, which
every simulation is compared with.
"""

import argparse
from collections import Counter
from unittest.mock import patch

from coprime.catalog import family_named
from coprime.engine.contract import Command
from coprime.engine.sequencer.overlap import OverlapModel
from coprime.explore.operands import random_operands
from coprime.explore.runs import predict_operation
from coprime.program.operands import Reference
from coprime.program.steps import Step

from .page import table, thousands

SPENT, TIMES = Counter[str](), Counter[str]()
"""Cycles, and how many times, by what they are spent on."""


def spend(name: str, cycles: int) -> None:
    SPENT[name] += cycles
    TIMES[name] += 1


class CountingModel(OverlapModel):
    """Counts what is spent on each product and preparation; a drain if no product follows."""

    _draining = 0

    def prepare(self, longest: int) -> None:
        self._drain()
        spend("preparations of M'", self.multiplication.prepare_cycles(longest))
        super().prepare(longest)

    def multiply(self, destination: Reference, step: Step, inner: int, rounds: int) -> None:
        own, before = self.multiplication, self._closes
        count, products = own.words(inner, rounds), own.products(inner, rounds)
        super().multiply(destination, step, inner, rounds)
        spend("products of words", products)
        spend("cycles of a multiplication's steps without one", own.period(count) - products)
        if self._closes - own.period(count) != before:
            self._drain()
            spend("words of X read before a multiplication", own.loading(count))
        self._draining = own.draining(count)
        if step.descale:
            self._draining -= own.settling
            self._drain()
            spend("rounds modulo M", own.rounds_after(0, count))

    def _drain(self) -> None:
        if self._draining:
            spend("last columns, which nothing fills", self._draining)
        self._draining = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("-p", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    settings = {"max_bits": str(options.bits)}
    settings |= dict(setting.split("=") for setting in options.settings)
    operands = random_operands(Command.RSA_PRIVATE, options.bits, 1, checked=True)
    with patch("coprime.engine.prediction.OverlapModel", CountingModel):
        design = family_named("ring").choose(settings).design
        total = predict_operation(design, Command.RSA_PRIVATE, operands).cycles
    rest = total - SPENT.total()
    rows = [(name, thousands(TIMES[name]), thousands(SPENT[name])) for name in SPENT]
    rows.append(("linear steps, comparisons, scans of exponents, fetching steps", "", rest))
    print(table(["", "times", "cycles"], [*rows, ("**all**", "", thousands(total))]))


if __name__ == "__main__":
    main()
