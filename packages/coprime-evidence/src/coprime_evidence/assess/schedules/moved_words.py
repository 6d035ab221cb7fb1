"""Words of a netlist that moves numbers modulo q: numbers, their bits, and what words of these are.

A bit is known (0 or 1), a bit of a `Number`, or may be anything (None). A number x that is cut is
x = low + 2^n floor(x / 2^n), with an unknown of its own for the quotient. The quotients of a number
are the same wherever it is cut, so that they cancel where its parts come together again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from .symbols import ProofError

Form = Mapping[tuple[int, ...], int]
"""A polynomial modulo q: of each monomial, the numbers of its symbols, the coefficient."""
_QUOTIENTS = count(1 << 32)
"""Symbols of quotients, after those of all coefficients."""


class Number:
    """A number that is not known, in an interval.

    Parameters
    ----------
    low, high : the interval, both ends included
    form : what it is congruent to

    Attributes
    ----------
    width : bits that it needs in two's complement
    """

    __slots__ = ("_quotients", "form", "high", "low", "width")

    def __init__(self, low: int, high: int, form: Form) -> None:
        self.low, self.high, self.form = low, high, form
        self.width = 1 + max(low, high, -1 - low, -1 - high).bit_length()
        self._quotients: dict[int, Number] | None = None

    def bits(self, width: int) -> tuple["Bit", ...]:
        """A word that holds it; ProofError if it does not fit."""
        if self.width > width:
            raise ProofError(f"a number in [{self.low}, {self.high}] does not fit {width} bits")
        last = self.width - 1
        sign: Bit = 0 if self.low >= 0 else (self, last)
        return tuple((self, k) if k < last else sign for k in range(width))

    def quotient(self, places: int) -> "Number":
        """The number divided by 2^places, rounded down."""
        places = min(places, self.width - 1)  # from there on it is the sign
        if not places:
            return self
        if self._quotients is None:
            self._quotients = {}
        if places not in self._quotients:
            low, high = self.low >> places, self.high >> places
            form: Form = {(): low} if low == high else {(next(_QUOTIENTS),): 1}
            self._quotients[places] = Number(low, high, form)
        return self._quotients[places]

    def part(self, start: int, end: int, modulus: int) -> "Number":
        """Its bits from `start` to before `end`, which are not negative."""
        size = 1 << end - start
        first, rest = self.quotient(start), self.quotient(end)
        if rest.low == rest.high == 0:
            return first
        return Number(0, size - 1, added(first.form, rest.form, -size, modulus))


@dataclass(frozen=True)
class ChosenBit:
    """A bit that is `one` if a bit of a number is 1, else `zero`."""

    number: Number
    place: int
    zero: int
    one: int


Bit = int | tuple[Number, int] | ChosenBit | None
Bits = tuple[Bit, ...]
Value = int | Number


def value_of(bits: Bits, *, signed: bool = True) -> Value | None:
    """The number or the constant that a word holds; None if it is neither."""
    if all(isinstance(bit, int) for bit in bits):
        total = sum(bit << k for k, bit in enumerate(bits) if isinstance(bit, int))
        return total - (1 << len(bits)) if signed and bits[-1] == 1 else total
    first = bits[0]
    if not isinstance(first, tuple) or first[1] != 0:
        return None
    number = first[0]
    if number.width > len(bits) + (number.low >= 0 and not signed):
        return None
    if number.low < 0 and not signed:
        return None
    return number if bits == number.bits(max(len(bits), number.width))[: len(bits)] else None


def lowest_bits_of(bits: Bits) -> Number | None:
    """The number of which a word is the lowest bits."""
    first = bits[0]
    if not isinstance(first, tuple):
        return None
    number = first[0]
    return number if bits == tuple((number, k) for k in range(len(bits))) else None


def joined(bits: Bits, modulus: int, *, signed: bool) -> Number | None:
    """The number that a word of parts of numbers is; None if it has other bits."""
    end = len(bits)
    if signed:
        while end > 1 and bits[end - 1] == bits[end - 2]:  # signs
            end -= 1
    low = high = 0
    form: Form = {}
    for at, run in _runs(bits[:end]):
        first = run[0]
        if isinstance(first, int):
            weight = -1 if signed and at == end - 1 else 1
            found = Number(weight * first, weight * first, {(): weight * first})
        elif isinstance(first, tuple):
            number, start = first
            is_last = signed and at + len(run) == end
            found = _run_of(number, start, start + len(run), modulus, signed=is_last)
        else:
            return None
        low, high = low + (found.low << at), high + (found.high << at)
        form = added(form, found.form, 1 << at, modulus)
    return Number(low, high, form)


def _runs(bits: Bits) -> Iterator[tuple[int, Bits]]:
    """A word's bits that follow each other in a number, each time with their place."""
    at = 0
    while at < len(bits):
        first, end = bits[at], at + 1
        if isinstance(first, tuple):
            number, start = first
            while end < len(bits) and bits[end] == (number, start + end - at):
                end += 1
        yield at, bits[at:end]
        at = end


def _run_of(number: Number, start: int, end: int, modulus: int, *, signed: bool) -> Number:
    if not signed:
        return number.part(start, end, modulus)
    if end == number.width:
        return number.quotient(start)
    sign = number.part(end - 1, end, modulus)
    size = 1 << end - 1 - start
    if end - 1 == start:
        return Number(-1, 0, added({}, sign.form, -1, modulus))
    below = number.part(start, end - 1, modulus)
    return Number(-size, size - 1, added(below.form, sign.form, -size, modulus))


def form_of(value: Value, modulus: int) -> Form:
    """What a number is congruent to, or a constant."""
    return {(): value % modulus} if isinstance(value, int) else value.form


def added(a: Form, b: Form, factor: int, modulus: int) -> Form:
    """a + factor b."""
    found = dict(a)
    for monomial, coefficient in b.items():
        total = (found.get(monomial, 0) + factor * coefficient) % modulus
        if total:
            found[monomial] = total
        else:
            found.pop(monomial, None)
    return found


def multiplied(a: Form, b: Form, modulus: int) -> Form:
    """a b."""
    found: dict[tuple[int, ...], int] = {}
    for first, x in a.items():
        for second, y in b.items():
            monomial = tuple(sorted(first + second))
            found[monomial] = (found.get(monomial, 0) + x * y) % modulus
    return {monomial: x for monomial, x in found.items() if x}


Place = tuple[Number | None, int, int]
"""Of a word in memory: the number that its address has above the lowest bits, unless all are known,
how many are known, and these."""


def place_of(address: Bits) -> Place | None:
    """The place that an address names; None if it may be any."""
    known = 0
    while known < len(address) and isinstance(address[known], int):
        known += 1
    low = sum(bit << k for k, bit in enumerate(address[:known]) if isinstance(bit, int))
    if known == len(address):
        return None, known, low
    number = lowest_bits_of(address[known:])
    return None if number is None else (number, known, low)
