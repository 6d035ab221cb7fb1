import pytest

from coprime.papers.karatsuba import EXPONENTIATIONS, MULTIPLICATIONS, multiplication_cycles


@pytest.mark.parametrize("size", MULTIPLICATIONS)
def test_cycles_that_the_times_stand_for(size):
    """(d+1)^2 and 4 to 25 more, from a time of three digits."""
    bits, word = size
    _, _, megahertz, time = MULTIPLICATIONS[size]
    rounding = 0.005 * megahertz
    extra = time * megahertz - (bits // word + 1) ** 2
    assert 4 - rounding < extra < 25 + rounding


@pytest.mark.parametrize("size", MULTIPLICATIONS)
def test_ours_is_as_many_and_a_loading(size):
    bits, word = size
    assert 0 < multiplication_cycles(bits, word) - (bits // word + 1) ** 2 < 30


def test_two_multipliers_have_twice_the_slices():
    assert MULTIPLICATIONS.keys() == EXPONENTIATIONS.keys()
    for size, (_, dsp, _, _) in MULTIPLICATIONS.items():
        assert EXPONENTIATIONS[size][1] == 2 * dsp
