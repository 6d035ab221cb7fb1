"""The bound on a probability, against the binomial distribution in rational numbers."""

from fractions import Fraction
from math import comb

import pytest
from coprime_evidence.assess.faults_summary import upper_bound


@pytest.mark.parametrize(("wrong", "runs"), [(0, 1), (0, 50), (1, 50), (7, 50), (49, 50), (3, 400)])
def test_upper_bound(wrong, runs):
    """As few wrong ones come out with a probability of 5 %, and with less above the bound."""

    def as_few(probability):
        p = Fraction(probability)
        return sum(comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(wrong + 1))

    bound = upper_bound(wrong, runs)
    assert float(as_few(bound)) == pytest.approx(0.05, rel=1e-3)
    assert wrong / runs < bound


def test_rule_of_three():
    assert upper_bound(0, 500_000) == pytest.approx(3 / 500_000, rel=0.01)


def test_everything_is_wrong():
    assert upper_bound(10, 10) == upper_bound(0, 0) == 1
