"""Polynomials for the samplers of ML-DSA in the Amaranth simulator."""

import random

from amaranth.sim import Simulator

from coprime.lattice.sponge_side.ball_sampler import TAUS
from coprime.lattice.sponge_side.coefficient_sampler import Sample
from coprime.lattice.sponge_side.number_pair_sampler import NumberPairSampler
from coprime.model.lattice import ml_dsa_sampling as model
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, Q

N = model.COEFFICIENTS
BYTES = {
    Sample.UNIFORM: 840,
    Sample.SHORT_2: 272,
    Sample.SHORT_4: 408,
    Sample.MASK_18: 576,
    Sample.MASK_20: 640,
}
MODELS = {
    Sample.UNIFORM: model.uniform,
    Sample.SHORT_2: lambda data: model.short(data, 2),
    Sample.SHORT_4: lambda data: model.short(data, 4),
    Sample.MASK_18: lambda data: model.mask(data, ML_DSA_SETS[0]),
    Sample.MASK_20: lambda data: model.mask(data, ML_DSA_SETS[1]),
}


def numbers_of(dut):
    """Of a sample."""
    return 2 if isinstance(dut, NumberPairSampler) else 1


class Polynomial:
    """What the sampler makes of a message's bytes.

    Attributes
    ----------
    samples : numbers that were taken
    suffices : as it said with `ends`
    cycles : from the first one in which a word is offered to `ends`
    """

    def __init__(self, data, sample=Sample.UNIFORM, tau=None, stalls=0):
        self.data, self.sample, self.tau, self.stalls = data, sample, tau, stalls
        self.samples, self.suffices, self.cycles = [], None, 0

    async def drive(self, context, dut, generator):
        """Offers words and takes samples, each with a pause sometimes, until `ends`."""
        context.set(dut.enable, 0)
        context.set(dut.is_ball, self.tau is not None)
        context.set(dut.tau, TAUS.index(self.tau) if self.tau else 0)
        context.set(dut.sample, self.sample)
        await context.tick()
        context.set(dut.enable, 1)
        words = [self.data[k : k + 4] for k in range(0, len(self.data), 4)]
        next_word, begun = 0, None
        for cycle in range(20000):
            offers = next_word < len(words) and generator.random() >= self.stalls
            takes = generator.random() >= self.stalls
            context.set(dut.words.valid, offers)
            if offers:
                context.set(dut.words.payload.data, int.from_bytes(words[next_word], "little"))
                context.set(dut.words.payload.bytes, 4)
                context.set(dut.words.payload.last, next_word == len(words) - 1)
            context.set(dut.samples.ready, takes)
            context.set(dut.at_last, len(self.samples) + numbers_of(dut) == N)
            if context.get(dut.ends):
                self.suffices = bool(context.get(dut.suffices))
                self.cycles = cycle - begun
                assert next_word == len(words)
                return
            if takes and context.get(dut.samples.valid):
                found = context.get(dut.samples.payload)
                self.samples += [found.even, found.odd] if numbers_of(dut) == 2 else [found]
            begun = cycle if begun is None and offers else begun
            if offers and context.get(dut.words.ready):
                next_word += 1
            await context.tick()
        raise AssertionError("no end")


def run(dut, polynomials, script=None):
    """Simulate them one after the other."""
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)

    async def bench(context):
        generator = random.Random(1)
        while context.get(dut.wiping):
            await context.tick()
        for one in polynomials:
            await one.drive(context, dut, generator)
        if script:
            await script(context, dut)

    simulator.add_testbench(bench)
    simulator.run()


def interesting(sample, generator):
    """Random bytes, in which a few candidates are at the limits."""
    data = bytearray(generator.randbytes(BYTES[sample]))
    if sample is Sample.UNIFORM:
        for place, number in ((0, Q), (3, Q - 1), (6, (1 << 23) - 1), (9, 1 << 23), (12, 0)):
            data[place : place + 3] = number.to_bytes(3, "little")
    return bytes(data)
