"""What SP 800-90B says of raw samples, and what it asks for besides."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .estimators import Bits, estimates

WANTED = 1_000_000
"""Consecutive samples that the standard asks for (section 3.1.1)."""
_ALWAYS = (
    "1,000 samples after each of 1,000 restarts, and their estimates by rows and columns"
    " (section 3.1.4): --restarts",
    "what the source's designer expects, from how its noise arises (section 3.2.2): the lower value"
    " counts",
    "temperatures and voltages at which the source works, each with samples of its own"
    " (section 3.2.2)",
    "the entropy after conditioning (section 3.1.5)",
)


@dataclass(frozen=True)
class EntropyAssessment:
    """An assessment.

    Parameters
    ----------
    samples : how many there are
    estimates : bits of min-entropy of a sample, by the name of each estimate
    """

    samples: int
    estimates: Mapping[str, float]

    @property
    def entropy(self) -> float:
        """The least of them, with which the standard goes on."""
        return min(self.estimates.values())

    @property
    def missing(self) -> tuple[str, ...]:
        """What the standard asks for besides."""
        if self.samples >= WANTED:
            return _ALWAYS
        few = f"{WANTED:,} consecutive samples, or sets of at least 1,000 (section 3.1.1)"
        return (f"{few}: there are {self.samples:,}", *_ALWAYS)

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return {
            "samples": self.samples,
            "estimates": dict(self.estimates),
            "entropy": self.entropy,
            "missing": list(self.missing),
        }


def assess_entropy(data: bytes) -> EntropyAssessment:
    """Estimate the min-entropy of samples, a byte of 0 or 1 each.

    Raises ValueError for other bytes, and for too few samples or samples that are all the same.
    """
    bits = checked_samples(data)
    return EntropyAssessment(len(bits), estimates(bits))


def checked_samples(data: bytes) -> Bits:
    """Samples as an array. Raises ValueError for bytes that are none."""
    bits = np.frombuffer(data, dtype=np.uint8)
    others = np.flatnonzero(bits > 1)
    if len(others):
        place = int(others[0])
        raise ValueError(f"a sample is a byte of 0 or 1, and byte {place:,} is {bits[place]}")
    return bits
