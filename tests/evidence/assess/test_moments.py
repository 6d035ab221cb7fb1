"""The t-test, compared with Welch's formula in exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from coprime_evidence.assess.moments import Moments, corrected_threshold, t_values

RANDOM = np.random.default_rng(1)


def groups(samples=5, sizes=(300, 200)):
    """Counts of bits: two groups, of which sample 0 never varies."""
    fixed, other = (RANDOM.integers(40, 90, (size, samples)) for size in sizes)
    fixed[:, 0] = other[:, 0] = 50
    other[:, 2] += 3
    other[:, 3] = RANDOM.integers(60, 70, sizes[1])
    return fixed.astype(np.uint16), other.astype(np.uint16)


def moments(traces, reference, block=64):
    """With more than one block, merged in another order."""
    parts = []
    for first in range(0, len(traces), block):
        parts.append(Moments(reference))
        parts[-1].add(traces[first : first + block])
    whole = Moments(reference)
    for part in reversed(parts):
        whole.merge(part)
    return whole


def welch(one, other, order):
    """The definition: means and variances of the samples, or of their centred squares."""

    def mean_and_square(values):
        values = [Fraction(int(value)) for value in values]
        if order == 2:
            mean = sum(values) / len(values)
            values = [(value - mean) ** 2 for value in values]
        mean = sum(values) / len(values)
        variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
        return mean, variance / len(values)

    (a, u), (b, v) = mean_and_square(one), mean_and_square(other)
    return float(a - b) / math.sqrt(u + v) if u + v else 0.0


@pytest.mark.parametrize("order", [1, 2])
def test_t_is_that_of_welch(order):
    fixed, other = groups()
    found = t_values(moments(fixed, fixed[0]), moments(other, fixed[0]), order)
    for sample, t in enumerate(found):
        assert t == pytest.approx(welch(fixed[:, sample], other[:, sample], order), rel=1e-9)
    assert found[0] == 0


def test_sums_of_bits_are_exact_in_any_order():
    fixed, _ = groups()
    forwards, backwards = moments(fixed, fixed[0]), moments(fixed[::-1], fixed[0], block=7)
    assert (forwards.sums == backwards.sums).all()


def test_samples_that_differ_but_never_vary_have_the_largest_t():
    one, other = np.full((5, 1), 3, np.uint16), np.full((6, 1), 4, np.uint16)
    found = t_values(moments(one, one[0]), moments(other, one[0]), 1)
    assert found.tolist() == [-1e9]


def test_groups_of_one_trace_are_refused():
    one = np.zeros((1, 3), np.uint16)
    with pytest.raises(ValueError, match="two traces in each group"):
        t_values(moments(one, one[0]), moments(one, one[0]), 1)


def test_the_corrected_threshold_keeps_the_probability_of_any_error():
    """Of so many independent normal samples, one in 100,000 tests passes it."""
    assert corrected_threshold(1) == pytest.approx(4.4172, abs=1e-4)  # a table's, for 1e-5
    for samples in (10, 10_000, 10_000_000):
        tail = math.erfc(corrected_threshold(samples) / math.sqrt(2))
        assert -math.expm1(samples * math.log1p(-tail)) == pytest.approx(1e-5, rel=1e-6)


@pytest.mark.parametrize("order", [1, 2])
def test_noise_hides_nothing_from_enough_traces(order):
    """A difference of 3 bits in the mean, and one of the spread, in noise of 10 bits."""
    fixed, other = groups(sizes=(20_000, 20_000))
    reference = fixed[0]
    noisy = [group + RANDOM.normal(0, 10, group.shape) for group in (fixed, other)]
    found = np.abs(t_values(*(moments(group, reference, 4096) for group in noisy), order))
    leaking = {1: [2], 2: [3]}[order]
    assert all(found[k] > 4.5 for k in leaking)
    assert found[1] < 4.5 and found[4] < 4.5
