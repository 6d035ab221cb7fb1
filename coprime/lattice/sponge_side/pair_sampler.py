"""Pairs of coefficients from the words of a sponge: of uniform polynomials up to one a cycle.

Source: FIPS 203, algorithm 7. Three bytes are two candidates; three words of four bytes, in as many
cycles, are enough for four cycles. Binomial polynomials are those of Sampler, a byte a cycle: with
eta = 2 a byte is a pair.
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring

from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.lattice.sampling import Q

from .instructions import Destination
from .sampler import CANDIDATE_BITS, Sampler, sampler_ports

_STEPS = 4
"""Cycles until three bytes begin with a word again."""
_STEP_BITS = 24


class UniformSampler(wiring.Component):
    """Two candidates a cycle; those that are below q make pairs, of two cycles where one is left.

    Members
    -------
    enable, words, samples, at_last, ends, suffices, wipe : as of Sampler
    accepts (2 bits, out): which candidates are below q
    """

    def __init__(self) -> None:
        ports = sampler_ports(accepts=2)
        del ports["destination"]
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Words, then three bytes, then a pair: a register for each."""
        m = Module()
        step, rest = Signal(range(_STEPS)), Signal(_STEP_BITS)
        window, holds = Signal(_STEP_BITS), Signal()
        even, odd_next = Signal(CANDIDATE_BITS), Signal()
        ended, used_up, complete = Signal(), Signal(), Signal()
        completes, moves, takes = Signal(), Signal(), Signal()
        samples, word = self.samples, self.words.payload
        at_rest = step == _STEPS - 1  # three bytes are left: no word is needed
        m.d.comb += [
            completes.eq(complete | (samples.valid & self.at_last)),
            self.words.ready.eq(
                self.enable & ~used_up & ~ended & Mux(completes, 1, samples.ready & ~at_rest)
            ),
            takes.eq(self.words.valid & self.words.ready),
            moves.eq(self.enable & ~used_up & ~completes & (takes | (at_rest & samples.ready))),
            self.ends.eq(self.enable & used_up & ~holds & ~samples.valid),
            self.suffices.eq(complete),
        ]
        # Of the bytes that are left there are as many as steps were made.
        data = word.data
        with m.Switch(step):
            for made in range(_STEPS):
                kept = rest[: 8 * made]
                needed = 8 * (_STEPS - 1 - made)
                with m.Case(made), m.If(moves):
                    m.d.sync += [window.eq(Cat(kept, data[:needed])), rest.eq(data[needed:])]
        m.d.sync += holds.eq(moves)
        with m.If(moves):
            m.d.sync += step.eq(step + 1)
        with m.If(takes & word.last):
            m.d.sync += ended.eq(1)
        with m.If((moves & at_rest & ended) | (completes & (ended | (takes & word.last)))):
            m.d.sync += used_up.eq(1)
        with m.If(samples.valid & self.at_last):
            m.d.sync += complete.eq(1)
        self._form_pairs(m, window, holds, even, odd_next, completes)
        with m.If(~self.enable):
            m.d.sync += [
                *(register.eq(0) for register in (step, holds, odd_next)),
                *(register.eq(0) for register in (ended, used_up, complete)),
            ]
        with m.If(self.wipe):
            m.d.sync += [
                *(register.eq(0) for register in (rest, window, holds, even)),
                *(samples.valid.eq(0), samples.payload.eq(0)),
            ]
        return m

    def _form_pairs(
        self,
        m: Module,
        window: Signal,
        holds: Signal,
        even: Signal,
        odd_next: Signal,
        completes: Signal,
    ) -> None:
        """The candidates that are accepted, in their order, with one that is left from before."""
        samples = self.samples
        first, second = window[:CANDIDATE_BITS], window[CANDIDATE_BITS:]
        has_first, has_second = Signal(), Signal()
        m.d.comb += [
            has_first.eq(holds & (first < Q)),
            has_second.eq(holds & (second < Q)),
            self.accepts.eq(Cat(has_first, has_second)),
        ]
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


class PairSampler(wiring.Component):
    """A Sampler, and a UniformSampler in its place for uniform polynomials. Ports: those of
    Sampler, but that `accepts` has two bits."""

    def __init__(self, target: Target = Target.GENERIC):
        self.binomial = Sampler(target, uniform=False)
        self.uniform = UniformSampler()
        super().__init__(sampler_ports(accepts=2))

    def elaborate(self, platform: object) -> Module:
        """One of the two works."""
        m = Module()
        m.submodules.binomial, m.submodules.uniform = self.binomial, self.uniform
        is_uniform = self.destination == Destination.UNIFORM.value
        parts = ((self.uniform, is_uniform), (self.binomial, ~is_uniform))
        m.d.comb += [
            self.binomial.destination.eq(self.destination),
            *same_named(self, self.uniform, "accepts"),
        ]
        for part, is_it in parts:
            m.d.comb += [
                part.enable.eq(self.enable & is_it),
                part.words.payload.eq(self.words.payload),
                part.words.valid.eq(self.words.valid),
                part.samples.ready.eq(self.samples.ready),
                *same_named(part, self, "at_last", "wipe"),
            ]
        m.d.comb += [
            self.words.ready.eq(self.uniform.words.ready | self.binomial.words.ready),
            self.samples.valid.eq(self.uniform.samples.valid | self.binomial.samples.valid),
            self.samples.payload.eq(
                Mux(
                    is_uniform,
                    self.uniform.samples.payload.as_value(),
                    self.binomial.samples.payload.as_value(),
                )
            ),
            self.ends.eq(self.uniform.ends | self.binomial.ends),
            self.suffices.eq(Mux(is_uniform, self.uniform.suffices, 1)),
        ]
        return m
