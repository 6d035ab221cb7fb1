"""Where the cycles of an operation on curves go on `ring`: products, and waits between them.

`python -m bench.ring_waits ECDSA_SIGN_WITH --curve P-384` counts in the
engine's prediction, which every simulation is compared with; X_MULTIPLY takes `--bits 255`. A
product takes its period. Where the next one does not follow it without a break, what is between
them is the wait of that one: the last columns of the product before, sums, and words of X that are
read. Other steps take the cycles in which the sequencer is at them, most of them beside products.
"""

import argparse
from collections import Counter
from unittest.mock import patch

from coprime.catalog import family_named
from coprime.ec import eddsa, weierstrass
from coprime.engine.contract import Command
from coprime.engine.sequencer.lane_model import LaneModel
from coprime.engine.sequencer.overlap import OverlapModel
from coprime.program.steps import Step, StepKind
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import numbers_on, random_numbers

from .page import table, thousands

CURVES = {one.name: one for one in (*weierstrass.CURVES, *eddsa.CURVES)}
TIMES, CYCLES, WAITS = Counter[int](), Counter[int](), Counter[int]()
"""By the address of a step: how often it is executed, its cycles, and those before a product."""
STEPS: dict[int, Step] = {}
execute = LaneModel.execute


class CountingModel(OverlapModel):
    """Counts what is waited before each product."""

    _closed = 0

    def multiply(self, step: Step, inner: int, rounds: int) -> None:
        super().multiply(step, inner, rounds)
        assert isinstance(self.lane, LaneModel)
        multiplication, new = self.multiplication, self._new
        if new is None:  # it ends modulo M
            self._closed = 0
            return
        if self._closed:
            WAITS[self.lane.pc.address] += new.takes - self._closed
        self._closed = new.takes + multiplication.period(new.count)


def counted(lane: LaneModel) -> None:
    """Executes a step, and counts it."""
    address, before = lane.pc.address, lane.cycles
    STEPS[address] = lane.pc.step
    execute(lane)
    TIMES[address] += 1
    CYCLES[address] += lane.cycles - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operation")
    parser.add_argument("--curve", choices=CURVES)
    parser.add_argument("--bits", type=int, default=255)
    parser.add_argument("--times", type=int, default=20, help="leave out steps that are rarer")
    parser.add_argument("-p", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    command = Command[options.operation]
    settings = dict([command.operation.setting])
    settings |= dict(setting.split("=") for setting in options.settings)
    if options.curve:
        operands = numbers_on(command, CURVES[options.curve], 1)
    else:
        operands = random_numbers(command, options.bits, 1)
    design = family_named("ring").choose(settings).design
    with (
        patch("coprime.engine.sequencer.lane_model.OverlapModel", CountingModel),
        patch.object(LaneModel, "execute", counted),
    ):
        total = predict_operation(design, command, operands).cycles
    often = [one for one in sorted(STEPS) if TIMES[one] >= options.times]
    rows = [_row(STEPS[one].note, [one]) for one in often]
    rows.append(_row("others", [one for one in STEPS if one not in often]))
    rows.append(_row("**all**", list(STEPS)))
    print(table(("step", "times", "products", "cycles", "waits before products"), rows))
    print(f"{total:,} cycles")


def _row(name: str, addresses: list[int]) -> list[str]:
    products = [one for one in addresses if STEPS[one].kind is StepKind.MULTIPLY]
    counts = (
        sum(TIMES[one] for one in addresses),
        sum(TIMES[one] for one in products),
        sum(CYCLES[one] for one in addresses),
        sum(WAITS[one] for one in addresses),
    )
    return [name, *map(thousands, counts)]


if __name__ == "__main__":
    main()
