"""Repeated substrings of samples, by a sort of all suffixes."""

import numpy as np
from numpy.typing import NDArray

_WINDOW = 32  # samples that are compared at once
_LONGEST = 4096


class Repetitions:
    """How often tuples of each length are repeated.

    Only the first `_LONGEST` samples of suffixes are compared: where longer ones are the same,
    there is hardly any entropy, and shorter tuples show it.

    Attributes
    ----------
    size (int): number of samples
    most (list): for each length from 1 on, how often its most frequent tuple comes, 2 or more
    pairs (list): for each length, the pairs of positions of equal tuples
    """

    def __init__(self, bits: NDArray[np.uint8]):
        self.size = len(bits)
        common = _common_prefixes(bits, _sorted_suffixes(bits))
        self.most: list[int] = []
        self.pairs: list[int] = []
        places = np.arange(len(common))
        length = 1
        while True:
            places = places[common[places] >= length]
            if not len(places):
                break
            ends = np.flatnonzero(np.diff(places) > 1)
            bounds = np.concatenate(([-1], ends, [len(places) - 1]))
            runs = np.diff(bounds)
            self.most.append(int(runs.max()) + 1)
            self.pairs.append(int((runs * (runs + 1) // 2).sum()))
            length += 1


def _sorted_suffixes(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The suffixes' places in their order (Manber and Myers, by doubling)."""
    size = len(bits)
    rank = _windows(bits)
    # A suffix that ends within the window is before those that go on with zeros.
    rest = np.minimum(size - np.arange(size), _WINDOW)
    rank = rank * (_WINDOW + 1) + rest
    order = np.argsort(rank, kind="stable")
    reach = _WINDOW
    while reach < _LONGEST:
        new = np.zeros(size, dtype=np.int64)
        new[order[1:]] = np.cumsum(rank[order[1:]] != rank[order[:-1]])
        if new[order[-1]] == size - 1:
            break
        second = np.full(size, -1, dtype=np.int64)
        second[: size - reach] = new[reach:]
        rank = new * (size + 1) + second + 1
        order = np.argsort(rank, kind="stable")
        reach *= 2
    return order


def _windows(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The next `_WINDOW` samples at each position, the first one most significant, then zeros."""
    padded = np.concatenate((bits, np.zeros(_WINDOW, dtype=np.uint8))).astype(np.int64)
    found = np.zeros(len(bits), dtype=np.int64)
    for place in range(_WINDOW):
        found = found << 1 | padded[place : place + len(bits)]
    return found


def _common_prefixes(bits: NDArray[np.uint8], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Samples that neighbours in the order of suffixes have in common, up to `_LONGEST`."""
    size = len(bits)
    windows = np.concatenate((_windows(bits), np.zeros(1, dtype=np.int64)))
    first, second = order[:-1].copy(), order[1:].copy()
    found = np.zeros(size - 1, dtype=np.int64)
    rest = size - np.maximum(first, second)  # until the shorter one ends
    active = np.arange(size - 1)
    while len(active):
        done = found[active]
        a = windows[np.minimum(first[active] + done, size)]
        b = windows[np.minimum(second[active] + done, size)]
        different = a ^ b
        # Bits of the highest one: of a number below 2^53 a float shows it exactly.
        length = np.frexp(different.astype(np.float64))[1]
        same = np.where(different == 0, _WINDOW, _WINDOW - length)
        found[active] = np.minimum(done + same, rest[active])
        active = active[(different == 0) & (found[active] < rest[active])]
        active = active[found[active] < _LONGEST]
    return found
