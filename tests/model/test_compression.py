"""Forms, signed digits and corrections, against Python's arithmetic and all there are."""

import itertools
import random

import pytest

from coprime.model.compression import (
    Form,
    Recoding,
    correction,
    fold,
    modulus_form,
    residue_digits,
)


def value(digits):
    return sum(sign << column for column, sign in digits)


@pytest.mark.parametrize("recoding", Recoding)
def test_digits_are_congruent_and_fit(recoding):
    for m in range(3, 300):
        form = modulus_form(m)
        assert m == (1 << form.columns) + form.offset
        for weight in range(24):
            digits = residue_digits(weight, m, recoding=recoding)
            assert (value(digits) - (1 << weight)) % m == 0
            columns = [column for column, _ in digits]
            assert columns == sorted(set(columns))
            assert all(column < form.columns for column in columns)
            assert correction(digits) == sum(min(0, sign) << column for column, sign in digits)


def test_no_signed_digits_are_fewer():
    """Of all numbers of signed digits, in few columns, that are one of the two residues."""
    for m in range(3, 64):
        columns = modulus_form(m).columns
        fewest = {}
        for signs in itertools.product((-1, 0, 1), repeat=columns):
            total = sum(sign << column for column, sign in enumerate(signs))
            if abs(total) < m:
                residue, count = total % m, columns - signs.count(0)
                fewest[residue] = min(count, fewest.get(residue, count))
        for weight in range(columns, 2 * columns + 3):
            found = len(residue_digits(weight, m))
            thesis = len(residue_digits(weight, m, recoding=Recoding.THESIS))
            assert found <= thesis
            if found > fewest[pow(2, weight, m)]:
                # The non-adjacent form has a digit in one column more.
                assert m not in ((1 << columns) - 1, 1 << columns, (1 << columns) + 1)
                assert found == fewest[pow(2, weight, m)] + 1


def test_thesis_example():
    """Figure 5 (b): modulo 43, of 21 and -22 the positive one at a tie; then -1, -2, -4, -8."""
    digits = [value(residue_digits(k, 43, recoding=Recoding.THESIS)) for k in range(6, 11)]
    assert digits == [21, -1, -2, -4, -8]


@pytest.mark.parametrize(
    ("m", "kind", "columns"),
    [
        (3, Form.MINUS_ONE, 2),
        (4, Form.POWER, 2),
        (5, Form.PLUS_ONE, 2),
        (8, Form.POWER, 3),
        (29, Form.MINUS_K, 5),
        (35, Form.PLUS_K, 5),
        (127, Form.MINUS_ONE, 7),
        (129, Form.PLUS_ONE, 7),
        (2**255 - 19, Form.MINUS_K, 255),
        (2**64 - 2**32 + 1, Form.MINUS_K, 64),
        (2**31 - 2**27 + 1, Form.MINUS_K, 31),
        (0b101010101, Form.GENERAL, 8),
        (2**64 - (2**63 - 1) // 3, Form.GENERAL, 64),
    ],
)
def test_forms(m, kind, columns):
    form = modulus_form(m)
    assert (form.kind, form.columns) == (kind, columns)


def test_columns_are_the_nearer_power_of_two():
    """Two vectors of that many bits, and a constant below m, need three subtractions at most."""
    for m in range(3, 5000):
        form = modulus_form(m)
        assert -(1 << form.columns) < 3 * form.offset <= 1 << form.columns
        assert 2 * ((1 << form.columns) - 1) + m - 1 < 4 * m


@pytest.mark.parametrize("recoding", Recoding)
def test_folding_keeps_the_residue(recoding):
    generator = random.Random(7)
    for m in [*range(3, 200), 2**61 - 1, 2**64 + 1, 2**255 - 19, 2**256 - 2**32 - 977]:
        for number in (0, 1, m - 1, m, m * m - 1, generator.getrandbits(3 * m.bit_length())):
            total, constant = fold(number, m, recoding=recoding)
            assert total >= 0 >= constant
            assert (total + constant) % m == number % m


def test_refusals():
    for m in (2, 1, 0, -5):
        with pytest.raises(ValueError, match=f"at least 3, not {m}"):
            modulus_form(m)
    with pytest.raises(TypeError, match=r"must be an int, not 5\.0"):
        modulus_form(5.0)
    with pytest.raises(ValueError, match="not be -1"):
        residue_digits(-1, 7)
    with pytest.raises(ValueError, match="not be -1"):
        fold(-1, 7)
