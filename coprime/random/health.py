"""The health tests of a noise source: always, on each sample.

Source and what differs: as `coprime.model.health`, which has the cutoffs; and a source that gives
no sample for `patience` cycles fails, too.
"""

from fractions import Fraction

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.health import LAGS, WINDOW, proportion_cutoff, repetition_cutoff
from coprime.parameters import check_ranges


class HealthTests(wiring.Component):
    """Tests of samples of a bit each.

    Raises ValueError for an entropy that is not above 0 and at most 1, or so small that its
    proportion is that of a window, and for patience out of range.

    Parameters
    ----------
    entropy : bits of min-entropy that a sample has at least, by which the cutoffs go
    patience : cycles from a sample to the next, at most; 2 to 2^24

    Members
    -------
    valid, sample : a sample comes
    passed : so many samples have come since a reset that the tests at start are over
    failed : a test has failed since a reset, from the cycle after its sample on
    repeated, unequal, late : which test it was: the repetition count, the proportion, the patience
    """

    def __init__(self, entropy: Fraction, patience: int = 1 << 16):
        if not 0 < entropy <= 1:
            raise ValueError(f"entropy must be above 0 and at most 1, not {entropy}")
        if proportion_cutoff(entropy) > WINDOW:
            raise ValueError(f"entropy of {entropy} bits is too low for a window of {WINDOW}")
        check_ranges(patience=(patience, range(2, (1 << 24) + 1)))
        self.entropy, self.patience = entropy, patience
        inputs, outputs = ("valid", "sample"), ("repeated", "unequal", "late")
        super().__init__(
            {
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys(("passed", "failed", *outputs), Out(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Counters, each with its cutoff."""
        m = Module()
        m.d.comb += self.failed.eq(self.repeated | self.unequal | self.late)
        self._count_repetitions(m)
        self._count_proportion(m)
        waited = Signal(range(self.patience))
        with m.If(self.valid):
            m.d.sync += waited.eq(0)
        with m.Elif(waited == self.patience - 1):
            m.d.sync += self.late.eq(1)
        with m.Else():
            m.d.sync += waited.eq(waited + 1)
        return m

    def _count_repetitions(self, m: Module) -> None:
        """Samples that equal the one before, or the one up to LAGS before, one after the other."""
        most = repetition_cutoff(self.entropy) - 1
        past, known = Signal(LAGS), Signal(range(LAGS + 1))
        with m.If(self.valid):
            m.d.sync += past.eq((past << 1) | self.sample)
            with m.If(known != LAGS):
                m.d.sync += known.eq(known + 1)
        for back in range(1, LAGS + 1):
            run = Signal(range(most + 1), name=f"run_{back}")
            same = (past[back - 1] == self.sample) & (known >= back)
            with m.If(self.valid):
                m.d.sync += run.eq(Mux(same, run + (run != most), 0))
                with m.If(same & (run >= most - 1)):
                    m.d.sync += self.repeated.eq(1)

    def _count_proportion(self, m: Module) -> None:
        """Samples of a window that equal its first one."""
        most = proportion_cutoff(self.entropy)
        place, equal, first = Signal(range(WINDOW)), Signal(range(WINDOW + 1)), Signal()
        begins = place == 0
        count = Signal.like(equal)
        m.d.comb += count.eq(Mux(begins, 1, equal + (self.sample == first)))
        with m.If(self.valid):
            m.d.sync += [place.eq(place + 1), equal.eq(count)]
            with m.If(begins):
                m.d.sync += first.eq(self.sample)
            with m.If(count >= most):
                m.d.sync += self.unequal.eq(1)
            with m.If(place == WINDOW - 1):
                m.d.sync += self.passed.eq(1)
