import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.difference_slice import Addend, DifferenceSlice

FULL = (1 << 17) - 1
EDGES = [0, 1, FULL, FULL - 1, 1 << 16, 0x15555]


@pytest.mark.parametrize("width", [36, 44, 48])
def test_behaviour(width):
    dut = DifferenceSlice(width)
    generator = random.Random(17)

    def digit():
        return generator.choice([*EDGES, generator.getrandbits(17)])

    operations = [
        {
            **{name: digit() for name in "abxy"},
            "subtract": generator.randrange(2),
            "base": generator.choice(list(Addend)),
            "c": generator.randrange(-(1 << width - 1), 1 << width - 1),
        }
        for _ in range(2000)
    ]
    operations[0]["base"] = Addend.ZERO

    async def bench(context):
        p = 0
        for cycle in range(len(operations)):
            for name, value in operations[cycle].items():
                if name in "xy":  # taken a cycle later than the others
                    value = operations[max(cycle - 1, 0)][name]
                context.set(getattr(dut, name), value.value if name == "base" else value)
            if cycle >= DifferenceSlice.LATENCY:
                now = operations[cycle - DifferenceSlice.LATENCY]
                c = operations[cycle - 2]["c"]
                product = (now["a"] - now["b"]) * (now["x"] - now["y"])
                base = {Addend.ZERO: 0, Addend.P: p, Addend.C: c}[now["base"]]
                p = base - product if now["subtract"] else base + product
                p = (p + (1 << width - 1)) % (1 << width) - (1 << width - 1)
                assert context.get(dut.p) == p
            await context.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
