"""Samples of ML-DSA in the Amaranth simulator, against the model and the predicted cycles."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.lattice.sponge_side.ball_sampler import TAUS
from coprime.lattice.sponge_side.coefficient_sampler import Sample
from coprime.lattice.sponge_side.large_sampler import LargeSampler
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


class Polynomial:
    """What the sampler makes of a message's bytes.

    Attributes
    ----------
    samples : taken
    suffices : as it said with `ends`
    cycles : from the first word to `ends`
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
            context.set(dut.at_last, len(self.samples) == N - 1)
            if context.get(dut.ends):
                self.suffices = bool(context.get(dut.suffices))
                self.cycles = cycle - begun
                assert next_word == len(words)
                return
            if takes and context.get(dut.samples.valid):
                self.samples.append(context.get(dut.samples.payload))
            if offers and context.get(dut.words.ready):
                begun = cycle if begun is None else begun
                next_word += 1
            await context.tick()
        raise AssertionError("no end")


def run(polynomials, script=None):
    """Simulate them one after the other."""
    dut = LargeSampler()
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


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("sample", Sample)
def test_polynomials_are_the_models_in_the_predicted_cycles(sample):
    generator = random.Random(f"{sample}")
    polynomials = [
        Polynomial(interesting(sample, generator), sample, stalls=stalls) for stalls in (0, 0, 0.3)
    ]
    run(polynomials)
    for one in polynomials:
        assert one.samples == MODELS[sample](one.data)
        assert one.suffices
        if not one.stalls:
            assert one.cycles == LargeSampler.cycles(sample, one.data)


@pytest.mark.parametrize("sample", [Sample.UNIFORM, Sample.SHORT_2, Sample.SHORT_4])
def test_too_few_bytes_are_reported(sample):
    """The next polynomial is not disturbed by what was left."""
    few = b"\xff" * 64 + bytes(20)
    good = random.Random(3).randbytes(BYTES[sample])
    polynomials = [Polynomial(few, sample), Polynomial(good, sample)]
    run(polynomials)
    assert polynomials[0].samples == MODELS[sample](few)
    assert not polynomials[0].suffices
    assert polynomials[0].cycles == LargeSampler.cycles(sample, few)
    assert polynomials[1].samples == MODELS[sample](good)
    assert polynomials[1].suffices


@pytest.mark.parametrize("tau", TAUS)
def test_challenges_are_the_models_in_the_predicted_cycles(tau):
    generator = random.Random(tau)
    same = bytes(8) + bytes(range(256 - tau, 256)) + bytes(136 - 8 - tau)
    polynomials = [
        Polynomial(generator.randbytes(136), tau=tau),
        Polynomial(b"\xa5" * 8 + bytes(128), tau=tau),
        Polynomial(same, tau=tau),
        Polynomial(generator.randbytes(136), tau=tau, stalls=0.3),
    ]
    run(polynomials)
    for one in polynomials:
        assert one.samples == model.challenge(one.data, tau)
        assert one.suffices
        if not one.stalls:
            assert one.cycles == LargeSampler.ball_cycles(one.data, tau)


def test_a_challenge_that_needs_more_bytes_is_forgotten():
    tau = TAUS[0]
    good = random.Random(5).randbytes(136)
    few = good[:8] + good[8:32] + b"\xff" * 104
    polynomials = [Polynomial(few, tau=tau), Polynomial(good, tau=tau)]
    run(polynomials)
    assert model.challenge(few, tau) is None
    assert polynomials[0].samples == [] and not polynomials[0].suffices
    assert polynomials[1].samples == model.challenge(good, tau)


def test_kinds_follow_each_other():
    generator = random.Random(9)
    polynomials = [
        Polynomial(generator.randbytes(576), Sample.MASK_18),
        Polynomial(generator.randbytes(136), tau=TAUS[2]),
        Polynomial(generator.randbytes(408), Sample.SHORT_4),
        Polynomial(generator.randbytes(840), Sample.UNIFORM),
    ]
    run(polynomials)
    assert polynomials[0].samples == MODELS[Sample.MASK_18](polynomials[0].data)
    assert polynomials[1].samples == model.challenge(polynomials[1].data, TAUS[2])
    assert polynomials[2].samples == MODELS[Sample.SHORT_4](polynomials[2].data)
    assert polynomials[3].samples == MODELS[Sample.UNIFORM](polynomials[3].data)


def test_a_wipe_clears_a_challenge_that_is_under_way():
    good = random.Random(7).randbytes(136)
    again = Polynomial(good, tau=TAUS[1])

    async def wiped(context, dut):
        context.set(dut.enable, 1)
        context.set(dut.is_ball, 1)
        context.set(dut.words.valid, 1)
        context.set(dut.words.payload.data, 0x01020304)
        context.set(dut.words.payload.last, 0)
        for _ in range(60):
            await context.tick()
        context.set(dut.wipe, 1)
        await context.tick()
        context.set(dut.wipe, 0)
        context.set(dut.enable, 0)
        cycles = 0
        while context.get(dut.wiping):
            await context.tick()
            cycles += 1
        assert cycles == N
        await again.drive(context, dut, random.Random(1))

    run([], wiped)
    assert again.samples == model.challenge(good, TAUS[1])
