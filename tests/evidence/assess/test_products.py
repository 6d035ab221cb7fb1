"""Products of two samples: the sums against fractions, and shares that are in different cycles."""

from fractions import Fraction

import numpy as np
import pytest
from coprime_evidence.assess.leakage import find_leaks
from coprime_evidence.assess.moments import Moments, corrected_threshold
from coprime_evidence.assess.places import Place, Places
from coprime_evidence.assess.power import PowerDevice
from coprime_evidence.assess.products import ProductMoments, product_t_values

from .test_detection import CIRCUIT, recorded

pytestmark = pytest.mark.xdist_group("detection")

SHARES = """
module masked(input clk, input take, input [7:0] data, input [7:0] mask, output [7:0] value);
    reg [7:0] one = 0, other = 0;
    assign value = one ^ other;
    always @(posedge clk) if (take) one <= mask; else other <= data ^ one;
endmodule
"""
"""One register takes a share of the data in a cycle, another one takes the other in the next."""


def two_cycles():
    """The test circuit, whose `masked` has its shares one after the other in one register."""
    before, _, rest = CIRCUIT.partition("module masked")
    return before + SHARES + rest[rest.index("endmodule") + len("endmodule") :]


def exact_t(groups):
    means, variances = [], []
    for a, b in groups:
        a, b = [*map(Fraction, a)], [*map(Fraction, b)]
        mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
        products = [(x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True)]
        mean = sum(products) / len(products)
        means.append(mean)
        squares = sum((one - mean) ** 2 for one in products) / len(products)
        variances.append(squares / (len(products) - 1))
    return float(means[0] - means[1]) / float(sum(variances)) ** 0.5


def test_t_is_welchs_of_the_centred_products():
    generator = np.random.default_rng(1)
    groups = [generator.integers(0, 40, (2, count, 3)) for count in (50, 61)]
    references = generator.integers(0, 40, (2, 3))
    moments = []
    for a, b in groups:
        one, rest = (ProductMoments(tuple(references)) for _ in range(2))
        one.add(a[:20], b[:20])
        rest.add(a[20:], b[20:])
        one.merge(rest)
        moments.append(one)
    found = product_t_values(*moments)
    for j in range(3):
        for k in range(3):
            expected = exact_t([(a[:, j], b[:, k]) for a, b in groups])
            assert found[j, k] == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def device():
    with PowerDevice(two_cycles(), "circuit") as opened:
        yield opened


@pytest.mark.parametrize("seed", [1, 2])
def test_shares_in_different_cycles_are_found_by_their_product_only(device, seed):
    groups = recorded(device, seed)
    column = device.components.index("masked")
    reference = groups[True][0]
    single, product = {}, {}
    for fixed, samples in groups.items():
        single[fixed] = Moments(reference[:, column])
        single[fixed].add(samples[:, :, column])
        product[fixed] = ProductMoments((reference[:, column], reference[:, column]))
        product[fixed].add(samples[:, :, column], samples[:, :, column])
    places = Places([("", [Place(0, "all")] * len(reference))])
    alone = find_leaks(single[True], single[False], 1, ["masked"], places)
    assert np.abs(alone.t).max() < alone.threshold
    t = np.abs(product_t_values(product[True], product[False]))
    apart = np.abs(np.subtract.outer(range(len(t)), range(len(t))))
    assert t[apart == 1].max() > corrected_threshold(t.size)  # a share is followed by the other one
    assert t[apart > 3].max() < corrected_threshold(t.size)
