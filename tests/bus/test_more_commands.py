"""Commands with codes that CAPABILITIES has no bit for, or that have more bits than an engine's."""

import enum
from dataclasses import replace

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from coprime.bus import registers
from coprime.bus.shared_registers import (
    COMMAND_REGISTERS,
    defined_cluster_registers,
    defined_registers,
    engine_command,
    engine_operand,
    identity,
)
from coprime.engine.contract import Command, Operand
from coprime.engine.fdfm import fdfm

OWN = fdfm(64).capabilities


class Later(enum.IntEnum):
    """A command that there is not."""

    LAST = 40

    @property
    def operation(self):
        return Command.MODMUL.operation


MORE = replace(OWN, required={**OWN.required, Later.LAST: frozenset({Operand.X})})


def test_registers_that_only_high_codes_need():
    for defined in (
        lambda own: defined_registers(own, padded=False),
        defined_cluster_registers,
    ):
        assert not set(COMMAND_REGISTERS) & set(defined(OWN))
        assert set(COMMAND_REGISTERS) <= set(defined(MORE))


def test_every_command_has_its_bit():
    flag = registers.CAPABILITIES["MORE_COMMANDS"]
    plain = identity(OWN, registers.IDENTIFICATION)
    assert not flag.of(plain["CAPABILITIES"])
    assert registers.CAPABILITIES["COMMANDS"].of(plain["CAPABILITIES"]) == sum(
        1 << one for one in (1, 2, 3, 4, 5)
    )
    assert "COMMANDS" not in plain
    more = identity(MORE, registers.IDENTIFICATION)
    assert flag.of(more["CAPABILITIES"]) == 1
    assert more["CAPABILITIES"] & ~flag.mask == plain["CAPABILITIES"]
    assert more["COMMANDS"] == 0b111110
    assert more["COMMANDS_HIGH"] == 1 << (40 - 32)


@pytest.mark.parametrize(("own", "bits"), [(OWN, 3), (MORE, 6)])
def test_a_code_with_more_bits_is_no_command(own, bits):
    """And not the one that its lower bits are."""
    assert own.command_bits == bits
    code, seen = Signal(6), Signal(6)
    m = Module()
    m.d.comb += seen.eq(engine_command(own, code))

    async def bench(ctx):
        for value in range(64):
            ctx.set(code, value)
            await ctx.delay(1e-9)
            assert ctx.get(seen) == (value if value < 1 << bits else 0)

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize(
    ("operands", "count", "bits"),
    [
        ({Operand.X, Operand.CRT_Q}, 16, 5),
        ({Operand.X, Operand.SECRET}, 17, 6),
        ({Operand.X, Operand.TABLE_7}, 26, 6),
    ],
)
def test_an_operand_with_more_bits_is_none(operands, count, bits):
    own = replace(OWN, required={Command.MODMUL: frozenset(operands)})
    assert (own.operand_count, own.operand_bits) == (count, bits)
    greatest = (1 << bits) - 1
    number, seen = Signal(32), Signal(6)
    m = Module()
    m.d.comb += seen.eq(engine_operand(own, number))

    async def bench(ctx):
        for value in range(64):
            ctx.set(number, value | 0xFFFF_FFC0)
            await ctx.delay(1e-9)
            assert ctx.get(seen) == min(value, greatest)

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    assert greatest not in {int(one) for one in Operand}


def test_places_of_a_lane_have_no_published_numbers():
    """But those of operands that no lane with one memory holds."""
    layout = fdfm(64).layout
    operands = {int(one) for one in Operand if one < OWN.operand_count}
    others = {number for one, number in layout.numbers.items() if not isinstance(one, Operand)}
    assert not operands & others
    held = {one: number for one, number in layout.numbers.items() if isinstance(one, Operand)}
    assert held.keys() == {one for one in Operand if one < OWN.operand_count}
    assert all(one == number for one, number in held.items())
