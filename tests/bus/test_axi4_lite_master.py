import random

import pytest
from amaranth.sim import Simulator

from coprime.bus.axi4_lite import OKAY, SLVERR
from coprime.bus.axi4_lite_master import AXI4LiteMaster

SEED = 20


def accesses(rng, often, count=200):
    """Drive the master with random accesses against a slave with stalls, and give what was seen."""
    master = AXI4LiteMaster()
    axi = master.axi
    wanted = [
        (rng.randrange(1 << 10) << 2, rng.getrandbits(32), rng.choice([0, 0xF, 0x3, 0x8]))
        for _ in range(count)
    ]
    answers = [(rng.getrandbits(32), rng.choice([OKAY, OKAY, SLVERR])) for _ in wanted]
    seen = []

    async def slave(context):
        for data, response in answers:
            taken = {}
            # The channels of a write may be taken in either order.
            while not ("ar" in taken or {"aw", "w"} <= taken.keys()):
                ready = {name: rng.random() >= often for name in ("aw", "w", "ar")}
                for name, value in ready.items():
                    context.set(getattr(axi, f"{name}ready"), value)
                _, _, *values = await context.tick().sample(
                    *(axi.awvalid, axi.wvalid, axi.arvalid),
                    *(axi.awaddr, axi.wdata, axi.wstrb, axi.araddr),
                )
                aw, w, ar, write_address, write_data, strobes, read_address = values
                for name, valid, value in (
                    ("aw", aw, write_address),
                    ("w", w, (write_data, strobes)),
                    ("ar", ar, read_address),
                ):
                    if valid and ready[name]:
                        assert name not in taken, f"{name} comes twice"
                        taken[name] = value
            for name in ("aw", "w", "ar"):
                context.set(getattr(axi, f"{name}ready"), 0)
            while rng.random() < often:
                await context.tick()
            kind = "r" if "ar" in taken else "b"
            context.set(getattr(axi, f"{kind}resp"), response)
            context.set(axi.rdata, data if kind == "r" else 0xDEAD)
            context.set(getattr(axi, f"{kind}valid"), 1)
            while True:
                _, _, ready = await context.tick().sample(getattr(axi, f"{kind}ready"))
                if ready:
                    break
            context.set(getattr(axi, f"{kind}valid"), 0)
            seen.append(taken)

    async def user(context):
        for (address, data, strobes), (answer, response) in zip(wanted, answers, strict=True):
            context.set(master.address, address)
            context.set(master.data, data)
            context.set(master.strobes, strobes)
            context.set(master.valid, 1)
            ready = False
            while not ready:
                _, _, ready, got, refused = await context.tick().sample(
                    master.ready, master.answer, master.refused
                )
            assert refused == (response != OKAY)
            assert strobes or got == answer
            context.set(master.valid, 0)
            for _ in range(rng.randrange(3)):
                await context.tick()
                assert not context.get(axi.awvalid | axi.wvalid | axi.arvalid)

    simulator = Simulator(master)
    simulator.add_clock(1e-6)
    simulator.add_testbench(user)
    simulator.add_testbench(slave, background=True)
    simulator.run()
    expected = [
        {"aw": address, "w": (data, strobes)} if strobes else {"ar": address}
        for address, data, strobes in wanted
    ]
    assert seen == expected


@pytest.mark.parametrize("often", [0, 0.5, pytest.param(0.9, marks=pytest.mark.matrix)])
def test_accesses(often):
    accesses(random.Random(SEED), often)
