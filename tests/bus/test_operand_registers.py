"""What software has loaded, what can be loaded, and what a command needs."""

from dataclasses import replace

import pytest
from amaranth.sim import Simulator

from coprime.bus.operand_registers import CommandCheck, OperandChoice, WrittenLength
from coprime.engine.contract import Command, Error, Length, Operand
from tests.bus.conftest import ON_CURVES, MockEngine

OWN = MockEngine(17, headroom=2).capabilities
ENGINES = [OWN, replace(OWN, required=ON_CURVES)]


def simulate(component, process):
    simulator = Simulator(component)
    simulator.add_clock(1e-6)

    async def testbench(ctx):
        await process(ctx)

    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize("of_prime", [False, True])
def test_lengths_are_compared_with_their_maximum(of_prime):
    check = WrittenLength(OWN)
    longest = OWN.max_prime_length if of_prime else OWN.max_length
    least = OWN.digits(OWN.min_length)

    async def process(ctx):
        ctx.set(check.of_prime, of_prime)
        for value, count in (
            (0, 0),
            (1, least),
            (longest, least),
            (longest + 1, OWN.max_digits + 1),
            (1 << 16, OWN.max_digits + 1),
            (1 << 31, OWN.max_digits + 1),
        ):
            ctx.set(check.value, value)
            ctx.set(check.enable, 1)
            await ctx.tick()
            ctx.set(check.enable, 0)
            ctx.set(check.value, ~value)
            await ctx.tick()  # stays
            assert ctx.get(check.zero) == (value == 0)
            assert ctx.get(check.too_long) == (value > longest)
            assert ctx.get(check.count) == count

    simulate(check, process)


@pytest.mark.parametrize("own", ENGINES)
def test_each_operand_has_its_class_and_its_refusal(own):
    loadable = own.operands - {Operand.X}
    choice = OperandChoice(own, loadable, 16)

    async def process(ctx):
        state = choice.state
        for place, one in enumerate(("modulus", "exponent", "p", "q")):
            ctx.set(state.lengths[one], 100 + place)
        for absent, over in ((0, 0), (0b0101, 0b1010), (0b1111, 0b1111)):
            ctx.set(state.absent, absent)
            ctx.set(state.over, over)
            for number in range(1 << own.operand_bits):
                ctx.set(choice.operand, number)
                await ctx.tick()
                if number not in loadable:
                    assert ctx.get(choice.refusal) == Error.ADDRESS
                    continue
                one = Operand(number).length
                is_digit = one is Length.DIGIT
                bits = 17 if is_digit else 100 + one
                assert ctx.get(choice.length_class) == one
                assert ctx.get(choice.length) == bits
                assert ctx.get(choice.bytes) == -(-bits // 8)
                assert ctx.get(choice.padded) == (not is_digit)
                exponent = Operand(number).is_exponent
                assert ctx.get(choice.aligned) == (not is_digit and not exponent)
                expected = Error.NONE
                if not is_digit and absent >> one & 1:
                    expected = Error.LENGTH_ZERO
                elif not is_digit and over >> one & 1:
                    expected = Error.LENGTH_OVER
                assert ctx.get(choice.refusal) == expected

    simulate(choice, process)


@pytest.mark.parametrize("own", ENGINES)
def test_a_command_needs_its_lengths_then_its_operands(own):
    loadable = own.operands - {Operand.X}
    check = CommandCheck(own, loadable, 16)

    async def process(ctx):
        for command, operands in own.required.items():
            loaded = sum(1 << one for one in operands & loadable)
            classes = {one.length for one in operands} - {Length.DIGIT}
            ctx.set(check.command, command)

            async def error(complete, absent=0, over=0):
                ctx.set(check.state.complete, complete)
                ctx.set(check.state.absent, absent)
                ctx.set(check.state.over, over)
                await ctx.tick()
                return Error(ctx.get(check.error))

            unused = sum(1 << one for one in range(4) if Length(one) not in classes)
            assert await error(loaded, absent=unused, over=unused) is Error.NONE
            assert ctx.get(check.needs_x) == (Operand.X in operands)
            for one in operands & loadable:
                assert await error(~(1 << one)) is Error.OPERAND_MISSING
            for one in classes:
                exponent = one is Length.EXPONENT
                zero = Error.EXPONENT_LENGTH if exponent else Error.LENGTH_ZERO
                assert await error(0, absent=1 << one) is zero
                assert await error(0, over=1 << one) is Error.LENGTH_OVER
            # The first class in the order of Length.
            first = Error.LENGTH_OVER if min(classes) is Length.MODULUS else None
            assert await error(0, absent=0b1110, over=0b0001) is first
        for command in (0, Command.WIPE, 6, 7):
            ctx.set(check.command, command)
            await ctx.tick()
            assert ctx.get(check.error) == Error.NONE
            assert not ctx.get(check.needs_x)

    simulate(check, process)
