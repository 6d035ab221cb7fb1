"""Candidates for coefficients of ML-DSA from the words of a sponge: up to two a cycle.

Source: FIPS 204, algorithms 14, 15, 30, 31 and 34. What differs: of the bytes whole words are
taken, and what a word leaves is a part of the first number of the next one.
"""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.sponge_padding import BUS_BITS, BUS_WORD
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


@dataclass(frozen=True)
class Step:
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


def step_at(sample: Sample, offset: int) -> Step:
    """Of the candidate that begins at a bit of the window: the 16 bits before a word, and the word.

    The first one of a message begins at bit KEPT_BITS.
    """
    width = STEP_WIDTHS[sample]
    candidates = 2 if offset + 2 * width <= WINDOW_BITS else 1
    after = offset + candidates * width
    uses_up = after + width > WINDOW_BITS
    return Step(candidates, uses_up, after - BUS_BITS if uses_up else after)


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
        """A window that is shifted to the first candidate."""
        m = Module()
        word, candidates = self.words.payload, self.candidates
        before = Signal(KEPT_BITS)
        # All widths are even, and so are the bits at which candidates begin.
        start, whole = KEPT_BITS // 2, WINDOW_BITS // 2
        offset, after = Signal(range(whole), init=start), Signal(range(whole + 1))
        two_fit, uses_up, takes, moves, steps = (Signal() for _ in range(5))
        shifted = Cat(before, word.data) >> Cat(Const(0, 1), offset)
        second = Signal(CANDIDATE_BITS)
        with m.Switch(self.sample):
            for sample, width in STEP_WIDTHS.items():
                with m.Case(sample):
                    m.d.comb += [
                        two_fit.eq(offset <= whole - width),
                        after.eq(offset + Mux(two_fit, width, width // 2)),
                        uses_up.eq(after > whole - width // 2),
                        second.eq(shifted[width : 2 * width]),
                    ]
        m.d.comb += [
            moves.eq(~candidates.valid | candidates.ready),
            self.words.ready.eq(self.enable & ~self.used_up & (self.drop | (moves & uses_up))),
            takes.eq(self.words.valid & self.words.ready),
            steps.eq(self.words.valid & self.enable & ~self.used_up & ~self.drop & moves),
        ]
        with m.If(moves):
            m.d.sync += candidates.valid.eq(steps)
        with m.If(steps):
            m.d.sync += [
                candidates.payload.first.eq(shifted),
                candidates.payload.second.eq(second),
                candidates.payload.has_second.eq(two_fit),
                offset.eq(Mux(uses_up, after - BUS_BITS // 2, after)),
            ]
        with m.If(takes):
            m.d.sync += [before.eq(word.data[-KEPT_BITS:]), self.used_up.eq(word.last)]
        with m.If(~self.enable):
            m.d.sync += [candidates.valid.eq(0), offset.eq(start), self.used_up.eq(0)]
        with m.If(self.wipe):
            m.d.sync += [before.eq(0), candidates.payload.eq(0), candidates.valid.eq(0)]
        return m
