import random

import pytest

from coprime.model.lattices import reduced


def test_short_vectors_that_are_known():
    """A basis of the lattice of all integers, hidden by sums of rows."""
    generator = random.Random(1)
    for size in (1, 2, 5, 9):
        rows = [[int(i == j) for j in range(size)] for i in range(size)]
        for _ in range(12 * (size > 1)):
            i, j = generator.sample(range(size), 2)
            factor = generator.randrange(-99, 99)
            rows[i] = [one + factor * other for one, other in zip(rows[i], rows[j], strict=True)]
        assert sorted(sum(map(abs, one)) for one in reduced(rows)) == [1] * size


def test_a_relation_of_numbers():
    """144 = 55 + 89, and so on: all three have factors with which their sum is 0."""
    found = reduced([[1, 0, 0, 55 << 20], [0, 1, 0, 89 << 20], [0, 0, 1, 144 << 20]])
    assert [one[3] for one in found].count(0) == 2
    for x, y, z, total in found:
        assert (55 * x + 89 * y + 144 * z) << 20 == total
    assert [1, 1, -1, 0] in found or [-1, -1, 1, 0] in found


def test_the_same_vector_twice():
    with pytest.raises(ValueError, match="not independent"):
        reduced([[1, 2], [2, 4]])
