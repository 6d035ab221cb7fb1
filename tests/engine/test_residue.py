"""The sum of digits against integers, as digits come as fast as the linear unit has them."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.tiles import TILES
from coprime.engine.families import RING_TILES
from coprime.engine.residue import Residue
from coprime.model.widths import residue_modulus

DIGITS = 40


@pytest.mark.parametrize("digit_width", [TILES[name].WORD for name in RING_TILES])
def test_sum_of_digits(digit_width):
    generator = random.Random(digit_width)
    residue = Residue(digit_width)
    ones = (1 << digit_width) - 1
    digits = [generator.choice([generator.randrange(ones), ones, 0]) for _ in range(DIGITS)]

    async def bench(context):
        for digit in digits:
            context.set(residue.digit, digit)
            context.set(residue.add, 1)
            await context.tick()
            # What follows on the wires is not the digit any more.
            context.set(residue.digit, generator.randrange(ones))
            context.set(residue.add, 0)
            await context.tick().repeat(Residue.CYCLES - 1)
        number = sum(digit << digit_width * k for k, digit in enumerate(digits))
        modulus = residue_modulus(digit_width)
        assert context.get(residue.residue) % modulus == number % modulus
        context.set(residue.clear, 1)
        await context.tick()
        assert context.get(residue.residue) == 0

    simulator = Simulator(residue)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
