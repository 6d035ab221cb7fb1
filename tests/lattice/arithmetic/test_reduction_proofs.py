"""Reduction, and sums of butterflies: the hardware's netlist for every operand there is."""

import numpy as np
import pytest
from coprime_evidence.assess.schedules.lattice_stages import BATCHES, check_reduction, check_sums
from coprime_evidence.assess.schedules.symbols import ProofError

from coprime.lattice.arithmetic import reduction
from coprime.lattice.arithmetic.table import PACK_BASE, table_words
from coprime.model.lattice.arithmetic import PRODUCT_BITS, REDUCED, SCALE, K, Q


@pytest.mark.proof
def test_reduction_of_every_number():
    """All 2^26."""
    check_reduction()


def test_reduction_of_some_numbers_and_a_wrong_one(monkeypatch):
    """Of the smallest and the largest; a low part's sign that is left out is found."""
    some = (BATCHES[0], BATCHES[len(BATCHES) // 2])
    check_reduction(some)
    unsigned = [-K * (half << 4) for half in range(16)]
    monkeypatch.setattr(reduction, "_UPPER", unsigned)
    with pytest.raises(ProofError):
        check_reduction(some)


@pytest.mark.proof
def test_sums_of_every_two_numbers():
    """Sums and differences of all pairs in [-q, q) are right modulo q, and in [-q, q)."""
    check_sums()


def test_products_are_in_the_range_of_the_reduction():
    """Those of numbers in [-q, q] with constants of the table that are reduced, and sums of two
    products of such numbers. What is left of them is in the range of sums: so butterflies are right
    for all numbers.
    """
    constants = np.array(table_words()[:PACK_BASE], dtype=np.int64)
    assert np.count_nonzero(constants) > 300
    assert np.abs(constants).max() * Q < 1 << PRODUCT_BITS - 1
    assert 2 * Q * Q < 1 << PRODUCT_BITS - 1
    assert REDUCED < Q
    assert 169 * SCALE % Q == 1
