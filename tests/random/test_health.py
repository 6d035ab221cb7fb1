"""The health tests and what follows from a failure: in the hardware, 1,000 times."""

import ctypes
from fractions import Fraction

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.health import (
    FALSE_ALARM_BITS,
    WINDOW,
    HealthModel,
    proportion_cutoff,
    repetition_cutoff,
)
from coprime.random.generator import Generator, SourceState
from coprime.random.health import HealthTests
from coprime.random.noise_generator import NoiseGenerator
from coprime.random.seed_material import ENTROPY, MATERIAL_BITS
from tests.combinational import Bench
from tests.random.noise import KINDS, failing, samples

PATIENCE = 300
SETTINGS = (
    {"ones": 0.5},
    {"ones": 0.65},
    {"ones": 0.5, "stays": 0.7},
    {"ones": 0.6, "stays": 0.6},
)


def test_cutoffs_follow_from_the_entropy():
    """The probability of a false alarm is as wanted, and that of one sample less is greater."""
    assert repetition_cutoff(Fraction(1)) == 31 and repetition_cutoff(ENTROPY) == 121
    assert proportion_cutoff(Fraction(1), 20) == 589  # as the standard has it
    for entropy in (Fraction(1), Fraction(1, 2), ENTROPY):
        cutoff, p = proportion_cutoff(entropy), 2.0 ** -float(entropy)
        deviation = (WINDOW * p * (1 - p)) ** 0.5
        assert 5 < (cutoff - WINDOW * p) / deviation < 7
        logs = np.cumsum(np.log(np.arange(1, WINDOW + 1)))
        fall = np.concatenate(([0], logs))
        counts = np.arange(cutoff, WINDOW + 1)
        chance = np.exp(
            fall[WINDOW]
            - fall[counts]
            - fall[WINDOW - counts]
            + counts * np.log(p)
            + (WINDOW - counts) * np.log(1 - p)
        ).sum()
        assert chance <= 2.0**-FALSE_ALARM_BITS < chance * 3


@pytest.mark.parametrize("entropy", [Fraction(0), Fraction(-1), Fraction(3, 2), Fraction(1, 100)])
def test_impossible_entropies_are_refused(entropy):
    with pytest.raises(ValueError, match="entropy"):
        HealthTests(entropy)


class Flat(wiring.Component):
    """The generator with its noise, with plain ports."""

    def __init__(self):
        self.source = NoiseGenerator(patience=PATIENCE)
        super().__init__(
            {
                **dict.fromkeys(("valid", "sample", "restart", "ready"), In(1)),
                **dict.fromkeys(("given", "repeated", "unequal", "late"), Out(1)),
                "state": Out(2),
                "byte": Out(8),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.source = source = self.source
        for name in ("valid", "sample", "restart"):
            m.d.comb += getattr(source, name).eq(getattr(self, name))
        for name in ("repeated", "unequal", "late", "state"):
            m.d.comb += getattr(self, name).eq(getattr(source, name))
        m.d.comb += [
            source.random.ready.eq(self.ready),
            self.given.eq(source.random.valid & self.ready),
            self.byte.eq(source.random.payload),
        ]
        return m


VALID, SAMPLE, RESTART, READY = (1 << k for k in range(4))


class Source:
    """The hardware, fed with cycles."""

    def __init__(self):
        self.bench = Bench([Flat()], latencies=[1])

    def run(self, inputs):
        """Outputs of each cycle, by name."""
        given = np.zeros((len(inputs), self.bench.in_words), dtype=np.uint32)
        given[:, 0] = inputs
        found = np.zeros((len(inputs), self.bench.out_words), dtype=np.uint32)
        self.bench._run(
            ctypes.c_uint64(len(inputs)),
            given.tobytes(),
            found.ctypes.data_as(ctypes.c_void_p),
        )
        row, names = found[:, 0], ("given", "repeated", "unequal", "late")
        outputs = {name: row >> k & 1 for k, name in enumerate(names)}
        return outputs | {"state": row >> 4 & 3, "byte": row >> 6 & 0xFF}


def model_failure(stream):
    """The first sample that fails a test; None if none does."""
    model = HealthModel(ENTROPY)
    return next((k for k, one in enumerate(stream.tolist()) if model.take(one)), None)


def failures(count, seed):
    """Inject failures, and check each of them; how many there were, by kind."""
    generator = np.random.default_rng(seed)
    limit = repetition_cutoff(ENTROPY)
    start = Generator.start_cycles() + 20
    runs, rows = [], []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        before = WINDOW + MATERIAL_BITS + int(generator.integers(3000, 6000))
        settings = SETTINGS[number // len(KINDS) % len(SETTINGS)]
        stream, complete = failing(generator, kind, before, 2500, settings=settings)
        rest = PATIENCE + 10 if kind == "stop" else 0
        head = samples(generator, start).astype(np.uint32) * SAMPLE
        head[5::2] |= VALID
        head[0] = RESTART
        body = stream.astype(np.uint32) * SAMPLE + np.uint32(VALID | READY)
        tail = np.full(rest, READY, dtype=np.uint32)
        place = sum(map(len, rows))
        rows += [head, body, tail]
        runs.append((kind, place, len(head), len(stream), complete, rest))
    found = Source().run(np.concatenate(rows))
    counted = dict.fromkeys(KINDS, 0)
    for kind, place, head, size, complete, rest in runs:
        part = {name: one[place : place + head + size + rest] for name, one in found.items()}
        failed = part["repeated"] | part["unequal"] | part["late"]
        reports = np.flatnonzero(failed[20:]) + 20
        assert len(reports), kind
        report = int(reports[0])
        # Within the tests' own limits from when the source has failed completely.
        begun = head + complete
        assert begun - WINDOW * (kind == "drift") <= report, kind
        assert report <= begun + (PATIENCE if kind == "stop" else limit) + 2, kind
        assert part["given"][head:report].any(), "there were bytes before"
        assert not part["given"][report + 1 :].any(), "a byte after the failure"
        assert (part["state"][report + 2 :] == SourceState.FAILED).all()
        counted[kind] += 1
    return counted


@pytest.mark.fuzz
def test_a_thousand_failures_are_reported_and_no_byte_follows():
    assert failures(1000, seed=1) == dict.fromkeys(KINDS, 250)
