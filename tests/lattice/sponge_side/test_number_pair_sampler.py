"""Pairs of coefficients of ML-DSA in the Amaranth simulator: those of the model, in the predicted
cycles and in those of the twin."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.keccak.twin import bus_words
from coprime.lattice.sponge_side.ball_sampler import TAUS
from coprime.lattice.sponge_side.coefficient_sampler import Sample
from coprime.lattice.sponge_side.instructions import Destination
from coprime.lattice.sponge_side.number_pair_sampler import NumberPairSampler
from coprime.lattice.sponge_side.number_pair_sampler_twin import NumberPairSamplerTwin
from coprime.lattice.sponge_side.word_candidates import KEPT_BITS, STEP_WIDTHS, step_at
from coprime.model.lattice import ml_dsa_sampling as model
from tests.lattice.sponge_side.large_sampler_bench import (
    BYTES,
    MODELS,
    N,
    Polynomial,
    interesting,
    run,
)

ACCEPTED_IN_HALF_BYTES = {Sample.SHORT_2: 15, Sample.SHORT_4: 9}


@pytest.mark.parametrize("sample", Sample)
def test_candidates_follow_each_other_without_a_gap(sample):
    """Until one begins with a word again."""
    offset, place, words, width = KEPT_BITS, 0, 0, STEP_WIDTHS[sample]
    while place == 0 or offset != KEPT_BITS:
        assert place == 32 * words + offset - KEPT_BITS
        step = step_at(sample, offset)
        place += width * step.candidates
        words += step.uses_up
        offset = step.offset
        assert offset >= 0 and offset % 2 == 0
    assert place == 32 * words


@pytest.mark.parametrize("sample", Sample)
def test_polynomials_are_the_models_in_the_predicted_cycles(sample):
    generator = random.Random(f"{sample}")
    polynomials = [
        Polynomial(interesting(sample, generator), sample, stalls=stalls) for stalls in (0, 0, 0.3)
    ]
    run(NumberPairSampler(), polynomials)
    for one in polynomials:
        assert one.samples == MODELS[sample](one.data)
        assert one.suffices
        if not one.stalls:
            assert one.cycles == NumberPairSampler.cycles(sample, one.data)


@pytest.mark.parametrize("sample", [Sample.UNIFORM, Sample.SHORT_2, Sample.SHORT_4])
@pytest.mark.parametrize("ending", [b"\xff", b"\x00"], ids=["refused", "accepted"])
def test_too_few_bytes_are_reported(sample, ending):
    """The next polynomial is not disturbed by what was left; a number without another one is
    forgotten."""
    few = b"\xff" * 64 + bytes(17) + b"\xf0" + 2 * bytes(1) + 4 * ending
    good = random.Random(3).randbytes(BYTES[sample])
    polynomials = [Polynomial(few, sample), Polynomial(good, sample)]
    run(NumberPairSampler(), polynomials)
    wanted = MODELS[sample](few)
    assert polynomials[0].samples == wanted[: len(wanted) // 2 * 2]
    assert not polynomials[0].suffices
    assert polynomials[0].cycles == NumberPairSampler.cycles(sample, few)
    assert polynomials[1].samples == MODELS[sample](good)
    assert polynomials[1].suffices


@pytest.mark.parametrize("tau", TAUS)
def test_challenges_are_the_models_in_the_predicted_cycles(tau):
    generator = random.Random(tau)
    polynomials = [
        Polynomial(generator.randbytes(136), tau=tau),
        Polynomial(generator.randbytes(136), tau=tau, stalls=0.3),
    ]
    run(NumberPairSampler(), polynomials)
    for one in polynomials:
        assert one.samples == model.challenge(one.data, tau)
        assert one.suffices
    assert polynomials[0].cycles == NumberPairSampler.ball_cycles(polynomials[0].data, tau)


def test_a_challenge_that_needs_more_bytes_is_forgotten():
    tau = TAUS[0]
    good = random.Random(5).randbytes(136)
    few = good[:32] + b"\xff" * 104
    polynomials = [Polynomial(few, tau=tau), Polynomial(good, tau=tau)]
    run(NumberPairSampler(), polynomials)
    assert polynomials[0].samples == [] and not polynomials[0].suffices
    assert polynomials[1].samples == model.challenge(good, tau)


class Taker:
    """What the twin sees of a sample buffer."""

    def __init__(self):
        self.room, self.taken, self.takes = True, 0, False

    @property
    def at_last(self):
        return self.taken == N // 2 - 1

    def take(self, _):
        assert self.room
        self.takes = True

    def tick(self):
        self.taken, self.takes = self.taken + self.takes, False


DESTINATIONS = {
    "LARGE_UNIFORM": 840,
    "SHORT_2": 272,
    "SHORT_4": 408,
    "MASK_18": 576,
    "MASK_20": 640,
    "BALL_39": 136,
}


@pytest.mark.parametrize("name", DESTINATIONS)
def test_the_twin_agrees_in_every_cycle(name):
    """Also of bytes that do not suffice, and as words and takers wait."""
    dut, destination = NumberPairSampler(), Destination[name]
    generator = random.Random(name)
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    length, is_ball = DESTINATIONS[name], name.startswith("BALL")
    messages = [generator.randbytes(length), b"\xff" * length, generator.randbytes(length)]

    async def sample(context, data):
        context.set(dut.enable, 0)
        context.set(dut.is_ball, is_ball)
        context.set(dut.tau, 0)
        context.set(dut.sample, Sample.UNIFORM if is_ball else Sample(destination.value - 8))
        await context.tick()
        context.set(dut.enable, 1)
        twin, taker, words = NumberPairSamplerTwin(), Taker(), bus_words(data)
        while True:
            offered = words[0] if words and generator.random() >= 0.2 else None
            taker.room = generator.random() >= 0.2
            context.set(dut.words.valid, offered is not None)
            if offered:
                context.set(dut.words.payload.data, offered.data)
                context.set(dut.words.payload.last, offered.last)
            context.set(dut.samples.ready, taker.room)
            context.set(dut.at_last, taker.at_last)
            takes, pair, suffices = twin.tick(destination, offered, taker)
            assert context.get(dut.ends) == (suffices is not None)
            assert context.get(dut.words.ready) == takes
            assert (context.get(dut.samples.valid) and taker.room) == (pair is not None)
            if pair:
                found = context.get(dut.samples.payload)
                assert (found.even, found.odd) == pair
            if suffices is not None:
                assert context.get(dut.suffices) == suffices
                return
            if offered and takes:
                words.pop(0)
            taker.tick()
            await context.tick()

    async def bench(context):
        while context.get(dut.wiping):
            await context.tick()
        for data in messages:
            await sample(context, data)

    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("sample", [Sample.MASK_18, Sample.SHORT_4])
@pytest.mark.parametrize("waits", [False, True])
def test_a_wipe_leaves_zeros(sample, waits):
    """What a mask, or a coefficient, is made of zeros is not 0."""

    async def wiped(context, dut):
        context.set(dut.sample, sample)
        context.set(dut.is_ball, 0)
        context.set(dut.enable, 1)
        context.set(dut.at_last, 0)
        context.set(dut.words.valid, 1)
        context.set(dut.words.payload.data, 0x01234567)
        context.set(dut.words.payload.last, 0)
        context.set(dut.samples.ready, not waits)
        await context.tick().until(dut.samples.valid)
        assert context.get(dut.samples.valid)
        context.set(dut.wipe, 1)
        await context.tick()
        context.set(dut.wipe, 0)
        context.set(dut.enable, 0)
        for _ in range(N + 2):
            found = context.get(dut.samples.payload)
            assert (found.even, found.odd) == (0, 0)
            await context.tick()
        assert not context.get(dut.wiping)

    run(NumberPairSampler(), [], wiped)
