import pytest
from amaranth.sim import Simulator

from coprime.soc.uart import Transmitter


def frames(wire, divisor):
    """The bytes on a wire that was sampled once a cycle, and whether each had its stop bit."""
    found, at = [], 0
    while 0 in wire[at:]:
        at = wire.index(0, at)
        bits = [wire[at + divisor * n : at + divisor * (n + 1)] for n in range(10)]
        assert all(len(set(bit)) == 1 for bit in bits), "a bit is not as long as the divisor"
        value = sum(bit[0] << n for n, bit in enumerate(bits[1:9]))
        found.append((value, bits[9][0]))
        at += 10 * divisor
    return found


@pytest.mark.parametrize("divisor", [2, 3, 8, 13])
def test_bytes_become_frames(divisor):
    transmitter = Transmitter(divisor)
    sent, wire, cycles = [0x00, 0xFF, 0x55, 0xA3, 0x80], [], []

    async def bench(context):
        for place, value in enumerate(sent):
            context.set(transmitter.data, value)
            context.set(transmitter.send, 1)
            await context.tick()
            # What comes while it is busy is not sent.
            context.set(transmitter.data, 0x99)
            started = len(wire)
            while context.get(transmitter.busy):
                wire.append(context.get(transmitter.tx))
                context.set(transmitter.send, place % 2)
                await context.tick()
                context.set(transmitter.send, 0)
            cycles.append(len(wire) - started)
            wire.append(context.get(transmitter.tx))
        await context.tick().repeat(20)
        assert context.get(transmitter.tx)

    simulator = Simulator(transmitter)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert frames(wire, divisor) == [(value, 1) for value in sent]
    assert set(cycles) == {10 * divisor}


def test_divisor_is_checked():
    with pytest.raises(ValueError, match="at least 2, not 1"):
        Transmitter(1)
    with pytest.raises(TypeError, match=r"must be an int, not 2\.5"):
        Transmitter(2.5)
