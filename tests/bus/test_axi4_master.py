import random

import pytest
from amaranth.sim import Simulator

from coprime.bus.axi4 import WORD, Burst
from coprime.bus.axi4_lite import OKAY, SLVERR
from coprime.bus.axi4_master import AXI4Master

SEED = 24


def bursts(rng, often, count=100):
    """Drive the master with random bursts against a slave with stalls on all channels."""
    master = AXI4Master()
    axi = master.axi
    lengths = [1, 2, 256, *(rng.randrange(1, 20) for _ in range(count))]
    wanted = [
        (
            rng.randrange(1 << 10) << 2,
            rng.choice([0, 0xF, 0x3]),
            [(rng.getrandbits(32), rng.choice([*[OKAY] * 9, SLVERR])) for _ in range(length)],
        )
        for length in lengths
    ]
    done = []

    def stalled():
        return rng.random() < often

    async def slave(context):
        for address, strobes, beats in wanted:
            prefix = "aw" if strobes else "ar"
            seen, words = None, []
            while seen is None or (strobes and len(words) < len(beats)):
                ready = {name: not stalled() for name in ("aw", "w", "ar")}
                for name, value in ready.items():
                    context.set(getattr(axi, f"{name}ready"), value and not (seen and name != "w"))
                _, _, aw, ar, w, *values = await context.tick().sample(
                    *(axi.awvalid & axi.awready, axi.arvalid & axi.arready),
                    *(axi.wvalid & axi.wready, axi.wdata, axi.wstrb, axi.wlast),
                    *(
                        getattr(axi, f"{prefix}{name}")
                        for name in ("addr", "len", "size", "burst", "id")
                    ),
                )
                assert not (ar if strobes else aw)
                if w:
                    words.append(tuple(values[:3]))
                if aw or ar:
                    assert seen is None, "the address comes twice"
                    seen = tuple(values[3:])
            for name in ("aw", "w", "ar"):
                context.set(getattr(axi, f"{name}ready"), 0)
            assert seen == (address, len(beats) - 1, WORD, Burst.INCR, 0)
            if strobes:
                last = len(beats) - 1
                assert words == [(word, strobes, n == last) for n, (word, _) in enumerate(beats)]
                answers = [(0, beats[-1][1], 1)]
            else:
                answers = [(*beat, n == len(beats) - 1) for n, beat in enumerate(beats)]
            for data, response, last in answers:
                while stalled():
                    await context.tick()
                kind = "b" if strobes else "r"
                context.set(getattr(axi, f"{kind}resp"), response)
                context.set(axi.rdata, data)
                context.set(axi.rlast, last)
                context.set(getattr(axi, f"{kind}valid"), 1)
                ready = 0
                while not ready:
                    _, _, ready = await context.tick().sample(getattr(axi, f"{kind}ready"))
                context.set(getattr(axi, f"{kind}valid"), 0)

    async def user(context):
        for address, strobes, beats in wanted:
            context.set(master.address, address)
            context.set(master.strobes, strobes)
            context.set(master.beats, len(beats) - 1)
            context.set(master.valid, 1)
            place, got, ready = 0, [], False
            while not ready:
                context.set(master.words.valid, place < len(beats) and not stalled())
                context.set(master.words.payload, beats[min(place, len(beats) - 1)][0])
                _, _, ready, refused, taken, answered, answer = await context.tick().sample(
                    *(master.ready, master.refused, master.words.valid & master.words.ready),
                    *(master.answers.valid, master.answers.payload),
                )
                place += taken
                if answered:
                    got.append(answer)
            responses = [response for _, response in (beats[-1:] if strobes else beats)]
            assert refused == any(response != OKAY for response in responses)
            assert place == (len(beats) if strobes else 0)
            assert got == ([] if strobes else [word for word, _ in beats])
            context.set(master.valid, 0)
            for _ in range(rng.randrange(3)):
                await context.tick()
                assert not context.get(axi.awvalid | axi.wvalid | axi.arvalid)
            done.append(address)

    simulator = Simulator(master)
    simulator.add_clock(1e-6)
    simulator.add_testbench(user)
    simulator.add_testbench(slave, background=True)
    simulator.run()
    assert len(done) == len(wanted)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("often", [0, 0.5, pytest.param(0.9, marks=pytest.mark.matrix)])
def test_bursts(often):
    bursts(random.Random(SEED), often)
