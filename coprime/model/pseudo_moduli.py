"""Pseudo-moduli: multiples c*m of a modulus m whose multiplier is smaller than that of m.

Source: COMPRESSION (Vassoler 2023), section 4.1: work modulo m1 = c*m2 and reduce modulo m2 once,
at the end. The thesis takes m1 = 3*m2 = 2^(n+2) - 1; here c is searched for, for any modulus.

The cost is an estimate in unit gates. Operands of w bits make w^2 AND terms. A bit of a weight
below 2^w has its column; a bit above returns as the residue of its weight, in as many columns as
the residue has non-zero signed digits. There are two schemes. *At once*, as in the thesis: each
carry out of the tree at 2^w also returns so, and a modulus is expensive if 2^w has many digits
modulo it. Full adders reduce each column to two bits; their number follows from a linear equation
(`full_adders`). *Last*: the tree first reduces 2w columns to two rows, and what is above 2^w
returns then, at two bits a column (`full_adders_last`). The cheaper scheme counts. A modular
addition, counted as two rows of full adders, ends the product, and another ends the reduction
modulo m. Not included: what half adders, 5:3 counters and prefix adders change, the correction
constant (at most one row), and a second or a third subtraction.

The delay is that of levels of full adders, each of which reduces three bits to two, and of a prefix
adder; the reduction modulo m has a cycle of its own, and adds none. Multiples are compared by the
product of area and delay, as trees are everywhere.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

EXHAUSTIVE_BITS = 16  # number of extra bits up to which every multiple is considered

_FULL_ADDER = 7  # unit gates of a full adder: an AND or OR is 1, an XOR 2

_FULL_ADDER_DELAY = 4

_EVALUATED = 64
"""Multiples of each kind whose cost is computed: sparse ones, and those with cheap carries."""

_SHOWN = 8  # maximum signed digits of a number that is written out

_FEW = 4  # maximum signed digits of the multiples that are searched for among all c


def signed_digits(number: int) -> tuple[tuple[int, int], ...]:
    """(sign, exponent) of the non-zero digits of the non-adjacent form, highest first.

    No form with digits -1, 0 and 1 has fewer that are not 0. `number` may be negative.
    """
    sign, rest = (1, number) if number >= 0 else (-1, -number)
    digits = []
    exponent = 0
    while rest:
        if rest & 1:
            digit = 2 - (rest & 3)
            digits.append((sign * digit, exponent))
            rest -= digit
        rest >>= 1
        exponent += 1
    return tuple(reversed(digits))


def _plainest(number: int, width: int) -> tuple[int, int]:
    """Columns of a number's signed digits, the fewest there are below 2^width.

    How many, and the sum of their weights. Range: 0 <= number < 2^width.
    """
    plain = number.bit_count(), number
    columns = (number ^ 3 * number) >> 1
    count = columns.bit_count()
    if columns >> width:
        # 2^width - 2^k comes first: in its place, 2^(width-1) + ... + 2^k.
        low = (columns ^ 1 << width).bit_length() - 1
        count += width - low - 2
        columns -= 2 << low
    return min(plain, (count, columns))


def _residue(residue: int, modulus: int, width: int) -> tuple[int, int]:
    """The fewer columns of a residue in [0, modulus), and of that less the modulus."""
    if not residue:
        return 0, 0
    return min(_plainest(residue, width), _plainest(modulus - residue, width))


def residue_columns(modulus: int, exponent: int) -> tuple[int, int]:
    """Columns below 2^w that a bit of weight 2^exponent comes back in, for a modulus of w bits.

    How many, and the sum of their weights. They are the non-zero signed digits of the residue in
    [0, modulus), or of that less the modulus, whichever has fewer.
    """
    return _residue(pow(2, exponent, modulus), modulus, modulus.bit_length())


def full_adders(modulus: int, counts: Iterable[int]) -> int:
    """Full adders that reduce each column below 2^w to two bits, for a modulus of w bits.

    Column j has h_j bits once all weights are below 2^w, and F_j full adders. Each
    removes two of its bits and adds one to column j + 1; those of the last column add one to each
    column of the d digits of 2^w. Two remain if
    2 F_j = h_j - 2 + F_(j-1) + [j is one of the d] F_(w-1). These equations are summed here, over
    the columns and with weights 2^j. Fractions of an adder are rounded up, and a sum below 0, where
    bits are missing in most columns, to 0.

    Parameters
    ----------
    modulus : 2 or more
    counts : how many bits there are to add of the weights 1, 2, 4 and so on
    """
    width = modulus.bit_length()
    bits = weighted = 0
    residue = 1
    for exponent, count in enumerate(counts):
        if exponent < width:
            digits, columns = 1, 1 << exponent
        else:
            if exponent == width:
                residue = pow(2, width, modulus)
            digits, columns = _residue(residue, modulus, width)
            residue = 2 * residue % modulus
        bits += count * digits
        weighted += count * columns
    digits, columns = _residue(pow(2, width, modulus), modulus, width)
    last = max(0, weighted - 2 * ((1 << width) - 1))
    # F_(w-1) = last / (2^w - columns), and all of them bits - 2w + (d - 1) F_(w-1).
    rounded_up = -(-(digits - 1) * last // ((1 << width) - columns))
    return max(0, bits - 2 * width + rounded_up)


def full_adders_last(modulus: int, counts: Iterable[int]) -> tuple[int, list[int]]:
    """As `full_adders`, where bits above 2^w come back when two rows are left.

    Each full adder takes one bit away: all bits but those of two rows, and as often as rows come
    back, two for each digit of each weight above 2^w. It ends where one weight at most is above.
    With it, how many bits a column has before each of these passes, on an average.
    """
    width = modulus.bit_length()
    counted = list(counts)
    adders = max(0, sum(counted) - 2 * len(counted))
    heights = [max(counted, default=0)]
    high = max(0, len(counted) + 1 - width)
    while high > 1:
        residue = pow(2, width, modulus)
        bits = weighted = 0
        for _ in range(high):
            digits, columns = _residue(residue, modulus, width)
            bits += 2 * digits
            weighted += 2 * columns
            residue = 2 * residue % modulus
        adders += bits
        heights.append(2 + -(-bits // width))
        above = (2 * ((1 << width) - 1) + weighted).bit_length() - width
        if above >= high:
            break
        high = above
    return adders, heights


def product_counts(modulus: int) -> list[int]:
    """AND terms of each weight in a product of two operands of the modulus's w bits: 2w - 1."""
    width = modulus.bit_length()
    return [min(exponent + 1, 2 * width - 1 - exponent) for exponent in range(2 * width - 1)]


