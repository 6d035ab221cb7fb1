"""The health tests of a noise source, sample by sample in integers, and their cutoffs.

Source: NIST SP 800-90B (2018), sections 4.4.1 (repetition count) and 4.4.2 (adaptive proportion),
for binary samples. What differs: the repetition count is also taken of samples that are 2 to `LAGS`
apart, which finds patterns that repeat; both tests of the standard accept them.
"""

from fractions import Fraction
from math import ceil, comb

WINDOW = 1024
"""Samples of a window of the proportion test, for binary samples."""
FALSE_ALARM_BITS = 30
"""A test of a source as good as it should be fails with a probability of at most 2^-30."""
LAGS = 8
_GUARD = 200  # bits of a probability


def repetition_cutoff(entropy: Fraction) -> int:
    """The number of equal samples, one after the other, that fails: C of section 4.4.1."""
    return 1 + ceil(FALSE_ALARM_BITS / entropy)


def proportion_cutoff(entropy: Fraction, false_alarm_bits: int = FALSE_ALARM_BITS) -> int:
    """The number of samples of a window that equal its first one and fail: C of section 4.4.2."""
    scale = 1 << _GUARD
    likely = round(2.0 ** -float(entropy) * scale)
    tail, count = 0, WINDOW + 1  # the probability of `count` equal samples or more
    while tail << false_alarm_bits <= scale**WINDOW:
        count -= 1
        ways = comb(WINDOW, count)
        tail += ways * likely**count * (scale - likely) ** (WINDOW - count)
    return count + 1


class HealthModel:
    """The tests. `take` gives whether a sample, after those before, fails."""

    def __init__(self, entropy: Fraction):
        self.repetition = repetition_cutoff(entropy)
        self.proportion = proportion_cutoff(entropy)
        self._past: list[int] = []
        self._runs = [0] * LAGS
        self._first = self._place = self._equal = 0

    def take(self, sample: int) -> bool:
        """Count a sample, 0 or 1."""
        failed = False
        for back in range(1, LAGS + 1):
            if back <= len(self._past):
                same = self._past[-back] == sample
                self._runs[back - 1] = self._runs[back - 1] + 1 if same else 0
                failed |= self._runs[back - 1] >= self.repetition - 1
        self._past = [*self._past, sample][-LAGS:]
        if self._place == 0:
            self._first, self._equal = sample, 0
        self._equal += sample == self._first
        failed |= self._equal >= self.proportion
        self._place = (self._place + 1) % WINDOW
        return failed
