"""Welch's t-test of every sample of a trace, of first and second order, in one pass.

Source: Goodwill, Jun, Jaffe, Rohatgi 2011, "A testing methodology for side-channel resistance
validation", and ISO/IEC 17825: traces with a fixed and with random inputs, two groups whose means
must not differ. Second order: the squares of the samples, centred in their group. Schneider, Moradi
2015, "Leakage assessment methodology", has the moments that this takes.

What differs: powers of the difference from a reference, which is one trace of the device itself,
are summed up. Samples are numbers of bits, so these sums are whole numbers, which are exact in
double precision up to 2^53, in whatever order blocks of traces are added. With noise they are
rounded, but do not lose digits, as the differences are small.
"""

import math
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

THRESHOLD = 4.5
"""|t| from which a sample is taken to leak (Goodwill et al.), if it were the only one."""
_ERROR = 1e-5
"""Probability that any of the samples of a trace without leakage passes the corrected threshold."""
MOST = 1e9  # |t| of a sample that differs between the groups and never within one


def corrected_threshold(samples: int) -> float:
    """|t| that the largest of so many samples (1 or more) without leakage passes once in 100,000
    tests.

    Ding, Zhang, Durvaux, Standaert, Fei 2017, "Towards sound and optimal leakage detection
    procedure": Šidák's correction, of a normal distribution. It holds for samples that depend on
    each other, too, as a bound.
    """
    alone = -math.expm1(math.log1p(-_ERROR) / samples)
    return -NormalDist().inv_cdf(alone / 2)


@dataclass
class Moments:
    """Sums of powers of the samples' differences from a reference, of one group."""

    reference: npt.NDArray[np.floating | np.integer]  # a number for each sample
    count: int = 0
    powers: int = 4  # of the differences, from the first on: 2 for the first order, 4 for both
    sums: Array = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros((self.powers, self.reference.size))

    def add(self, traces: npt.NDArray[np.floating | np.integer]) -> None:
        """Add traces: an array of (traces, samples)."""
        self.count += len(traces)
        # Most samples of a circuit in constant time are always the same.
        varying = np.flatnonzero((traces != self.reference).any(axis=0))
        difference: Array = traces[:, varying].astype(np.float64) - self.reference[varying]
        power = difference.copy()
        for sums in self.sums:
            sums[varying] += power.sum(axis=0)
            power *= difference

    def merge(self, other: "Moments") -> None:
        """Add what another one of the same reference has."""
        self.count += other.count
        self.sums += other.sums

    def of_order(self, order: int) -> tuple[Array, Array]:
        """Mean and variance, as of a population, of each sample or of its centred square."""
        first, second, *higher = self.sums / self.count
        variance = second - first**2
        if order == 1:
            return first, variance
        third, fourth = higher
        central = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        return variance, central - variance**2


def t_values(fixed: Moments, other: Moments, order: int) -> Array:
    """Welch's t of each sample; 0 where a sample is the same in all traces.

    MOST where it differs between the groups and never within one. ValueError for a group of
    fewer than two traces.
    """
    return welch(fixed.of_order(order), fixed.count, other.of_order(order), other.count)


def welch(
    fixed: tuple[Array, Array], fixed_count: int, other: tuple[Array, Array], other_count: int
) -> Array:
    """Welch's t of means and variances of two groups, and the numbers of their traces.

    Values are those of `t_values`. ValueError for a group of fewer than two traces.
    """
    if min(fixed_count, other_count) < 2:
        raise ValueError("a t-test needs two traces in each group")
    (mean, variance), (other_mean, other_variance) = fixed, other
    # Variances of sums of whole numbers are 0 up to rounding, which must not be divided by.
    squares = np.maximum(variance, 0) / (fixed_count - 1)
    squares += np.maximum(other_variance, 0) / (other_count - 1)
    difference = mean - other_mean
    tiny = 1e-12 * (1 + np.abs(mean) + np.abs(other_mean))
    difference[np.abs(difference) < tiny] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(difference == 0, 0.0, difference / np.sqrt(squares)), -MOST, MOST)
