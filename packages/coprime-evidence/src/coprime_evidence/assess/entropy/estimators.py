"""Estimates of the min-entropy of binary samples that need not be independent.

Source: NIST SP 800-90B, "Recommendation for the Entropy Sources Used for Random Bit Generation"
(2018), section 6.3, for an alphabet of two. What differs: estimates over all positions at once, on
arrays. As in NIST's program (SP800-90B_EntropyAssessment), the predictors of sections 6.3.9 and
6.3.10 stop adding what they have not seen after `_MOST_PAIRS` and `_MOST_PREFIXES`.
"""

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from .strings import Repetitions

Bits = NDArray[np.uint8]
"""Samples, 0 or 1 each."""
_Z = 2.5758293035489008  # of a two-sided confidence interval of 99 %
_CONFIDENCE = math.log(0.99)
_LEAST_COUNT = 35  # of a tuple that section 6.3.5 takes
_WINDOWS = (63, 255, 1023, 4095)
_LAGS = 128
_DEPTH = 16
_MOST_PAIRS, _MOST_PREFIXES = 100_000, 65_536
_BLOCK_BITS, _FIRST_BLOCKS = 6, 1000  # of the compression estimate
_CHUNK = 1 << 16
LEAST_SAMPLES = _BLOCK_BITS * (_FIRST_BLOCKS + 2)
"""Samples that all estimates take; the standard asks for 1,000,000."""


def _upper(p: float, size: int) -> float:
    """The upper end of a probability's confidence interval."""
    return min(1.0, p + _Z * math.sqrt(p * (1 - p) / (size - 1)))


def most_common_value(bits: Bits) -> float:
    """Section 6.3.1."""
    ones = int(bits.sum())
    return -math.log2(_upper(max(ones, len(bits) - ones) / len(bits), len(bits)))


def collision(bits: Bits) -> float:
    """Section 6.3.2; for two values the mean time is 2 + 2 p q, which gives p."""
    same = (bits[:-1] == bits[1:]).tolist()
    place, times, squares = 0, 0, 0
    while place < len(same):
        step = 2 if same[place] else 3
        if place + step > len(bits):
            break
        times, squares, place = times + 1, squares + step * step, place + step
    mean = place / times
    deviation = math.sqrt(max(0.0, (squares - place * mean) / (times - 1)))
    mean = max(2.0, mean - _Z * deviation / math.sqrt(times))
    return 1.0 if mean >= 2.5 else -math.log2(0.5 + math.sqrt(1.25 - 0.5 * mean))


def markov(bits: Bits) -> float:
    """Section 6.3.3: the most probable string of 128 samples."""
    pairs = np.bincount(2 * bits[:-1] + bits[1:], minlength=4).reshape(2, 2)
    sums = pairs.sum(axis=1)
    steps = [[pairs[a][b] / sums[a] if sums[a] else 0.0 for b in (0, 1)] for a in (0, 1)]
    ones = bits.mean()
    first = (1 - ones, ones)
    strings = (
        (0, {(0, 0): 127}),
        (0, {(0, 1): 64, (1, 0): 63}),
        (0, {(0, 1): 1, (1, 1): 126}),
        (1, {(1, 0): 1, (0, 0): 126}),
        (1, {(1, 0): 64, (0, 1): 63}),
        (1, {(1, 1): 127}),
    )
    found = 128.0
    for begin, counts in strings:
        if first[begin] > 0 and all(steps[a][b] > 0 for a, b in counts):
            bits_of = sum(-count * math.log2(steps[a][b]) for (a, b), count in counts.items())
            found = min(found, bits_of - math.log2(first[begin]))
    return min(found / 128, 1.0)


