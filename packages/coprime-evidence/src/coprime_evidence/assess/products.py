"""Welch's t-test of products of two samples of a trace, which are of different cycles.

Two shares of a value that are in registers in different cycles leave no sample that depends on it,
but the product of two, each one centred by its group's mean. Source: Chari, Jutla, Rao, Rohatgi
1999, "Towards sound approaches to counteract power-analysis attacks", for the combination;
Schneider, Moradi 2015, "Leakage assessment methodology", for its test in one pass.

What differs: as in moments.py, sums of powers of the differences from a reference are taken, which
are whole numbers and exact up to 2^53: those of the two samples, and those of their products.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .moments import Array, welch

Samples = npt.NDArray[np.floating | np.integer]


@dataclass
class ProductMoments:
    """Sums for the products of every sample of one window with every one of another, of a group."""

    references: tuple[Samples, Samples]  # a number for each sample of either window
    count: int = 0
    singles: tuple[Array, Array] = field(init=False)  # sums of a and a^2, and of b and b^2
    products: Array = field(init=False)  # of a b, a^2 b, a b^2, a^2 b^2

    def __post_init__(self) -> None:
        first, second = (reference.size for reference in self.references)
        self.singles = np.zeros((2, first)), np.zeros((2, second))
        self.products = np.zeros((4, first, second))

    def add(self, first: Samples, second: Samples) -> None:
        """Add traces: arrays of (traces, samples) of both windows."""
        self.count += len(first)
        a, b = (
            samples.astype(np.float64) - reference
            for samples, reference in zip((first, second), self.references, strict=True)
        )
        for sums, centred in zip(self.singles, (a, b), strict=True):
            sums += centred.sum(axis=0), (centred**2).sum(axis=0)
        pairs = ((a, b), (a**2, b), (a, b**2), (a**2, b**2))
        self.products += [left.T @ right for left, right in pairs]

    def merge(self, other: "ProductMoments") -> None:
        """Add what another one of the same references has."""
        self.count += other.count
        for sums, more in zip(self.singles, other.singles, strict=True):
            sums += more
        self.products += other.products

    def of_centred(self) -> tuple[Array, Array]:
        """Mean and variance, as of a population, of the product of each pair, both centred."""
        (a, a2), (b, b2) = (sums / self.count for sums in self.singles)
        a, a2 = a[:, None], a2[:, None]
        ab, a2b, ab2, a2b2 = self.products / self.count
        mean = ab - a * b
        square = a2b2 - 2 * b * a2b - 2 * a * ab2 + b**2 * a2 + a**2 * b2
        square += 4 * a * b * ab - 3 * a**2 * b**2
        return mean, square - mean**2


def product_t_values(fixed: ProductMoments, other: ProductMoments) -> Array:
    """Welch's t of each pair's centred product; 0 for a pair with a sample that never varies.

    Values and errors are otherwise those of `t_values`.
    """
    return welch(fixed.of_centred(), fixed.count, other.of_centred(), other.count)
