"""A cluster whose cores check their results, while bits flip before a result is read."""

import pytest

from coprime.bus import cluster_registers as r
from coprime.device.faulty import FaultyDevice
from coprime.engine.contract import Command, Error, Operand
from coprime.flow.parts import cluster_verilog
from coprime.program.operands import Scratch
from tests.cluster.bench import Bench, cluster_choice

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


@pytest.mark.parametrize(
    "slot", [Scratch.RESULT, pytest.param(Scratch.SUM, marks=pytest.mark.slow)]
)
def test_a_digit_that_changes_before_it_is_read(bench, slot):
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
    for moment in [*range(last - 3000, last - 300, 20), *range(last - 300, last)]:
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
