"""The unit against its model, byte for byte and cycle for cycle."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.padding.instructions import PaddingSlot
from coprime.padding.programs import PROGRAMS
from coprime.padding.tasks import Option, Task
from coprime.padding.unit import PaddingUnit, PaddingUnitModel

SEED = 5
WORKING = {Task.PKCS1_ENCRYPT: 88, Task.PKCS1_DECRYPT: 88, Task.PKCS1_VERIFY: 62 * 8 + 1}


class Buffers:
    """Input and output of a machine behind the unit's port, and the random source."""

    def __init__(self, unit, input, output, seed):
        self.unit, self.input, self.output = unit, bytearray(input), bytearray(output)
        self.random = random.Random(seed)

    def next(self):
        return self.random.choice((0, self.random.getrandbits(8)))

    async def run(self, ctx, task, *, stalls=None, **settings):
        """Do a task; the busy cycles, without those that waited for a random byte.

        With a generator `stalls` there is not always one.
        """
        unit = self.unit
        for name, value in settings.items():
            ctx.set(getattr(unit, name), value)
        ctx.set(unit.task, task)
        while ctx.get(unit.busy):
            await ctx.tick()
        ctx.set(unit.start, 1)
        await ctx.tick()
        ctx.set(unit.start, 0)
        cycles, done = 0, False
        drawn = self.next()
        work = self.output if task.decodes else self.input
        while not done:
            cycles += 1
            assert ctx.get(unit.busy)
            valid = stalls is None or stalls.random() < 0.4
            ctx.set(unit.random.payload, drawn if valid else 0xAA)
            ctx.set(unit.random.valid, valid)
            done = ctx.get(unit.done)
            address = ctx.get(unit.address)
            source = self.input if ctx.get(unit.from_input) else work
            if ctx.get(unit.store):
                work[address] = ctx.get(unit.store_data)
            if ctx.get(unit.random.ready):
                drawn = self.next() if valid else drawn
                cycles -= not valid
            first = address & ~3
            await ctx.tick()
            ctx.set(unit.read_data, int.from_bytes(source[first : first + 4], "little"))
        assert not ctx.get(unit.busy)
        return cycles

    async def put(self, ctx, slot, value):
        unit = self.unit
        ctx.set(unit.slot_write, 1)
        for word in range(8):
            ctx.set(unit.slot_address, 8 * slot + word)
            ctx.set(unit.slot_data, int.from_bytes(value) >> 32 * word & 0xFFFFFFFF)
            await ctx.tick()
        ctx.set(unit.slot_write, 0)


def simulate(unit, process):
    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


@pytest.mark.matrix
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.matrix)])
@pytest.mark.parametrize("task", Task)
def test_each_task_is_its_model(task, every):
    """On the shortest modulus and on a long one; also on one that begins a byte."""
    generator = random.Random(SEED + task)
    unit = PaddingUnit({task}, 600)
    least = WORKING.get(task, 66 * 8)
    runs = []
    lengths = [least, least + 1, 600] if every else [least, 600]
    # The longest program runs once only.
    for bits in lengths[: 1 if task is Task.PKCS1_DECRYPT else 3]:
        options = {option for option in Option if generator.getrandbits(1)}
        salt = generator.randrange(max(1, (bits + 6) // 8 - 33)) % 33
        room = {Task.PKCS1_ENCRYPT: 11, Task.OAEP_ENCRYPT: 66, Task.PKCS1_SIGN: 62}
        longest = (bits + 7) // 8 - room.get(task, 0)
        runs.append((bits, generator.randrange(longest + 1), salt, options))

    async def process(ctx):
        while ctx.get(unit.busy):
            await ctx.tick()
        for bits, length, salt, options in runs:
            buffers = Buffers(unit, generator.randbytes(76), generator.randbytes(76), bits)
            model = PaddingUnitModel(
                bits,
                length,
                salt_length=salt,
                options=frozenset(options),
                random=Buffers(unit, b"", b"", bits).next,
            )
            model.input, model.output = bytearray(buffers.input), bytearray(buffers.output)
            for slot in (
                PaddingSlot.SECRET,
                PaddingSlot.LABEL,
                PaddingSlot.SALT,
                PaddingSlot.MESSAGE,
            ):
                model.slots[slot][:] = generator.randbytes(32)
                await buffers.put(ctx, slot, model.slots[slot])
            model.run(task)
            cycles = await buffers.run(
                ctx,
                task,
                stalls=generator if bits == least else None,
                options=sum(1 << option for option in options),
                modulus_length=bits,
                input_length=length,
                salt_length=salt,
            )
            assert buffers.input == model.input
            assert buffers.output == model.output
            assert ctx.get(unit.bad) == model.bad
            assert ctx.get(unit.length) == model.length
            assert cycles == model.cycles

    simulate(unit, process)


def test_wiping_clears_the_slots():
    unit = PaddingUnit({Task.PKCS1_SIGN}, 600)

    async def process(ctx):
        while ctx.get(unit.busy):
            await ctx.tick()
        await Buffers(unit, b"", b"", 0).put(ctx, PaddingSlot.MESSAGE, b"\xff" * 32)
        ctx.set(unit.wipe, 1)
        await ctx.tick()
        ctx.set(unit.wipe, 0)
        assert ctx.get(unit.slots.memory.data[8 * PaddingSlot.MESSAGE]) == 0xFFFFFFFF
        cycles = 0
        while ctx.get(unit.busy):
            await ctx.tick()
            cycles += 1
        assert cycles == 64
        assert not any(ctx.get(word) for word in unit.slots.memory.data)

    simulate(unit, process)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="tasks must be one or more"):
        PaddingUnit([], 1024)
    with pytest.raises(ValueError, match="needs max_bits of 65 to 65280, not 64"):
        PaddingUnit(PROGRAMS, 64)
    with pytest.raises(TypeError, match="max_length must be an integer"):
        PaddingUnit(PROGRAMS, "1024")
