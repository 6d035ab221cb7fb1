"""Pairs of coefficients modulo 8380417 from the words of a sponge: up to one a cycle.

Source: FIPS 204, algorithms 14, 15, 29, 30, 31 and 34; the model is
`../../model/lattice/ml_dsa_sampling.py`. Words become candidates in `word_candidates.py`, two a
cycle; a challenge comes from BallSampler, a number a cycle.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect

from coprime.cells.keccak.sponge_padding import BUS_BYTES
from coprime.cells.tables import look_up
from coprime.lattice.memory.sample_buffer import NUMBER, NUMBER_PAIR
from coprime.model.lattice import ml_dsa_sampling as model
from coprime.model.lattice.ml_dsa_sets import Q

from .ball_sampler import BallSampler
from .coefficient_sampler import REFUSED, Sample, half_byte_words
from .large_sampler import large_sampler_ports
from .sampled_bytes import SampledBytes
from .word_candidates import KEPT_BITS, STEP_WIDTHS, WordCandidates, step_at

NUMBERS = data.StructLayout(
    {"first": NUMBER, "second": NUMBER, "has_first": 1, "has_second": 1},
)
"""Up to two coefficients, in order; either may be missing."""
_MASK_BITS = 20


def is_accepted(sample: Sample, candidate: int) -> bool:
    """Whether a candidate, of as many bits as its sample has, is a coefficient."""
    if sample is Sample.UNIFORM:
        return candidate & (1 << model.CANDIDATE_BITS) - 1 < Q
    if sample in (Sample.SHORT_2, Sample.SHORT_4):
        return half_byte_words()[(sample is Sample.SHORT_4) << 4 | candidate] != REFUSED
    return True


def _accepted_in_steps(sample: Sample, data: bytes) -> list[int]:
    """How many coefficients each step finds."""
    width, bits = STEP_WIDTHS[sample], int.from_bytes(data, "little")
    found, offset, word = [], KEPT_BITS, 0
    while word < len(data) // BUS_BYTES:
        step = step_at(sample, offset)
        place = 8 * BUS_BYTES * word + offset - KEPT_BITS
        candidates = (bits >> place + width * k & (1 << width) - 1 for k in range(step.candidates))
        found.append(sum(is_accepted(sample, candidate) for candidate in candidates))
        offset, word = step.offset, word + step.uses_up
    return found


class NumberPairSampler(wiring.Component):
    """Candidates, then coefficients, then a pair: a register for each.

    A pair waits until it is taken, and with it what comes after it. Ports: those of LargeSampler,
    but that `samples` are of NUMBER_PAIR, and `at_last` marks the polynomial's last pair.
    `samples.payload` is 0 from the cycle after `wipe` on.
    """

    def __init__(self) -> None:
        super().__init__(large_sampler_ports(NUMBER_PAIR))

    @staticmethod
    def cycles(sample: Sample, data: bytes) -> int:
        """From the cycle in which the first word is offered to the one with `ends`, if words and
        takers are always ready, for a polynomial that is no challenge."""
        words = len(data) // BUS_BYTES
        made, ends = 0, 0
        steps_of_word = 8 * BUS_BYTES // (2 * STEP_WIDTHS[sample]) or 1
        for step, accepted in enumerate(_accepted_in_steps(sample, data)):
            before, made = made, made + accepted
            if made >= model.COEFFICIENTS:
                shown = step + 3  # the cycle in which the last pair is taken, and dropping begins
                taken = min(shown // steps_of_word, words)
                return max(shown + words - taken, shown + 1)
            ends = max(ends, step + 2 + (accepted > 0) + (made // 2 > before // 2))
        return ends

    @staticmethod
    def ball_cycles(data: bytes, tau: int) -> int:
        """The same for a challenge, and bytes that suffice."""
        return 1 + BallSampler.cycles(data, tau) + model.COEFFICIENTS + 2

    def elaborate(self, platform: object) -> Module:
        """Two sources of coefficients, and what makes pairs of them."""
        m = Module()
        m.submodules.candidates = candidates = WordCandidates()
        m.submodules.source = source = SampledBytes()
        m.submodules.ball = ball = BallSampler()
        numbers, complete = Signal(NUMBERS), Signal()
        moves, completes, empty = Signal(), Signal(), Signal()
        is_ball, samples = self.is_ball, self.samples
        connect(m, source.bytes, ball.bytes)
        for part, works in ((candidates, ~is_ball), (source, is_ball)):
            m.d.comb += [
                part.enable.eq(self.enable & works),
                part.words.payload.eq(self.words.payload),
                part.words.valid.eq(self.words.valid),
            ]
        m.d.comb += [
            self.words.ready.eq(candidates.words.ready | source.words.ready),
            *(part.wipe.eq(self.wipe) for part in (candidates, source, ball)),
            moves.eq(~samples.valid | samples.ready),
            completes.eq(complete | (samples.valid & self.at_last)),
            candidates.sample.eq(self.sample),
            candidates.drop.eq(completes),
            candidates.candidates.ready.eq(moves),
            ball.enable.eq(self.enable & is_ball),
            ball.tau.eq(self.tau),
            ball.missing.eq(source.used_up),
            ball.samples.ready.eq(moves),
            source.drop.eq(ball.completes),
            empty.eq(
                ~(candidates.candidates.valid | numbers.has_first | numbers.has_second)
                & ~samples.valid
            ),
            self.ends.eq(
                Mux(
                    is_ball,
                    source.used_up & (complete | ball.fails),
                    candidates.used_up & (complete | empty),
                )
            ),
            self.suffices.eq(complete),
            self.wiping.eq(ball.wiping),
        ]
        with m.If(moves):
            self._accept(m, candidates, ball, numbers)
        with m.If(samples.valid & samples.ready & self.at_last):
            m.d.sync += complete.eq(1)
        self._form_pairs(m, numbers, moves, completes)
        with m.If(~self.enable):
            m.d.sync += [complete.eq(0), numbers.has_first.eq(0), numbers.has_second.eq(0)]
        with m.If(self.wipe):
            m.d.sync += numbers.eq(0)
        return m

    def _accept(
        self, m: Module, candidates: WordCandidates, ball: BallSampler, numbers: data.View
    ) -> None:
        """The register of coefficients. After a wipe it is 0 until there is a candidate, as what a
        mask is made of zeros is not 0."""
        offered = candidates.candidates
        found = offered.payload
        first, has_first = self._coefficient(found.first)
        second, has_second = self._coefficient(found.second)
        m.d.sync += [numbers.has_first.eq(0), numbers.has_second.eq(0)]
        with m.If(ball.samples.valid):
            m.d.sync += [numbers.first.eq(ball.samples.payload), numbers.has_first.eq(1)]
        with m.Elif(offered.valid):
            m.d.sync += [
                numbers.first.eq(first),
                numbers.second.eq(second),
                numbers.has_first.eq(has_first),
                numbers.has_second.eq(has_second & found.has_second),
            ]

    def _coefficient(self, candidate: Value) -> tuple[Value, Value]:
        """Of a candidate: the coefficient, and whether it is accepted."""
        sample = Value.cast(self.sample)
        is_short, is_mask, is_larger = sample[1], sample[2], sample[0]
        half_byte = look_up(half_byte_words(), Cat(candidate[:4], is_larger), 4)
        gamma1 = Mux(is_larger, 1 << _MASK_BITS - 1, 1 << _MASK_BITS - 3)
        width_mask = Mux(is_larger, (1 << _MASK_BITS) - 1, (1 << _MASK_BITS - 2) - 1)
        masked = gamma1 - (candidate[:_MASK_BITS] & width_mask)
        number = Mux(is_short, half_byte.as_signed(), Mux(is_mask, masked, candidate))
        return number, Mux(is_short, half_byte != REFUSED, is_mask | (candidate < Q))

    def _form_pairs(self, m: Module, numbers: data.View, moves: Signal, completes: Signal) -> None:
        """The coefficients, in their order, with one that is left from before."""
        samples = self.samples
        even, odd_next = Signal(NUMBER), Signal()
        first, second, has_first, has_second = (numbers[name] for name in NUMBERS.members)
        with m.If(moves):
            m.d.sync += [
                samples.valid.eq(
                    Mux(odd_next, has_first | has_second, has_first & has_second) & ~completes
                ),
                samples.payload.even.eq(Mux(odd_next, even, first)),
                samples.payload.odd.eq(Mux(odd_next & has_first, first, second)),
                odd_next.eq(odd_next ^ has_first ^ has_second),
            ]
            with m.If(has_first & ~odd_next & ~has_second):
                m.d.sync += even.eq(first)
            with m.If(has_second & (odd_next == has_first)):
                m.d.sync += even.eq(second)
        with m.If(~self.enable):
            m.d.sync += [samples.valid.eq(0), odd_next.eq(0)]
        with m.If(self.wipe):
            m.d.sync += [even.eq(0), samples.payload.eq(0), samples.valid.eq(0)]
