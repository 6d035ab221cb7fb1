"""A cluster whose cores check their results, while bits flip before a result is read."""

from functools import partial

import pytest

from coprime.bus import cluster_registers as r
from coprime.device.base import DeviceError
from coprime.device.cluster import Cluster
from coprime.device.faulty import FaultyDevice
from coprime.engine.contract import Command, Error, Operand
from coprime.flow.parts import cluster_verilog
from coprime.program.operands import Core
from coprime.rsa.keys import generate
from tests.cluster.bench import Bench, cluster_choice

pytestmark = pytest.mark.xdist_group("checked cluster")

BITS = 64


@pytest.fixture(scope="module")
def bench():
    choice = cluster_choice("compact", 2, max_bits=BITS)
    with FaultyDevice(cluster_verilog(choice), choice.module_name, cycle_limit=100_000) as device:
        yield Bench(choice, device)


def memories(bench, core):
    return [
        one
        for name, one in bench.device.registers.items()
        if name.startswith(f"node_{core}.engine") and one.is_memory
    ]


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("slot", "step"),
    [
        (Core.RESULT, 9),
        pytest.param(Core.RESULT, 3, marks=pytest.mark.fuzz),
        pytest.param(Core.RESULT, 1, marks=pytest.mark.fuzz),
        pytest.param(Core.SUM, 1, marks=pytest.mark.fuzz),
    ],
)
def test_a_digit_that_changes_before_it_is_read(bench, slot, step):
    """What is read and what it is compared with: neither gives a wrong result, at any moment."""
    device, layout = bench.device, bench.choice.core.design.layout
    work = bench.private(1, BITS)
    digits = bench.own.digits(BITS)
    device.reset()
    for core in range(2):
        bench.start(core, work)
    start, begun = device.save(), device.cycles
    assert [bench.take() for _ in range(2)] == [(core, *work.ended) for core in range(2)]
    last = device.cycles - begun
    bank = memories(bench, 0)[layout.lies_right(slot)]
    drops = device.registers["front_end.registers.collector.wrong"]
    errors, dropped = 0, 0
    for moment in [*range(last - 3000, last - 300, 20 * step), *range(last - 300, last, step)]:
        device.restore(start)
        device.run(moment)
        device.flip(bank, layout.bases[slot] + moment % digits, moment % 17)
        taken = [bench.take() for _ in range(2)]
        ended = {core: tuple(rest) for core, *rest in taken}
        assert ended.get(1) == work.ended, (moment, taken)
        if ended[0] == work.ended:
            continue
        errors += 1
        dropped += bool(device.peek(drops))
        assert ended[0] == (Error.FAULT, 0, 0), moment
        for memory in memories(bench, 0):
            assert not any(device.peek(memory, word) for word in range(memory.words))
        # All must be loaded again, and then it works.
        bench.select(0)
        bench.load(Operand.X, 1, BITS)
        bench.write(r.COMMAND, Command.RSA_PRIVATE)
        assert bench.take() == (0, Error.OPERAND_MISSING, 0, 0)
        assert bench.run(0, work) == work.ended
    assert errors > dropped > 0
    assert bench.idle()


@pytest.mark.matrix
def test_residue(bench):
    """Of the result, the modulus and the input of each private command; 0 for any other."""
    bench.device.reset()
    works = [bench.private(1, BITS), bench.modmul(2, BITS), bench.private(3, BITS)]
    for core, work in ((0, works[0]), (1, works[1]), (0, works[1]), (1, works[2])):
        bench.start(core, work)
        bench.wait()
        assert bench.shown() == (core, Error.NONE)
        residue = bench.read(r.RESIDUE)
        if work.command is Command.RSA_PRIVATE:
            s, m, x = work.result, work.operands[Operand.M], work.operands[Operand.X]
            assert residue % (2**17 - 1) == (3 * s - m + x + 1) % (2**17 - 1)
        else:
            assert residue == 0
        assert bench.take() == (core, *work.ended)
        assert bench.read(r.RESIDUE) == 0


# Registers between the bus and the cores: each of these flips once gave a wrong result.
ON_THE_WAY = [
    *("collector.filled.base", "collector.requester.pointer", "collector.queue.read__addr"),
    *("collector.shown.base", "collector.filler.early", "loader.fsm_state", "records.count_0"),
]


@pytest.mark.fuzz
def test_bits_that_flip_on_the_way(bench):
    """The driver gives no result that is not what the core has checked for that command."""
    device = bench.device
    device.reset()
    key = generate(BITS, 17, seed=5)
    xs = 3, 0x123456789ABCDEF % key.n

    def operate(x0, x1):
        """What a command on each core ends with: its value, or its error."""
        cluster, ended = Cluster(device), {}
        for core, x in enumerate((x0, x1)):
            cluster.start(core, cluster.private_job(key, x), x)
        while len(ended) < 2:
            cluster.wait()
            while done := cluster.completion():
                ended[done.core] = done.error or done.value
        return ended

    operate(7, 11)  # what is left from before is wrong
    start, begun = device.save(), device.cycles
    right = {core: pow(x, key.d, key.n) for core, x in enumerate(xs)}
    assert operate(*xs) == right
    last = device.cycles - begun
    faults = 0
    for name in ON_THE_WAY:
        register = device.registers[f"front_end.registers.{name}"]
        for moment in (*range(50, last - 300, last // 4), *range(last - 300, last, 50)):
            bit = moment // 10 % register.width
            device.restore(start)
            device.call_at(device.cycles + moment, partial(device.flip, register, 0, bit))
            try:
                ended = operate(*xs)
            except DeviceError:  # refused, or no end
                continue
            for core, value in ended.items():
                assert value in (right[core], Error.FAULT), (name, bit, moment)
                faults += value is Error.FAULT
    assert faults > 10
