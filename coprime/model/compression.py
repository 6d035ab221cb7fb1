"""COMPRESSION's arithmetic modulo a fixed number, in integers: forms, signed digits, corrections.

Source: COMPRESSION (Vassoler 2023), sections 2.2.1 and 4.1. A number is a sum of bits, each with a
weight 2^j, in a matrix of `columns` columns. What has a weight of 2^columns or more comes back as
the residue of that weight, in signed digits: a bit b with digit 1 goes to the digit's column as it
is; with digit -1 its inverse goes there, as -b = (1 - b) - 1, and the constant -1 of that column
is added once for all such bits, the *correction*.

What differs: the thesis takes the positive or the negative residue, whichever has fewer ones. The
non-adjacent form of either can have fewer still, and is tried as well (`Recoding.FEWEST`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

Digit = tuple[int, int]  # (column, sign), for a non-zero digit: sign * 2^column, with sign 1 or -1


class Form(Enum):
    """How a modulus relates to a power of two."""

    POWER = "2^n"
    MINUS_ONE = "2^n-1"
    PLUS_ONE = "2^n+1"
    MINUS_K = "2^n-k"
    PLUS_K = "2^n+k"
    GENERAL = "general"
    """2^n - k or 2^n + k, where k has more than n/3 + 1 non-zero signed digits: as many as a number
    of n bits has on average, so that the form is of no use."""


class Recoding(Enum):
    """Which signed digits represent a residue."""

    THESIS = "thesis"
    """The positive or the negative residue, whichever has fewer ones; the positive one at a tie."""
    FEWEST = "fewest"
    """The fewest digits of these two and their non-adjacent forms, in this order at a tie."""


@dataclass(frozen=True)
class ModulusForm:
    """m = 2^columns + offset; with -2^columns < 3 * offset <= 2^columns."""

    kind: Form
    columns: int
    """n: of the matrix in which numbers modulo m are added. Residues may have n + 1 bits."""
    offset: int
    """0, -1, 1, -k or k."""


def modulus_form(m: int) -> ModulusForm:
    """Return the form of a modulus of at least 3.

    Of the two powers of two beside m, it is the lower one up to 4/3 of that: so both vectors that
    the compression leaves, below 2^(n+1) together, need few subtractions of m. 3 is 2^2 - 1.
    """
    _check_modulus(m)
    below = m.bit_length() - 1
    upper = 3 * m > 4 << below
    columns = below + 1 if upper else below
    offset = m - (1 << columns)
    exact = {0: Form.POWER, -1: Form.MINUS_ONE, 1: Form.PLUS_ONE}
    if offset in exact:
        return ModulusForm(exact[offset], columns, offset)
    if 3 * len(_non_adjacent(offset)) > columns + 3:
        return ModulusForm(Form.GENERAL, columns, offset)
    return ModulusForm(Form.MINUS_K if offset < 0 else Form.PLUS_K, columns, offset)


def residue_digits(
    weight: int, m: int, *, recoding: Recoding = Recoding.FEWEST
) -> tuple[Digit, ...]:
    """Return signed digits of a number congruent to 2^weight modulo m, the lowest column first.

    All columns are below the form's number of columns. A weight below it is its own digit; for
    m = 2^n all others have no digit.

    Raises ValueError for a negative weight.
    """
    columns = modulus_form(m).columns
    if weight < 0:
        raise ValueError(f"weight must not be negative, not be {weight}")
    if weight < columns:
        return ((weight, 1),)
    positive = pow(2, weight, m)
    negative = positive - m
    candidates = [_binary(positive), _binary(negative) if positive else ()]
    if recoding is Recoding.FEWEST:
        candidates += [_non_adjacent(positive), _non_adjacent(negative)]
    # One of both residues is below 2^columns in magnitude, so there is something to choose from.
    fitting = [
        candidate for candidate in candidates if all(column < columns for column, _ in candidate)
    ]
    return min(fitting, key=len)


def correction(digits: Iterable[Digit]) -> int:
    """Sum of the constants, not reduced, that one bit with these digits brings along: 0 or less."""
    return -sum(1 << column for column, sign in digits if sign < 0)


def fold(value: int, m: int, *, recoding: Recoding = Recoding.FEWEST) -> tuple[int, int]:
    """Bring all bits of a number back into the columns once; give (sum of bits, correction).

    The sum of both is congruent to the value, which is not negative. The sum of bits is not
    negative either, and may again be 2^columns or more.

    Raises ValueError for a negative value.
    """
    if value < 0:
        raise ValueError(f"value must not be negative, not be {value}")
    total = constant = 0
    for weight in range(value.bit_length()):
        bit = value >> weight & 1
        digits = residue_digits(weight, m, recoding=recoding)
        total += sum((bit if sign > 0 else 1 - bit) << column for column, sign in digits)
        constant += correction(digits)
    assert total >= 0
    assert (total + constant - value) % m == 0
    return total, constant


def _binary(value: int) -> tuple[Digit, ...]:
    """Digits of the magnitude, all with the value's sign."""
    sign = -1 if value < 0 else 1
    return tuple((k, sign) for k in range(abs(value).bit_length()) if abs(value) >> k & 1)


def _non_adjacent(value: int) -> tuple[Digit, ...]:
    """Signed digits of which no two beside each other are non-zero: the fewest there can be."""
    # Of 3v and v in binary, where they differ there is a digit, with the sign of 3v there.
    sign, magnitude = (-1, -value) if value < 0 else (1, value)
    triple = 3 * magnitude
    places = triple ^ magnitude
    return tuple(
        (k - 1, sign if triple >> k & 1 else -sign)
        for k in range(1, places.bit_length())
        if places >> k & 1
    )


def _check_modulus(m: int) -> None:
    if not isinstance(m, int):
        raise TypeError(f"the modulus must be an int, not {m!r}")
    if m < 3:
        raise ValueError(f"the modulus must be at least 3, not {m}")
