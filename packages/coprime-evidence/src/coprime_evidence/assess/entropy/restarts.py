"""What SP 800-90B says of samples after restarts.

Source: NIST SP 800-90B (2018), section 3.1.4, for binary samples. What differs: the critical value
of its sanity check is computed from the binomial distribution, where NIST's program
(SP800-90B_EntropyAssessment, ea_restart) draws five million counts.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .assessment import checked_samples
from .estimators import Bits, estimates

RESTARTS = 1000
"""Restarts, and the samples after each of them."""
_ERROR = 0.01  # probability that samples as good as they should be fail the sanity check


@dataclass(frozen=True)
class RestartAssessment:
    """An assessment.

    Parameters
    ----------
    initial : bits of min-entropy of a sample, by samples of one run: H_I of the standard
    most, cutoff : the greatest count of one value in a row or a column, and the greatest that
        passes the sanity check
    rows, columns : bits of min-entropy of a sample, by the name of each estimate, where the samples
        are read in the order in which they came, or those of the same place after each restart are;
        none if the samples do not pass the sanity check
    """

    initial: float
    most: int
    cutoff: int
    rows: Mapping[str, float]
    columns: Mapping[str, float]

    @property
    def is_sane(self) -> bool:
        """Whether no value is too frequent."""
        return self.most <= self.cutoff

    @property
    def is_valid(self) -> bool:
        """Whether neither estimate is below half of the initial one, either."""
        return self.is_sane and self._least >= self.initial / 2

    @property
    def entropy(self) -> float:
        """Bits of min-entropy of a sample; 0 if the samples do not pass."""
        return min(self._least, self.initial) if self.is_valid else 0.0

    @property
    def _least(self) -> float:
        return min((*self.rows.values(), *self.columns.values()), default=0.0)

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return {
            "initial": self.initial,
            "most": self.most,
            "cutoff": self.cutoff,
            "sane": self.is_sane,
            "rows": dict(self.rows),
            "columns": dict(self.columns),
            "valid": self.is_valid,
            "entropy": self.entropy,
        }


def assess_restarts(data: bytes, initial: float) -> RestartAssessment:
    """Assess RESTARTS samples, a byte of 0 or 1 each, after each of RESTARTS restarts.

    Raises ValueError for other bytes or another number of them, for samples that are all the same,
    and for an initial estimate that is not above 0 and at most 1.
    """
    if not 0 < initial <= 1:
        raise ValueError(f"the initial estimate must be above 0 and at most 1, not {initial}")
    bits = checked_samples(data)
    if len(bits) != RESTARTS**2:
        raise ValueError(
            f"there must be {RESTARTS:,} samples after each of {RESTARTS:,} restarts, not"
            f" {len(bits):,} in all"
        )
    table = bits.reshape(RESTARTS, RESTARTS)
    most, cutoff = max(_most(table), _most(table.T)), restart_cutoff(initial)
    orders = {"rows": bits, "columns": np.ascontiguousarray(table.T).reshape(-1)}
    found = {name: estimates(order) if most <= cutoff else {} for name, order in orders.items()}
    return RestartAssessment(initial=initial, most=most, cutoff=cutoff, **found)


def restart_cutoff(initial: float) -> int:
    """The greatest count of one of two values among RESTARTS samples that passes: the least one
    that independent samples with this min-entropy exceed with a probability of at most alpha, by
    which all rows and columns together fail with one of 0.01.
    """
    alpha = 1 - (1 - _ERROR) ** (1 / (2 * RESTARTS))
    p = 2.0**-initial
    q = 1 - p
    tail = 0.0
    for count in range(RESTARTS, RESTARTS // 2, -1):
        tail += _binomial(count, p) + _binomial(count, q)
        if tail > alpha:
            return count
    return RESTARTS // 2


def _binomial(count: int, p: float) -> float:
    """Probability of `count` successes in RESTARTS trials."""
    if p == 0:
        return 0.0
    ways = math.lgamma(RESTARTS + 1) - math.lgamma(count + 1) - math.lgamma(RESTARTS - count + 1)
    return math.exp(ways + count * math.log(p) + (RESTARTS - count) * math.log1p(-p))


def _most(table: Bits) -> int:
    """The greatest count of one value in a row."""
    ones = table.sum(axis=1, dtype=np.int64)
    return int(max(ones.max(), RESTARTS - ones.min()))