class Estimate(NamedTuple):
    """Unit gates of a circuit, and of its longest path."""

    area: int
    delay: int


def product_estimate(modulus: int) -> Estimate:
    """Multiplier for a modulus: AND terms, full adders, a modular addition.

    It is that of the folding with the lesser product of area and delay.
    """
    width = modulus.bit_length()
    if modulus == 1 << width - 1:
        # A power of 2 has one bit more than its operands; what is above them is cut off.
        width -= 1
        area = width * (width + 1) // 2 + _FULL_ADDER * (width * (width - 1) // 2)
        return Estimate(area, 1 + _levels_delay(width) + _addition_delay(width))
    adders, delay = _compressed(modulus, product_counts(modulus))
    return Estimate(
        width**2 + _FULL_ADDER * (adders + 2 * width), 1 + delay + _addition_delay(width)
    )


def reduction_gates(modulus: int, width: int) -> int:
    """Unit gates of the reduction of a number of `width` bits; 0 if it is no longer.

    Full adders and a modular addition.
    """
    length = modulus.bit_length()
    if width <= length:
        return 0
    return _FULL_ADDER * (_compressed(modulus, [1] * width)[0] + 2 * length)


def _compressed(modulus: int, counts: list[int]) -> tuple[int, int]:
    """Full adders, and the delay of their levels, of the better way to fold."""
    width = modulus.bit_length()
    once = full_adders(modulus, counts)
    # A full adder takes one bit away: as many bits as there are in all, in the columns below 2^w.
    ways = [(once, _levels_delay(-(-once // width) + 2))]
    adders, heights = full_adders_last(modulus, counts)
    ways.append((adders, sum(map(_levels_delay, heights))))
    return min(ways, key=lambda way: (way[0] + 2 * width) * (way[1] + _addition_delay(width)))


def _levels_delay(height: int) -> int:
    """Unit gates through the full adders that reduce so many bits in a column to two."""
    levels = 0
    while height > 2:
        height -= height // 3
        levels += 1
    return _FULL_ADDER_DELAY * levels


def _addition_delay(width: int) -> int:
    """Unit gates through a modular addition: two prefix adders, a selection."""
    return 4 * (width - 1).bit_length() + 8


@dataclass(frozen=True)
class PseudoModulus:
    """A multiple of a modulus, with its cost.

    Parameters
    ----------
    modulus : m, 2 or more
    factor : c, 1 or more; 1 is the modulus
    """

    modulus: int
    factor: int

    @cached_property
    def value(self) -> int:
        """The multiple, c*m."""
        return self.factor * self.modulus

    @property
    def extra_bits(self) -> int:
        """By how many bits it is longer than the modulus."""
        return self.value.bit_length() - self.modulus.bit_length()

    @cached_property
    def digits(self) -> tuple[tuple[int, int], ...]:
        """(sign, exponent) of its signed digits, highest first."""
        return signed_digits(self.value)

    @property
    def text(self) -> str:
        """The sum of its signed digits; how many there are, if that would be long."""
        if len(self.digits) > _SHOWN:
            return f"of {self.value.bit_length()} bits and {len(self.digits)} signed digits"
        terms = (
            f"{'-' if sign < 0 else '+'} {f'2^{exponent}' if exponent else '1'}"
            for sign, exponent in self.digits
        )
        return " ".join(terms).removeprefix("+ ")

    @cached_property
    def estimate(self) -> Estimate:
        """The multiplier, with the area of the reduction to the modulus at the end."""
        area, delay = product_estimate(self.value)
        return Estimate(area + reduction_gates(self.modulus, self.value.bit_length()), delay)

    @property
    def cost(self) -> int:
        """Area times delay."""
        return self.estimate.area * self.estimate.delay


@dataclass(frozen=True)
class Search:
    """What a search found.

    Parameters
    ----------
    modulus : what it was for
    extra_bits : how much longer a multiple was allowed to be
    candidates : the best first; the modulus, c = 1, is always among them
    """

    modulus: int
    extra_bits: int
    candidates: tuple[PseudoModulus, ...]

    @property
    def best(self) -> PseudoModulus:
        """The cheapest; the modulus where no multiple is cheaper."""
        return self.candidates[0]

    @property
    def itself(self) -> PseudoModulus:
        """The modulus, c = 1."""
        return next(candidate for candidate in self.candidates if candidate.factor == 1)

    @property
    def searched(self) -> str:
        """What was looked at."""
        text = f"every multiple of up to {_bits(min(self.extra_bits, EXHAUSTIVE_BITS))} more"
        if self.extra_bits > EXHAUSTIVE_BITS:
            text += f", and of up to {_bits(self.extra_bits)} more those of {_FEW} signed digits"
        return text

    @property
    def explanation(self) -> str:
        """One sentence: what is chosen, and why."""
        best, itself = self.best, self.itself
        special = len(best.digits) <= _SHOWN
        words = [
            f"{best.text}: about {best.estimate.area:,} unit gates with a delay of"
            f" {best.estimate.delay}"
        ]
        if best.factor != 1:
            saved = 100 * (itself.cost - best.cost) / itself.cost
            words.append(
                f", the reduction at the end included, which times each other are {saved:.1f} %"
                f" less than for m itself, {itself.text}: {itself.estimate.area:,} and"
                f" {itself.estimate.delay}"
            )
        if not special:
            width = self.modulus.bit_length()
            ratio = best.estimate.area / product_estimate((1 << width) - 1).area
            words.append(f"; the area is {ratio:.1f} times that of 2^{width} - 1")
        if best.factor == 1:
            words.append("; no multiple was found that costs less")
        if special:
            start = "Work modulo " + (f"{best.factor} * m = " if best.factor != 1 else "m itself, ")
        else:
            start = "No multiple of special form was found, and the cheapest is " + (
                f"{best.factor} * m, " if best.factor != 1 else "m itself, "
            )
        return start + "".join(words) + f" (looked at: {self.searched})."


def _bits(count: int) -> str:
    return "1 bit" if count == 1 else f"{count} bits"


def search(modulus: int, extra_bits: int = 2, keep: int = 8) -> Search:
    """Search for multiples of a modulus that have a smaller multiplier than the modulus.

    Up to 16 extra bits every odd c is considered: an even c is only longer, with the digits of its
    half. The cost is computed for 64 multiples with the fewest signed digits, for 64 whose carries
    return in the fewest columns for their length, and for the modulus, or for all if there are not
    more; the cheapest is chosen. As many are taken of those of up to 2, 4 and 8 extra bits, so that
    a wider search finds nothing worse. Above 16 bits there are too many c; there arithmetic finds
    every multiple of at most 4 signed digits, 2^a +- 2^i +- 2^j +- 1 times the power of 2 in the
    modulus: given three digits, the last is looked up among the powers of 2.

    Parameters
    ----------
    modulus : 3 or more
    extra_bits : by how many bits a multiple may be longer: 0 to 16, or to as many as the modulus
        has if they are more, and to at most 256
    keep : how many candidates to return, 1 or more; the modulus is added where it is not among them
    """
    _check("modulus", modulus, 3)
    _check("extra_bits", extra_bits, 0, min(256, max(EXHAUSTIVE_BITS, modulus.bit_length())))
    _check("keep", keep, 1)
    most = min(extra_bits, EXHAUSTIVE_BITS)
    factors = _promising(modulus, most)
    factors = factors.union(*(_promising(modulus, bits) for bits in (2, 4, 8) if bits < most))
    if extra_bits > EXHAUSTIVE_BITS:
        factors |= _of_few_digits(modulus, extra_bits)
    candidates = sorted(
        (PseudoModulus(modulus, factor) for factor in factors | {1}),
        key=lambda candidate: (candidate.cost, candidate.factor),
    )
    kept = candidates[:keep]
    if all(candidate.factor != 1 for candidate in kept):
        kept += [candidate for candidate in candidates if candidate.factor == 1]
    return Search(modulus, extra_bits, tuple(kept))


def _check(name: str, value: int, lowest: int, highest: int | None = None) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int, not {value!r}")
    if value < lowest or (highest is not None and value > highest):
        allowed = f"{lowest} or more" if highest is None else f"in {lowest}..{highest}"
        raise ValueError(f"{name} must be {allowed}, not {value}")


def _promising(modulus: int, extra_bits: int) -> set[int]:
    """Odd c of multiples, at most so much longer, that are sparse or have cheap carries."""
    last = ((1 << modulus.bit_length() + extra_bits) - 1) // modulus
    factors = range(1, last + 1, 2)
    sparse = ((_weight(factor * modulus), factor) for factor in factors)
    cheap = ((_carries(factor * modulus), factor) for factor in factors)
    return {factor for kind in (sparse, cheap) for _, factor in heapq.nsmallest(_EVALUATED, kind)}


def _weight(number: int) -> int:
    """Signed digits of the non-adjacent form that are not 0."""
    return (number ^ 3 * number).bit_count()


def _carries(modulus: int) -> int:
    """Full adders as `full_adders`, in the rough, were there as many bits in every column."""
    width = modulus.bit_length()
    power = 1 << width
    digits, columns = _residue(power % modulus, modulus, width)
    return width * (width + (digits - 1) * power // (power - columns))


def _of_few_digits(modulus: int, extra_bits: int) -> set[int]:
    """Every odd c whose multiple, at most so much longer, has at most 4 signed digits."""
    twos = (modulus & -modulus).bit_length() - 1
    odd = modulus >> twos
    if odd == 1:
        return set()
    length = odd.bit_length()
    longest = length + extra_bits
    powers = [1]
    while len(powers) <= longest:
        powers.append(2 * powers[-1] % odd)
    exponents: dict[int, list[int]] = {}
    for exponent, power in enumerate(powers):
        exponents.setdefault(power, []).append(exponent)
    found: set[int] = set()

    def take(number: int) -> None:
        if number.bit_length() <= longest and number >= odd:
            found.add(number // odd)

    for top in range(length - 1, longest + 1):
        for one in (1, -1):
            two = 2**top + one
            rest = (powers[top] + one) % odd
            if not rest:
                take(two)
            for low in range(1, top):
                for sign in (1, -1):
                    three = two + sign * 2**low
                    last = (rest + sign * powers[low]) % odd
                    if not last:
                        take(three)
                    for residue, opposite in ((-last % odd, 1), (last, -1)):
                        for exponent in exponents.get(residue, ()):
                            if exponent < low:
                                take(three + opposite * 2**exponent)
    return found
