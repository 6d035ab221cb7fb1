"""Sums in two parts have the quotients and remainders of what they are sums of."""

from coprime_evidence.assess.schedules.polynomials import Divisions, Polynomial, Unknown


def test_remainders_of_the_higher_part_are_joined_again():
    divisions = Divisions()
    divisions.part = 4
    one, other = (Polynomial.of(Unknown(name, 0, 63)) for name in ("one", "other"))
    minus_one = Polynomial.of(-1)
    # -1 - one is negative, so its remainder is an unknown; together with `one` it is none.
    inverted = divisions.divide(minus_one - one, 6).low
    assert inverted != minus_one - one
    found = divisions.divide(inverted + one + Polynomial.of(1) + other, 6)
    assert found.low == other


def test_what_became_a_word_stays_one():
    divisions = Divisions()
    divisions.part = 4
    one = Polynomial.of(Unknown("one", 0, 63))
    low = divisions.divide(one, 4).low
    word = divisions.word(low)
    again = divisions.divide(word + word, 4)
    assert all(unknown.division is not None for (unknown,) in word.terms)
    assert again.low != divisions.divide(low + low, 4).low
