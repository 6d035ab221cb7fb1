"""Samples of ML-DSA in the Amaranth simulator, against the model and the predicted cycles."""

import random

import pytest

from coprime.lattice.sponge_side.ball_sampler import TAUS
from coprime.lattice.sponge_side.coefficient_sampler import Sample
from coprime.lattice.sponge_side.large_sampler import LargeSampler
from coprime.model.lattice import ml_dsa_sampling as model
from tests.lattice.sponge_side.large_sampler_bench import (
    BYTES,
    MODELS,
    N,
    Polynomial,
    interesting,
    run,
)


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("sample", Sample)
def test_polynomials_are_the_models_in_the_predicted_cycles(sample):
    generator = random.Random(f"{sample}")
    polynomials = [
        Polynomial(interesting(sample, generator), sample, stalls=stalls) for stalls in (0, 0, 0.3)
    ]
    run(LargeSampler(), polynomials)
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
    run(LargeSampler(), polynomials)
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
    run(LargeSampler(), polynomials)
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
    run(LargeSampler(), polynomials)
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
    run(LargeSampler(), polynomials)
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

    run(LargeSampler(), [], wiped)
    assert again.samples == model.challenge(good, TAUS[1])
