from fractions import Fraction

import pytest
from amaranth.sim import Simulator

from coprime.bus.serial.uart import Receiver, Transmitter, divisor_of


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


def receive(divisor, levels, simulate):
    """Bytes, "broken" and "break" that a receiver makes of the wire's levels, one a cycle."""
    receiver, found = Receiver(divisor), []

    async def bench(context):
        for level in levels:
            context.set(receiver.rx, level)
            _, _, valid, data, broken, pause = await context.tick().sample(
                receiver.valid, receiver.data, receiver.broken, receiver.pause
            )
            if valid:
                found.append(data)
            if broken or pause:
                assert not (broken and pause)
                found.append("broken" if broken else "break")

    simulate(receiver, bench)
    return found


def levels(values, bit):
    """The wire with bits of `bit` cycles, a fraction, without a pause between the frames."""
    bits = [level for value in values for level in (0, *(value >> n & 1 for n in range(8)), 1)]
    return [1] * 5 + [bits[int(cycle / bit)] for cycle in range(int(len(bits) * bit))] + [1] * 20


BYTES = [0x00, 0xFF, 0x55, 0xA3, 0x80, 0x01, 0x00, 0x7E]


@pytest.mark.matrix(quick=4)
@pytest.mark.parametrize("divisor", [4, 5, Fraction(67, 8), 13, Fraction(235, 2)])
@pytest.mark.parametrize("error", [-2, 0, 2])
def test_frames_become_bytes_at_a_baud_two_percent_off(divisor, error, simulate):
    bit = divisor * Fraction(100 + error, 100)
    assert receive(divisor, levels(BYTES, bit), simulate) == BYTES


def test_broken_frames_and_breaks(simulate):
    good = levels([0x5A], 8)
    broken = [0] * 8 + [1] * 16 + [0] * 56  # 0x03, and a stop bit of 0
    almost, whole = [0] * 25 * 8, [0] * 26 * 8
    wire = good + broken + good + almost + good + whole + good
    assert receive(8, wire, simulate) == [
        *(0x5A, "broken", 0x5A, "broken", 0x5A, "broken", "break", 0x5A)
    ]


def test_a_glitch_is_no_start_bit(simulate):
    assert receive(8, [1, 1, 0, 0, 1, 1, *levels([0x5A], 8)], simulate) == [0x5A]


def test_fractions_alternate():
    """Bits of 8.375 cycles end at the last whole cycle."""
    transmitter, wire = Transmitter(Fraction(67, 8)), []

    async def bench(context):
        context.set(transmitter.data, 0x55)
        context.set(transmitter.send, 1)
        await context.tick()
        for _ in range(84):
            wire.append(context.get(transmitter.tx))
            await context.tick()

    simulator = Simulator(transmitter)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    edges = [cycle for cycle in range(1, 84) if wire[cycle] != wire[cycle - 1]]
    assert edges == [67 * bit // 8 for bit in range(1, 10)]


def test_divisor_is_computed():
    assert divisor_of(12_000_000, 3_000_000) == 4
    assert divisor_of(25_000_000, 3_000_000) == Fraction(67, 8)
    assert divisor_of(25_000_000, 115_200) == 217
    with pytest.raises(ValueError, match="at most 2500000 with a clock of 10000000 Hz"):
        divisor_of(10_000_000, 3_000_000)
    with pytest.raises(ValueError, match="4923000 baud cannot be made from a clock of 20000000"):
        divisor_of(20_000_000, 4_923_000)


def test_divisor_is_checked():
    with pytest.raises(ValueError, match="at least 2, not 1"):
        Transmitter(1)
    with pytest.raises(TypeError, match=r"must be an int or a Fraction, not 2\.5"):
        Transmitter(2.5)
    with pytest.raises(ValueError, match="at least 4, not 3"):
        Receiver(3)
    with pytest.raises(ValueError, match="a multiple of 1/8, not 13/3"):
        Receiver(Fraction(13, 3))
