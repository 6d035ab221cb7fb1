"""Integers that are polynomials in unknown words, with bounds, and their division by powers of two.

A monomial is a tuple of `Unknown`s, a polynomial a dictionary of coefficients. What is divided is
not expanded: quotient and remainder become unknowns of their own, and the same polynomial always
has the same two. So two calculations agree for all words if they end with the same polynomial.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count, product
from math import prod
from typing import Optional

Monomial = tuple["Unknown", ...]

_numbers = count()


class Unknown:
    """An integer, from `least` to `most`, of which nothing else is known.

    Parameters
    ----------
    name : as messages show it
    division : what it is the quotient or the remainder of; None of an operand's word
    """

    def __init__(
        self, name: str, least: int, most: int, division: Optional["Division"] = None
    ) -> None:
        self.name, self.least, self.most, self.division = name, least, most, division
        self.number = next(_numbers)

    def __repr__(self) -> str:
        return self.name


class Polynomial:
    """A polynomial with integer coefficients; immutable.

    Parameters
    ----------
    terms : the coefficient of each monomial, none of them 0
    interval : one that it lies in, from how it was made; if there is none, that of its terms counts
    """

    __slots__ = ("__dict__", "interval", "terms")

    def __init__(
        self, terms: Mapping[Monomial, int], interval: tuple[int, int] | None = None
    ) -> None:
        self.terms = terms
        self.interval = self._of_terms() if interval is None else interval

    @classmethod
    def of(cls, value: "int | Unknown | Polynomial") -> "Polynomial":
        """A constant, or an unknown."""
        if isinstance(value, Polynomial):
            return value
        if isinstance(value, Unknown):
            return cls({(value,): 1})
        return cls({(): value} if value else {})

    def __add__(self, other: "Polynomial") -> "Polynomial":
        return self.plus(other, 1)

    def __sub__(self, other: "Polynomial") -> "Polynomial":
        return self.plus(other, -1)

    def plus(self, other: "Polynomial", factor: int) -> "Polynomial":
        """The sum of this and `factor` times the other."""
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) + factor * coefficient
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        ends = sorted(factor * end for end in other.interval)
        return Polynomial(terms, (self.interval[0] + ends[0], self.interval[1] + ends[1]))

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        terms: dict[Monomial, int] = {}
        for (a, m), (b, n) in product(self.terms.items(), other.terms.items()):
            monomial = tuple(sorted(a + b, key=lambda unknown: unknown.number))
            terms[monomial] = terms.get(monomial, 0) + m * n
        ends = [a * b for a in self.bounds for b in other.bounds]
        found = {monomial: coefficient for monomial, coefficient in terms.items() if coefficient}
        return Polynomial(found, (min(ends), max(ends)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        def text(monomial: Monomial, coefficient: int) -> str:
            factors = [unknown.name for unknown in monomial]
            return "*".join(
                factors if coefficient == 1 and factors else [str(coefficient), *factors]
            )

        return " + ".join(text(*term) for term in self.terms.items()) or "0"

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The narrower one of its interval and of its terms', at each end."""
        own = self._of_terms()
        return max(own[0], self.interval[0]), min(own[1], self.interval[1])

    def _of_terms(self) -> tuple[int, int]:
        least = most = 0
        for monomial, coefficient in self.terms.items():
            low, high = _ends(monomial)
            if coefficient < 0:
                low, high = high, low
            least, most = least + coefficient * low, most + coefficient * high
        return least, most

    def replaced(self, monomial: Monomial, factor: int) -> "Polynomial":
        """With `factor` in place of a product of different unknowns, where all of them occur."""
        total = Polynomial({})
        for unknowns, coefficient in self.terms.items():
            rest = list(unknowns)
            if all(unknown in unknowns for unknown in monomial):
                for unknown in monomial:
                    rest.remove(unknown)
                coefficient *= factor
            total = total + Polynomial({tuple(rest): coefficient})
        return total

    def of_one_bit(self) -> "tuple[Polynomial, int, int] | None":
        """If one bit decides: that, and the value with 0 and with 1."""
        least, most = self.bounds
        if most - least == 1:
            return Polynomial(self.plus(Polynomial.of(least), -1).terms, (0, 1)), least, most
        constant = self.terms.get((), 0)
        others = [monomial for monomial in self.terms if monomial]
        if len(others) == 1 and len(others[0]) == 1:
            (bit,) = others[0]
            if (bit.least, bit.most) == (0, 1):
                return Polynomial.of(bit), constant, constant + self.terms[others[0]]
        return None

    @cached_property
    def valuations(self) -> list[int]:
        """Of its coefficients, but for 0: by which powers of two they can be divided."""
        found = {
            (coefficient & -coefficient).bit_length() - 1 for coefficient in self.terms.values()
        }
        return sorted(found - {0}, reverse=True)

    def within(self, least: int, most: int) -> bool:
        """Whether it is never outside this interval."""
        own = self.interval
        if not (least <= own[0] and own[1] <= most):
            own = self.bounds
        return least <= own[0] and own[1] <= most


