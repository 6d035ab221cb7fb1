"""Cycles and products of the exponentiators in registers, and their scanners."""

import itertools

import pytest
from amaranth.sim import Simulator

from coprime.exponentiators.names import Exponentiator
from coprime.fixed_modulus.arithmetic import FixedModulus, Method
from coprime.fixed_modulus.exponentiators import WindowScanner
from coprime.fixed_modulus.register_exponentiation import RegisterExponentiation

ARITHMETIC = FixedModulus(13, Method.DIRECT)
WINDOWED = [one for one in Exponentiator if one.has_window]
FROM_LEFT = [Exponentiator.LEFT_TO_RIGHT, *WINDOWED]


def power(exponentiation, x, e, length):
    """X ^ e by the rounds alone."""
    c, left = 1, length
    if exponentiation.aligned:
        left = -(-length // exponentiation.window_bits) * exponentiation.window_bits
    for taken, multiplies in exponentiation.rounds(e, length):
        c = c ** (1 << taken)
        left -= taken
        if multiplies:
            c *= x ** (e >> left & (1 << taken) - 1)
    assert left == 0
    return c


@pytest.mark.parametrize("window", [1, 2, 3, 4])
@pytest.mark.parametrize("which", FROM_LEFT)
def test_the_rounds_are_the_exponent(which, window):
    exponentiation = RegisterExponentiation(which, ARITHMETIC, window=window)
    for length in range(1, 7):
        for e in range(1 << length):
            assert power(exponentiation, 3, e, length) == 3**e


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("which", FROM_LEFT)
def test_the_scanner_scans_the_same_rounds(which, window):
    exponentiation = RegisterExponentiation(which, ARITHMETIC, window=window)
    scanner = WindowScanner(exponentiation, 6, 3)

    async def process(ctx):
        for e, length in itertools.product((0, 1, 0b100101, 0b110111, 0b101000, 63), (4, 6)):
            e %= 1 << length
            ctx.set(scanner.exponent, e)
            ctx.set(scanner.length, length)
            ctx.set(scanner.start, 1)
            await ctx.tick()
            ctx.set(scanner.start, 0)
            ctx.set(scanner.step, 1)
            for taken, multiplies in exponentiation.rounds(e, length):
                for square in range(taken):
                    assert ctx.get(scanner.begins) == (square == 0)
                    assert ctx.get(scanner.ends) == (square == taken - 1)
                    assert ctx.get(scanner.multiplies) == multiplies
                    await ctx.tick()
                if multiplies:
                    assert ctx.get(scanner.entry) == e >> ctx.get(scanner.left) & (1 << taken) - 1
            assert ctx.get(scanner.left) == 0
            ctx.set(scanner.step, 0)

    simulator = Simulator(scanner)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


def test_what_has_no_hardware():
    with pytest.raises(ValueError, match="two multipliers work right to left only, not m-ary"):
        RegisterExponentiation(Exponentiator.M_ARY, ARITHMETIC, multipliers=2)
    with pytest.raises(ValueError, match="window must be 1 to 4, not 5"):
        RegisterExponentiation(Exponentiator.M_ARY, ARITHMETIC, window=5)
