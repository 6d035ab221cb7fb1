"""The sampler on every candidate, every byte and every number of 12 bits."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.lattice.sponge_side.instructions import Destination
from coprime.lattice.sponge_side.pair_sampler import PairSampler
from coprime.lattice.sponge_side.sampler import Sampler
from coprime.model.lattice.sampling import Q, binomial, uniform

pytestmark = pytest.mark.matrix

PAIRS = 128


def signed(number):
    return number - (1 << 18) if number >> 17 else number


class Bench:
    """A sampler; each polynomial's pairs, and whether they suffice."""

    def __init__(self, ctx, sampler, waits=0):
        self.ctx, self.sampler, self.waits = ctx, sampler, waits

    async def sample(self, destination, data):
        """So many cycles, pairs, and the verdict."""
        ctx, sampler = self.ctx, self.sampler
        ctx.set(sampler.enable, 0)
        await ctx.tick()
        ctx.set(sampler.enable, 1)
        ctx.set(sampler.destination, destination)
        words = [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]
        pairs, cycles = [], 0
        while not ctx.get(sampler.ends):
            cycles += 1
            if words:
                ctx.set(sampler.words.valid, 1)
                ctx.set(
                    sampler.words.payload,
                    {"data": words[0], "bytes": 4, "last": len(words) == 1},
                )
            else:
                ctx.set(sampler.words.valid, 0)
            ctx.set(sampler.at_last, len(pairs) % PAIRS == PAIRS - 1)
            # A buffer has room for the first pair after some cycles, then for all.
            ctx.set(sampler.samples.ready, cycles > self.waits)
            if ctx.get(sampler.samples.valid):
                assert ctx.get(sampler.samples.ready)
                found = ctx.get(sampler.samples.payload)
                pairs.append((signed(found.even), signed(found.odd)))
            if words and ctx.get(sampler.words.ready):
                words.pop(0)
            await ctx.tick()
        assert not words
        return cycles, pairs, ctx.get(sampler.suffices)


@pytest.fixture(params=[Sampler, pytest.param(PairSampler, marks=pytest.mark.matrix)])
def simulate(request):
    """Run a coroutine on a bench with a sampler."""

    def runs(run, **settings):
        sampler = request.param()
        simulator = Simulator(sampler)
        simulator.add_clock(1e-6)

        async def testbench(ctx):
            await run(Bench(ctx, sampler, **settings))

        simulator.add_testbench(testbench)
        simulator.run()

    return runs


def paired(coefficients):
    return list(zip(coefficients[::2], coefficients[1::2], strict=True))


def packed(numbers):
    """Numbers of 12 bits as bytes."""
    whole = sum(number << 12 * k for k, number in enumerate(numbers))
    return whole.to_bytes(len(numbers) * 3 // 2, "little")


@pytest.mark.proof(quick=1)
@pytest.mark.parametrize("place", range(2))
def test_every_candidate(simulate, place):
    """In both of its places, next to one that is accepted."""

    async def run(bench):
        candidates = list(range(1 << 12))
        for start in range(0, len(candidates), 128):
            part = candidates[start : start + 128]
            numbers = [one for number in part for one in ((number, 7), (7, number))[place]]
            wanted = [one for one in numbers if one < Q]
            wanted = wanted[: len(wanted) // 2 * 2]
            _, pairs, suffices = await bench.sample(Destination.UNIFORM, packed(numbers))
            assert pairs == paired(wanted)
            assert suffices == (len(wanted) >= 256)

    simulate(run)


@pytest.mark.matrix(quick=3)
@pytest.mark.parametrize("waits", [0, 1, 50])
@pytest.mark.parametrize("destination", ["UNIFORM", "BINOMIAL_2", "BINOMIAL_3"])
def test_random_polynomials(simulate, destination, waits):
    generator = random.Random(waits)

    async def run(bench):
        for blocks in (3, 2, 3, 4, 3):
            if destination == "UNIFORM":
                data = generator.randbytes(168 * blocks)
                wanted = uniform(data)
            else:
                eta = int(destination[-1])
                data = generator.randbytes(64 * eta)
                wanted = binomial(data, eta)
            _, pairs, suffices = await bench.sample(Destination[destination], data)
            assert pairs == paired(wanted[: len(wanted) // 2 * 2])
            assert suffices == (len(wanted) == 256)

    simulate(run, waits=waits)


def test_every_byte_and_every_number_of_12_bits(simulate):
    async def run(bench):
        for eta, numbers in ((2, range(256)), (3, range(4096))):
            destination = Destination[f"BINOMIAL_{eta}"]
            for start in range(0, len(numbers), PAIRS):
                part = numbers[start : start + PAIRS]
                data = bytes(part) if eta == 2 else packed(part)
                cycles, pairs, suffices = await bench.sample(destination, data)
                assert pairs == paired(binomial(data, eta))
                assert suffices
                assert cycles == len(data) + 2  # a register for the word and one for the pair

    simulate(run)