def compression(bits: Bits) -> float:
    """Section 6.3.4: Maurer's statistic on blocks of 6 samples."""
    count = len(bits) // _BLOCK_BITS
    weights = 1 << np.arange(_BLOCK_BITS - 1, -1, -1)
    blocks = bits[: count * _BLOCK_BITS].reshape(count, _BLOCK_BITS) @ weights
    order = np.argsort(blocks, kind="stable")
    previous = np.zeros(count, dtype=np.int64)  # 1 plus its place; 0: there is none
    again = blocks[order[1:]] == blocks[order[:-1]]
    previous[order[1:][again]] = order[:-1][again] + 1
    places = np.arange(_FIRST_BLOCKS, count)
    logs = np.log2(places + 1 - previous[places])
    size = len(logs)
    mean = logs.mean()
    deviation = 0.5907 * math.sqrt(max(0.0, (logs**2).sum() / (size - 1) - mean**2))
    wanted = mean - _Z * deviation / math.sqrt(size)
    values = 1 << _BLOCK_BITS

    def expected(p: float) -> float:
        return _maurer(p, count) + (values - 1) * _maurer((1 - p) / (values - 1), count)

    if expected(1 / values) <= wanted:
        return 1.0
    return -math.log2(_bisect(expected, wanted, 1 / values, 1.0)) / _BLOCK_BITS


def _maurer(z: float, count: int) -> float:
    """G(z) of section 6.3.4."""
    places = np.arange(1, count + 1)
    if z >= 1:
        return 0.0
    terms = np.log2(places) * np.exp((places - 1) * math.log1p(-z))
    before = np.concatenate(([0.0], np.cumsum(terms)[:-1]))
    sums = z * z * before[_FIRST_BLOCKS:] + z * terms[_FIRST_BLOCKS:]
    return float(sums.mean())