@lru_cache(maxsize=1 << 16)
def _ends(monomial: Monomial) -> tuple[int, int]:
    """The least and the greatest value of a product of different unknowns."""
    ends = [
        prod(ends) for ends in product(*((unknown.least, unknown.most) for unknown in monomial))
    ]
    return min(ends), max(ends)


@dataclass(frozen=True, eq=False)
class Division:
    """`whole` is `high` * 2^`bits` + `low`, with `low` from 0 to 2^`bits` - 1."""

    whole: Polynomial
    bits: int
    high: Polynomial
    low: Polynomial


def _is_difference(value: Polynomial) -> bool:
    """An unknown, or one less a multiple of another."""
    linear = all(len(monomial) == 1 for monomial in value.terms)
    return linear and [c for c in value.terms.values() if c > 0] == [1] and len(value.terms) <= 2


class Divisions:
    """Divides, and remembers: the same polynomial has the same quotient and remainder.

    Attributes
    ----------
    halves : the lower half of a word, and of the difference of two halves, is written as that less
        a multiple of its upper half: so products of words are these again, made of their halves'
    part : bits of the lower one of two parts in which sums are added up, or 0: before a sum is
        divided by so many bits or more, as the higher part has, remainders in it of the same bits
        are written as what was divided less a multiple of the quotient. So a sum of parts has the
        quotient and the remainder of what the parts are of; but for remainders that have become a
        `word`
    """

    def __init__(self) -> None:
        self.halves = False
        self.part = 0
        self._words: dict[Polynomial, Polynomial] = {}
        self._are_words: set[Unknown] = set()
        self._known: dict[tuple[Polynomial, int], Division] = {}
        self._nonzero: dict[Polynomial, Polynomial] = {}

    def nonzero(self, value: Polynomial) -> Polynomial:
        """1 if the value is not 0, else 0; the same one for the same polynomial."""
        if not any(value.terms):
            return Polynomial.of(int(bool(value.terms)))
        if value not in self._nonzero:
            bit = Unknown(f"nonzero{len(self._nonzero)}", 0, 1)
            self._nonzero[value] = Polynomial.of(bit)
        return self._nonzero[value]

    def divide(self, whole: Polynomial, bits: int) -> Division:
        """By 2^bits, rounded down."""
        is_sum = 0 < self.part <= bits
        found = self._divided(self._joined(whole, bits) if is_sum else whole, bits)
        if self.halves or is_sum:
            least, most = (bound >> bits for bound in whole.bounds)
            high = Polynomial(found.high.terms, (least, most))
            low = Polynomial(found.low.terms, (0, (1 << bits) - 1))
            found = Division(whole, bits, high, low)
        return found

    def word(self, value: Polynomial) -> Polynomial:
        """The value; of a remainder that is not a part of a sum any more, an unknown of its own."""
        (monomial, coefficient), *others = value.terms.items() or (((), 0),)
        is_alone = coefficient == 1 and not others
        division = self._remainder(monomial, self.part) if is_alone else None
        if not division:
            return value
        if value not in self._words:
            unknown = Unknown(f"word{len(self._words)}", 0, (1 << self.part) - 1)
            word = self._words[value] = Polynomial.of(unknown)
            unknown.division = Division(division.whole, self.part, division.high, word)
            self._are_words.add(unknown)
        return self._words[value]

    def _remainder(self, monomial: Monomial, bits: int) -> Division | None:
        """The division by 2^`bits` whose remainder this is, if that is no word."""
        if len(monomial) != 1 or monomial[0] in self._are_words:
            return None
        division = monomial[0].division
        is_low = division and division.bits == bits and division.low.terms == {monomial: 1}
        return division if is_low else None

    def _joined(self, value: Polynomial, bits: int) -> Polynomial:
        """The value without remainders of a division by 2^`bits`, but for those in products."""
        joined = Polynomial({})
        for monomial, coefficient in value.terms.items():
            term = Polynomial({monomial: 1})
            if division := self._remainder(monomial, bits):
                term = division.whole.plus(division.high, -1 << bits)
            joined = joined.plus(term, coefficient)
        return joined

    def _divided(self, whole: Polynomial, bits: int) -> Division:
        radix = 1 << bits
        if 0 < self.part <= bits:
            multiple = {m: (c + radix // 2) // radix for m, c in whole.terms.items()}
        else:
            multiple = {m: c // radix for m, c in whole.terms.items() if not c % radix}
        high = Polynomial({m: c for m, c in multiple.items() if c})
        rest = whole.plus(high, -radix)
        least, most = (bound >> bits for bound in rest.bounds)
        if least == most:
            return Division(
                whole, bits, high + Polynomial.of(least), rest - Polynomial.of(least << bits)
            )
        if binary := rest.of_one_bit():
            bit, zero, one = binary
            ends = zero >> bits, one >> bits
            upper = Polynomial.of(ends[1] - ends[0]) * bit + Polynomial.of(ends[0])
            return Division(whole, bits, high + upper, rest.plus(upper, -radix))
        for places in rest.valuations:
            # In two steps, if the first one needs no new unknowns.
            lower = Polynomial({m: c for m, c in rest.terms.items() if c % (1 << places)})
            if places < bits and (lower.within(0, (1 << places) - 1) or lower.of_one_bit()):
                first = self.divide(rest, places)
                second = self.divide(first.high, bits - places)
                low = first.low.plus(second.low, 1 << places)
                return Division(whole, bits, high + second.high, low)
        if (rest, bits) not in self._known:
            name = f"{len(self._known)}"
            remainder = Unknown(f"low{name}", 0, radix - 1)
            quotient = Unknown(f"high{name}", least, most)
            found = Division(rest, bits, Polynomial.of(quotient), Polynomial.of(remainder))
            if self.halves and _is_difference(rest):
                low = rest.plus(found.high, -radix)
                found = Division(rest, bits, found.high, Polynomial(low.terms, (0, radix - 1)))
            remainder.division = quotient.division = self._known[rest, bits] = found
        found = self._known[rest, bits]
        return Division(whole, bits, high + found.high, found.low)

    def residue(self, value: Polynomial, bits: int, keep: Collection[Polynomial]) -> Polynomial:
        """What is congruent to it modulo 2^bits, with what was divided in place of remainders.

        The remainders `keep` stay.
        """
        total = Polynomial({})
        for monomial, coefficient in value.terms.items():
            term = Polynomial.of(coefficient)
            for unknown in monomial:
                division, factor = unknown.division, Polynomial.of(unknown)
                is_low = division and division.bits == bits and factor == division.low
                if division and is_low and factor not in keep:
                    factor = self.residue(division.whole, bits, keep)
                term = term * factor
            total = total + term
        return total
