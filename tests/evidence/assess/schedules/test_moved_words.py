"""Words that are parts of numbers, compared with integers."""

import itertools

import pytest
from coprime_evidence.assess.schedules.moved_words import Number, joined, place_of, value_of

Q = 97


def value(number, found, x):
    """What a form is, with x and the quotients of x for its symbols."""
    symbols = {(0,): x, (): 1}
    for places, quotient in (number._quotients or {}).items():
        symbols |= (
            dict.fromkeys(quotient.form, x >> places) if quotient.low != quotient.high else {}
        )
    return sum(weight * symbols[monomial] for monomial, weight in found.form.items()) % Q


def bits_of(word, x):
    """A word as an integer's bits, of a number that is x."""
    return [bit if isinstance(bit, int) else x >> bit[1] & 1 for bit in word]


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-11, 9), (-16, 15), (0, 12), (3, 3), (-1, 0)])
def test_parts_of_every_number(low, high, signed):
    """Every part, alone, extended, and between known bits."""
    number = Number(low, high, {(0,): 1})
    whole = number.bits(number.width)
    for start, end in itertools.combinations(range(number.width + 1), 2):
        part = whole[start:end]
        for word in (part, (*part, part[-1], part[-1]), (1, 0, *part, 0), (0, *part, *whole)):
            found = joined(word, Q, signed=signed)
            assert found is not None
            for x in range(low, high + 1):
                bits = bits_of(word, x)
                exact = sum(bit << k for k, bit in enumerate(bits))
                exact -= bits[-1] << len(bits) if signed else 0
                assert found.low <= exact <= found.high
                assert value(number, found, x) == exact % Q


def test_other_bits_are_no_number():
    number = Number(-4, 3, {(0,): 1})
    assert joined((*number.bits(3), None), Q, signed=True) is None
    assert value_of((None, None)) is None


def test_addresses():
    """Known ones, ones with a name above known bits, and those that may be any."""
    name = Number(0, 7, {(1,): 1})
    upper = tuple((name, k) for k in range(3))
    assert place_of((1, 0, 1)) == (None, 3, 5)
    assert place_of((1, 0, 1, *upper)) == (name, 3, 5)
    assert place_of((1, None, 1, *upper)) is None
    assert place_of((*upper, 1)) is None