def _bisect(falls: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Where a falling function has a value."""
    for _ in range(100):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if falls(middle) > wanted else (low, middle)
    return high


def tuples(repetitions: Repetitions) -> float:
    """Section 6.3.5: the most frequent tuple of each length. ValueError if none is frequent."""
    size, found = repetitions.size, 0.0
    for length, most in enumerate(repetitions.most, start=1):
        if most < _LEAST_COUNT:
            break
        found = max(found, (most / (size - length + 1)) ** (1 / length))
    if not found:
        raise ValueError(f"no sample comes {_LEAST_COUNT} times")
    return -math.log2(_upper(found, size))


def longest_repeated(repetitions: Repetitions) -> float:
    """Section 6.3.6: repeated tuples that are too rare for 6.3.5; 1 if there are none."""
    size, found = repetitions.size, 0.0
    rare = sum(1 for _ in _frequent(repetitions)) + 1
    for length in range(rare, len(repetitions.most) + 1):
        pairs = repetitions.pairs[length - 1] / math.comb(size - length + 1, 2)
        found = max(found, pairs ** (1 / length))
    return -math.log2(_upper(found, size)) if found else 1.0


def _frequent(repetitions: Repetitions) -> Iterator[int]:
    for most in repetitions.most:
        if most < _LEAST_COUNT:
            return
        yield most


# --- Predictors ---------------------------------------------------------------------------------


class Scoreboard:
    """Predictors, of which the one that has been right most often predicts, the last on a tie."""

    def __init__(self, predictors: int):
        self._scores = np.zeros(predictors, dtype=np.int64)
        self._winner = 0
        self.right = 0
        self.longest = 0
        self._run = 0

    def take(self, right: NDArray[np.bool_], predicts: NDArray[np.bool_] | None = None) -> None:
        """For each predictor a row: where it is right, and where it predicts; a part of all
        positions. A position at which the best one does not predict ends no run.
        """
        scores = self._scores[:, None] + np.cumsum(right, axis=1)
        best = right & (scores == scores.max(axis=0))
        count, size = right.shape
        last = count - 1 - np.argmax(best[::-1], axis=0)
        changes = np.where(best.any(axis=0), np.arange(size), -1)
        latest = np.maximum.accumulate(changes)
        after = np.where(latest < 0, self._winner, last[latest])
        before = np.concatenate(([self._winner], after[:-1]))
        columns = np.arange(size)
        hits = right[before, columns]
        if predicts is not None:
            hits = hits[predicts[before, columns]]
        self._count_runs(hits)
        self._scores, self._winner = scores[:, -1], int(after[-1])

    def _count_runs(self, hits: NDArray[np.bool_]) -> None:
        self.right += int(hits.sum())
        misses = np.flatnonzero(~hits)
        if not len(misses):
            self._run += len(hits)
            self.longest = max(self.longest, self._run)
            return
        inside = int(np.diff(misses).max(initial=1)) - 1
        self.longest = max(self.longest, self._run + int(misses[0]), inside)
        self._run = len(hits) - 1 - int(misses[-1])
        self.longest = max(self.longest, self._run)

    def entropy(self, positions: int) -> float:
        """From how often the predictions were right, and how often one after the other."""
        return _predicted(self.right, positions, self.longest + 1)


def _predicted(right: int, positions: int, run: int) -> float:
    p = _upper(right / positions, positions) if right else 1 - 0.01 ** (1 / positions)
    p = max(p, 0.5)
    if p < 1 and _no_run(p, run, positions) > _CONFIDENCE:
        p = max(
            p,
            _bisect(lambda probability: _no_run(probability, run, positions), _CONFIDENCE, p, 1.0),
        )
    return -math.log2(p)


def _no_run(p: float, run: int, positions: int) -> float:
    """Logarithm of the probability of no run of this length (Feller); x is 1 plus `excess`."""
    q = 1 - p
    if q <= 0:
        return -math.inf
    excess = 0.0
    for _ in range(10):
        excess = q * math.exp(run * math.log(p) + (run + 1) * math.log1p(excess))
        if excess > 1 / run:
            return -math.inf
    if p * excess >= q or run * excess >= 1:
        return -math.inf
    return (
        math.log1p(-p * excess / q)
        - math.log1p(-run * excess)
        - (positions + 1) * math.log1p(excess)
    )


def most_common_in_window(bits: Bits) -> float:
    """Section 6.3.7."""
    size, first = len(bits), _WINDOWS[0]
    sums = np.concatenate(([0], np.cumsum(bits, dtype=np.int64)))
    right = np.zeros((len(_WINDOWS), size - first), dtype=bool)
    for row, window in zip(right, _WINDOWS, strict=True):
        if size > window:
            ones = sums[window:size] - sums[: size - window]
            row[window - first :] = (2 * ones > window) == bits[window:]
    board = Scoreboard(len(_WINDOWS))
    board.take(right)
    return board.entropy(size - first)


def lag(bits: Bits) -> float:
    """Section 6.3.8."""
    board = Scoreboard(_LAGS)
    for start in range(1, len(bits), _CHUNK):
        end = min(start + _CHUNK, len(bits))
        right = np.zeros((_LAGS, end - start), dtype=bool)
        for row, back in enumerate(range(1, _LAGS + 1)):
            begin = max(start, back)
            if begin < end:
                right[row, begin - start :] = bits[begin:end] == bits[begin - back : end - back]
        board.take(right)
    return board.entropy(len(bits) - 1)


def _contexts(bits: Bits, length: int) -> NDArray[np.int64]:
    """The `length` samples before each position, from position `length` on, as a number."""
    found = np.zeros(len(bits) - length, dtype=np.int64)
    for back in range(1, length + 1):
        found |= bits[length - back : len(bits) - back].astype(np.int64) << (back - 1)
    return found


def _counts_before(
    contexts: NDArray[np.int64], values: Bits, counted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often a 0, and a 1, has come before in the same context, where that is counted."""
    order = np.argsort(contexts.astype(np.uint16), kind="stable")
    sorted_contexts = contexts[order]
    begins = np.concatenate(([True], sorted_contexts[1:] != sorted_contexts[:-1]))
    group = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    found = []
    for value in (0, 1):
        events = ((values[order] == value) & counted[order]).astype(np.int64)
        before = np.cumsum(events) - events
        counts = np.empty_like(before)
        counts[order] = before - before[group]
        found.append(counts)
    return found[0], found[1]


def multiple_markov_models(bits: Bits) -> float:
    """Section 6.3.9: after each of 1 to 16 samples, what has come most often."""
    size = len(bits)
    right = np.zeros((_DEPTH, size - 2), dtype=bool)
    predicts = np.zeros_like(right)
    for row, length in enumerate(range(1, _DEPTH + 1)):
        contexts, values = _contexts(bits, length), bits[length:]
        counted = _first(2 * contexts + values, _MOST_PAIRS)
        zeros, ones = _counts_before(contexts, values, counted)
        known = np.maximum(zeros, ones) > 0
        hit = known & ((ones >= zeros) == values)
        begin = max(length, 2)
        right[row, begin - 2 :] = hit[begin - length :]
        predicts[row, begin - 2 :] = known[begin - length :]
    board = Scoreboard(_DEPTH)
    for start in range(0, size - 2, _CHUNK):
        part = slice(start, start + _CHUNK)
        board.take(right[:, part], predicts[:, part])
    return board.entropy(size - 2)


def _first(items: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """Which items are among the first `most` different ones."""
    unique, places, inverse = np.unique(items, return_index=True, return_inverse=True)
    if len(unique) <= most:
        return np.ones(len(items), dtype=bool)
    rank = np.empty(len(unique), dtype=np.int64)
    rank[np.argsort(places)] = np.arange(len(unique))
    return np.asarray(rank[inverse] < most)


def lz78y(bits: Bits) -> float:
    """Section 6.3.10: a dictionary of what has followed on strings of up to 16 samples."""
    size, first = len(bits), _DEPTH
    values = bits[first:]
    every = []
    for length in range(1, _DEPTH + 1):
        contexts = _contexts(bits, length)[first - length :]
        unique, places = np.unique(contexts, return_index=True)
        every.append((contexts, unique, places))
    ages = np.concatenate([places * _DEPTH - length for length, (_, _, places) in enumerate(every)])
    limit = np.sort(ages)[_MOST_PREFIXES - 1] if len(ages) > _MOST_PREFIXES else np.inf
    most = np.zeros(size - first, dtype=np.int64)
    predicted = np.zeros(size - first, dtype=np.int8)
    for length in range(_DEPTH, 0, -1):
        contexts, unique, places = every[length - 1]
        known = np.zeros(1 << length, dtype=bool)
        known[unique] = places * _DEPTH - (length - 1) <= limit
        zeros, ones = _counts_before(contexts, values, known[contexts])
        count = np.maximum(zeros, ones)
        better = count > most
        most[better] = count[better]
        predicted[better] = (ones >= zeros)[better]
    hits = ((most > 0) & (predicted == values))[1:]
    board = Scoreboard(1)
    board.take(hits[None, :])
    return board.entropy(size - first - 1)


ESTIMATES: Mapping[str, Callable[[Bits], float]] = {
    "most common value": most_common_value,
    "collision": collision,
    "Markov": markov,
    "compression": compression,
    "most common in window": most_common_in_window,
    "lag": lag,
    "multiple Markov models": multiple_markov_models,
    "LZ78Y": lz78y,
}
"""By name; those of repeated tuples, which share a sort of all positions, are `tuples` and
`longest_repeated`."""


def estimates(bits: Bits) -> dict[str, float]:
    """Min-entropy of a sample in bits, by each of the ten estimates.

    Raises ValueError for fewer than LEAST_SAMPLES samples, and for samples that are all the same.
    """
    if len(bits) < LEAST_SAMPLES:
        raise ValueError(f"there must be at least {LEAST_SAMPLES:,} samples, not {len(bits):,}")
    if bits.min() == bits.max():
        raise ValueError(f"all samples are {bits[0]}: there is no entropy")
    found = {name: estimate(bits) for name, estimate in ESTIMATES.items()}
    repetitions = Repetitions(bits)
    found["t-tuple"] = tuples(repetitions)
    found["longest repeated substring"] = longest_repeated(repetitions)
    return found
