"""Polynomials modulo 8380417 from the words of a sponge."""

from amaranth.hdl import Module, Mux, ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.keccak.sponge_padding import BUS_BYTES, BUS_WORD
from coprime.model.lattice.ml_dsa_sampling import COEFFICIENTS

from .ball_sampler import TAUS, BallSampler
from .coefficient_sampler import COEFFICIENT, CoefficientSampler, Sample, finds
from .sampled_bytes import SampledBytes


def large_sampler_ports(samples: ShapeLike) -> dict[str, wiring.Member]:
    """Those of LargeSampler, with samples of a shape."""
    return {
        "enable": In(1),
        "is_ball": In(1),
        "sample": In(Sample),
        "tau": In(range(len(TAUS))),
        "words": In(stream.Signature(BUS_WORD)),
        "samples": Out(stream.Signature(samples)),
        "at_last": In(1),
        "ends": Out(1),
        "suffices": Out(1),
        "wipe": In(1),
        "wiping": Out(1),
    }


class LargeSampler(wiring.Component):
    """Coefficients one by one: uniform, short, of a mask, or of a challenge.

    Members
    -------
    enable (1 bit, in): there is a polynomial; 0 for a cycle at least before the next one
    is_ball (1 bit, in): it is a challenge
    sample (in): else, of Sample
    tau (in): of a challenge, of TAUS. These three are stable while `enable`
    words (in): words of a hash unit, all of 4 bytes
    samples (out): signed 24 bits
    at_last (1 bit, in): the next coefficient is the polynomial's last
    ends (1 bit, out): all bytes are used, and all coefficients are taken
    suffices (1 bit, out): with `ends`: the polynomial is complete
    wipe (1 bit, in): clear what has held a secret; `enable` is 0 in the next cycle
    wiping (1 bit, out): this is under way, as it is after a reset
    """

    def __init__(self) -> None:
        super().__init__(large_sampler_ports(COEFFICIENT))

    @staticmethod
    def cycles(sample: Sample, data: bytes) -> int:
        """From the first word's cycle to the one with `ends`, if words and takers are always ready,
        for a polynomial that is no challenge."""
        count, halves = 0, 2 if sample in (Sample.SHORT_2, Sample.SHORT_4) else 1
        for step in range(halves * len(data)):
            found = finds(sample, data, step)
            count += found
            if count == COEFFICIENTS or step == halves * len(data) - 1:
                taken = (step + 1) // halves
                used_up = SampledBytes.cycles(taken, len(data) // BUS_BYTES) + step + 1 - taken
                return max(used_up, 2 + step + found)
        return 0

    @staticmethod
    def ball_cycles(data: bytes, tau: int) -> int:
        """The same for a challenge, and bytes that suffice."""
        return 1 + BallSampler.cycles(data, tau) + COEFFICIENTS

    def elaborate(self, platform: object) -> Module:
        """Bytes for one of two samplers."""
        m = Module()
        m.submodules.source = source = SampledBytes()
        m.submodules.coefficients = coefficients = CoefficientSampler()
        m.submodules.ball = ball = BallSampler()
        is_ball = self.is_ball
        connect(m, flipped(self.words), source.words)
        m.d.comb += [
            source.enable.eq(self.enable),
            coefficients.enable.eq(self.enable & ~is_ball),
            ball.enable.eq(self.enable & is_ball),
            coefficients.sample.eq(self.sample),
            ball.tau.eq(self.tau),
            *(part.bytes.payload.eq(source.bytes.payload) for part in (coefficients, ball)),
            coefficients.bytes.valid.eq(source.bytes.valid & ~is_ball),
            ball.bytes.valid.eq(source.bytes.valid & is_ball),
            source.bytes.ready.eq(Mux(is_ball, ball.bytes.ready, coefficients.bytes.ready)),
            source.drop.eq(Mux(is_ball, ball.completes, coefficients.completes)),
            ball.missing.eq(source.used_up),
            self.samples.valid.eq(Mux(is_ball, ball.samples.valid, coefficients.samples.valid)),
            self.samples.payload.eq(
                Mux(is_ball, ball.samples.payload, coefficients.samples.payload)
            ),
            coefficients.samples.ready.eq(self.samples.ready & ~is_ball),
            ball.samples.ready.eq(self.samples.ready & is_ball),
            coefficients.at_last.eq(self.at_last),
            self.suffices.eq(Mux(is_ball, ball.complete, coefficients.complete)),
            self.ends.eq(
                source.used_up
                & Mux(is_ball, ball.complete | ball.fails, ~coefficients.samples.valid)
            ),
            *(part.wipe.eq(self.wipe) for part in (source, coefficients, ball)),
            self.wiping.eq(ball.wiping),
        ]
        return m
