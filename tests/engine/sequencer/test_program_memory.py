"""The program memory by itself: which step is fetched, from LUTs and from block RAM."""

import random

import pytest
from amaranth.lib.memory import Memory
from amaranth.sim import Simulator

from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.engine.sequencer import program_memory
from coprime.engine.sequencer.program_memory import ProgramCounter, ProgramMemory
from coprime.program.assembler import Program
from coprime.program.operands import Context, Core, Operand
from coprime.program.steps import Next, StepKind
from tests.program.steps import PASS, linear

DESIGNS = {
    "in LUTs": ("fdfm", {"max_bits": "64"}),
    "with routines": ("compact", {"max_bits": "128"}),
    "in block RAM": ("compact", {"max_bits": "128", "blinding": "all"}),
    "with parity": ("compact", {"max_bits": "64", "curves": "weierstrass"}),
}


STROBES = ("begins", "jump", "again", "calls", "returns")


def made(name):
    family, settings = DESIGNS[name]
    design = choose(family, settings).design
    (program,) = design.programs
    references = {one for step in program.steps for one in (step.x, step.y, step.destination)}
    numbers = {one: k for k, one in enumerate(sorted(references, key=str))}  # any will do
    bits = design.capabilities.command_bits
    return program, lambda: ProgramMemory(program, numbers, bits, Target.GENERIC)


def walk(dut, program, moves):
    """Set the inputs of each step in its last cycle, and give its word, and whether that is wrong.

    A step takes two cycles after its fetch, which takes one, or three where it does not follow.
    """
    found = []

    async def bench(context):
        for k, move in enumerate(moves):
            if k:
                waits = 0
                while not context.get(dut.there):
                    await context.tick()
                    waits += 1
                assert waits == (0 if "forward" in moves[k - 1] else 2)
            word = context.get(dut.fetched.as_value())
            context.set(dut.taken, k > 0)
            await context.tick()
            context.set(dut.taken, 0)
            wrong = context.get(dut.wrong) if program.has_parity else 0
            await context.tick()
            found.append((word, wrong))
            for name in STROBES:
                if hasattr(dut, name):
                    context.set(getattr(dut, name), int(name in move))
            context.set(dut.command, move.get("command", 0))
            context.set(dut.target, move.get("target", 0))
            await context.tick()
            for name in STROBES:
                if hasattr(dut, name):
                    context.set(getattr(dut, name), 0)

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


def random_moves(program, count, seed):
    """Steps one after the other, jumps, calls, returns, steps once more; and the addresses, of
    which the first one is not known."""
    generator, moves, addresses = random.Random(seed), [{"begins": 1, "command": 0}], [None]
    counter, depth = None, 0
    for _ in range(count):
        if counter is None or generator.random() < 0.05:
            command = generator.choice(sorted(program.entries))
            moves.append({"begins": 1, "command": command})
            addresses.append(counter and counter.address)
            counter, depth = ProgramCounter(program, command), 0
            continue
        addresses.append(counter.address)
        target = program.targets[counter.address - 1]
        last = counter.address == len(program.steps)
        ways = ["again", *["forward"] * (not last), *["jump"] * (target > 0)]
        ways += ["call"] * (target > 0 and not last and depth < program.call_depth)
        ways += ["return"] * (depth > 0)
        way = generator.choice(ways)
        move = {"target": target or generator.randrange(len(program.steps))}
        if way == "call":
            moves.append({**move, "jump": 1, "calls": 1})
            counter.call()
            counter.move(jump=1, forward=0)
            depth += 1
        elif way == "return":
            moves.append({**move, "returns": 1})
            counter.return_()
            depth -= 1
        else:
            moves.append({**move, way: 1})
            counter.move(jump=int(way == "jump"), forward=int(way == "forward"))
    return moves, addresses


@pytest.mark.parametrize("name", DESIGNS)
def test_the_step_at_the_address_is_fetched(name):
    program, make = made(name)
    assert program.in_block_ram == (name in ("in block RAM", "with parity"))
    assert program.has_parity == (name == "with parity")
    assert (program.call_depth > 0) == (name != "in LUTs")
    dut = make()
    moves, addresses = random_moves(program, 400, seed=len(name))
    fetched = walk(dut, program, moves)
    assert len({one for one in addresses if one}) > min(50, len(program.steps) // 3)
    for address, (word, wrong) in zip(addresses, fetched, strict=True):
        if address:
            step, target = program.steps[address - 1], program.targets[address - 1]
            assert word == dut.word(step, target).as_value().value, step.note
        assert not wrong


@pytest.mark.parametrize("name", DESIGNS)
def test_words_hold_what_the_steps_say(name):
    program, make = made(name)
    dut = make()
    numbers = dut.numbers
    for step, target in zip(program.steps, program.targets, strict=True):
        word = dut.word(step, target)
        assert (word.kind, word.modulus, word.outer) == (step.kind, step.modulus, step.outer)
        assert (word.x, word.y) == (numbers[step.x], numbers[step.y])
        assert (word.destination, word.target) == (numbers[step.destination], target)
        assert word.next == program.next_code(step)


@pytest.mark.parametrize("bit", [0, 7, -1])
def test_a_bit_that_has_changed_is_found_when_its_word_is_fetched(monkeypatch, bit):
    """A cycle after the word is there, and at no other address."""
    program, make = made("with parity")
    (command, entry), changed = min(program.entries.items()), 3

    def memory(*, shape, init, **others):
        words = list(init)
        words[entry + changed] ^= 1 << bit % shape
        return Memory(shape=shape, init=words, **others)

    monkeypatch.setattr(program_memory, "Memory", memory)
    moves = [{"begins": 1, "command": command}, *[{"forward": 1}] * 6]
    found = [wrong for _, wrong in walk(make(), program, moves)]
    assert found == [int(k == 1 + changed) for k in range(len(moves))]


def test_the_same_entry_of_all_commands_takes_no_switch():
    steps = [PASS, linear(StepKind.ADD, Core.RESULT, Operand.X, Operand.X, Context.WHOLE, "")]
    program = Program.assemble({(3, 5): steps})
    numbers = {one: k for k, one in enumerate([Operand.X, Operand.M, Core.RESULT])}
    numbers |= {one: 0 for step in steps for one in (step.x, step.y, step.destination)}
    dut = ProgramMemory(program, numbers, 3, Target.GENERIC)
    moves = [{"begins": 1, "command": 5}, {"forward": 1}, {"forward": 1}]
    words = [dut.word(step, 0).as_value().value for step in steps]
    assert [word for word, _ in walk(dut, program, moves)][1:] == words


def test_returns_of_the_integers():
    program = Program.assemble({(1,): [PASS, PASS, PASS]})
    counter = ProgramCounter(program, 1)
    assert (counter.address, counter.step) == (1, PASS)
    counter.move(jump=0, forward=0)
    assert counter.address == 1
    counter.call()
    counter.address = 3
    counter.return_()
    assert counter.address == 2
    counter.move(jump=1, forward=1)
    assert counter.address == 0
    assert PASS.next is Next.FOLLOWING
