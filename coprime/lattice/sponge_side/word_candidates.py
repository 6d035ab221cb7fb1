"""Candidates for coefficients of ML-DSA from the words of a sponge: up to two a cycle.

Source: FIPS 204, algorithms 14, 15, 30, 31 and 34. What differs: of the bytes whole words are
taken, and what a word leaves is a part of the first number of the next one.
"""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.sponge_padding import BUS_BITS, BUS_BYTES, BUS_WORD
from coprime.model.lattice.ml_dsa_sampling import CANDIDATE_BITS

from .coefficient_sampler import WIDTHS, Sample

KEPT_BITS = 16
"""Of the word before: a word leaves less than a number, and so at most 16 bits."""
WINDOW_BITS = KEPT_BITS + BUS_BITS
CANDIDATES = data.StructLayout(
    {"first": CANDIDATE_BITS, "second": CANDIDATE_BITS, "has_second": 1},
)
STEP_WIDTHS = WIDTHS | {Sample.SHORT_2: 4, Sample.SHORT_4: 4}
"""Bits from a candidate's first bit to the next one's."""
_NARROWEST = min(WIDTHS.values())
"""The second candidate of a step begins at this bit of the window, or after it."""


@dataclass(frozen=True)
class CandidateStep:
    """What a cycle makes of a word.

    Attributes
    ----------
    candidates (int): 1 or 2
    uses_up (bool): the word has no other one
    offset (int): where the next candidate begins, in the window of the next step
    """

    candidates: int
    uses_up: bool
    offset: int


def step_at(sample: Sample, offset: int) -> CandidateStep:
    """Of the candidate that begins at a bit of the window: the 16 bits before a word, and the word.

    The first one of a message begins at bit KEPT_BITS.
    """
    width = STEP_WIDTHS[sample]
    candidates = 2 if offset + 2 * width <= WINDOW_BITS else 1
    after = offset + candidates * width
    uses_up = after + width > WINDOW_BITS
    return CandidateStep(candidates, uses_up, after - BUS_BITS if uses_up else after)


class WordCandidates(wiring.Component):
    """A word a cycle, of which up to two candidates are selected; of half bytes one in four cycles.

    | sample | candidates in successive cycles | words |
    |---|---|---:|
    | UNIFORM, 24 bits each | 1, 1, 2 | 3 |
    | MASK_20 | 1, 2, 1, 2, 2 | 5 |
    | MASK_18 | 1, 2, 2, 2, 1, 2, 2, 2, 2 | 9 |
    | SHORT_2, SHORT_4 | 2, 2, 2, 2 | 1 |

    Members
    -------
    enable (1 bit, in): there is a polynomial; 0 for a cycle at least before the next one
    sample (in): of Sample, stable while `enable`
    words (in): words of a hash unit, all of 4 bytes
    candidates (out): a register, with `first` and, if `has_second`, `second`: 23 bits each. Above a
        candidate's own bits there are others
    drop (1 bit, in): no more candidates are needed: words are discarded, one a cycle
    used_up (1 bit, out): all words were taken
    wipe (1 bit, in): clear what has held a secret; `enable` is 0 in the next cycle
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "enable": In(1),
                "sample": In(Sample),
                "words": In(stream.Signature(BUS_WORD)),
                "candidates": Out(stream.Signature(CANDIDATES)),
                "drop": In(1),
                "used_up": Out(1),
                "wipe": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The second candidate, too, is selected from the window by itself."""
        m = Module()
        word, candidates, is_short = self.words.payload, self.candidates, Value.cast(self.sample)[1]
        before = Signal(KEPT_BITS)
        window = Cat(before, word.data)
        # Places are in units of two bits, as all widths are even: a word is 16 of them, so that 4
        # bits of the place after a step are that in the next window.
        start = KEPT_BITS // 2
        offset, after, beyond = Signal(range(start + 1), init=start), Signal(4), Signal(3)
        quarter = Signal(range(BUS_BYTES))  # the byte whose halves are candidates
        two_fit, uses_up, takes, moves, steps = (Signal() for _ in range(5))
        with m.Switch(self.sample):
            for sample, width in WIDTHS.items():
                with m.Case(sample):
                    m.d.comb += [
                        two_fit.eq(offset <= WINDOW_BITS // 2 - width),
                        after.eq(offset + Mux(two_fit, width, width // 2)),
                        beyond.eq(offset + (width - _NARROWEST) // 2),
                    ]
        halves = word.data.word_select(quarter, 8)
        m.d.comb += [
            moves.eq(~candidates.valid | candidates.ready),
            uses_up.eq(~is_short | quarter.all()),
            self.words.ready.eq(self.enable & ~self.used_up & (self.drop | (moves & uses_up))),
            takes.eq(self.words.valid & self.words.ready),
            steps.eq(self.words.valid & self.enable & ~self.used_up & ~self.drop & moves),
        ]
        with m.If(moves):
            m.d.sync += candidates.valid.eq(steps)
        with m.If(steps):
            found = candidates.payload
            with m.If(is_short):
                m.d.sync += [found.first.eq(halves[:4]), found.second.eq(halves[4:])]
                m.d.sync += [found.has_second.eq(1), quarter.eq(quarter + 1)]
            with m.Else():
                m.d.sync += [
                    found.first.eq(window >> Cat(Const(0, 1), offset)),
                    found.second.eq(window[_NARROWEST:] >> Cat(Const(0, 1), beyond)),
                    found.has_second.eq(two_fit),
                    offset.eq(after),
                ]
        with m.If(takes):
            m.d.sync += [before.eq(word.data[-KEPT_BITS:]), self.used_up.eq(word.last)]
        with m.If(~self.enable):
            m.d.sync += [candidates.valid.eq(0), self.used_up.eq(0)]
            m.d.sync += [offset.eq(start), quarter.eq(0)]
        with m.If(self.wipe):
            m.d.sync += [before.eq(0), candidates.payload.eq(0), candidates.valid.eq(0)]
        return m
